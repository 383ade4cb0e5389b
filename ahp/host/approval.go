package host

import (
	"errors"
	"slices"
	"time"

	"termhost/ahp"
	"termhost/authz"
)

// HeldInput is what an agent wants to type into a guarded terminal; its JSON is an element of
// `asks --json`. By is free of control characters; Text is exactly what will be typed.
type HeldInput struct {
	Terminal string    `json:"terminal"` // its NAME
	URI      string    `json:"uri"`
	Ask      string    `json:"ask"` // what [Conn.Decide] calls it
	By       string    `json:"by"`
	Text     string    `json:"text"`
	Since    time.Time `json:"since"` // in UTC
	// Secret: the program reads a secret, so Text is not told.
	Secret bool `json:"secret,omitempty"`

	Behind int  `json:"-"` // how many wait behind it
	Trusts bool `json:"-"` // [ApproveAll] is possible
}

// Decision is what a person says to what an agent wants to type.
type Decision int

const (
	// ApproveOnce: it is typed.
	ApproveOnce Decision = iota
	// ApproveAll: it is typed, and so is what the agent types until the command that runs, or that
	// it begins, has ended.
	ApproveAll
	// RefuseOnce: it is not typed.
	RefuseOnce
)

// Asks returns what is held in the terminals that c's principal sees, the oldest terminal first and
// in the order in which it will be decided. From then on the principal decides by NAME only about
// what it was shown. Asks returns *authz.Denied if it may not list.
func (c *Conn) Asks() ([]HeldInput, error) {
	if err := authz.Check(c.principal, authz.List, authz.Target{}); err != nil {
		return nil, err
	}
	c.host.mu.Lock()
	order := c.host.visibleLocked(c.principal)
	c.host.mu.Unlock()
	list := []HeldInput{}
	for _, t := range order {
		list = append(list, t.asksFor(c)...)
	}
	return list, nil
}

// asksFor returns what is held in a terminal, and notes that c's principal was shown it.
func (t *Terminal) asksFor(c *Conn) (list []HeldInput) {
	t.term.Lock()
	defer t.term.Unlock()
	ids := make([]string, len(t.guard.held))
	for i, k := range t.guard.held {
		list = append(list, t.shownLocked(i))
		ids[i] = k.id
	}
	if t.mayDecide(c) == nil {
		if t.guard.shown == nil {
			t.guard.shown = map[string][]string{}
		}
		t.guard.shown[c.principal.ID] = ids
	}
	return list
}

// shownLocked returns the held input of an index.
func (t *Terminal) shownLocked(i int) HeldInput {
	k := t.guard.held[i]
	return HeldInput{Terminal: t.name, URI: t.uri, Ask: k.id, By: k.by, Text: k.shown(),
		Since: k.since.UTC(), Secret: k.secret,
		Behind: len(t.guard.held) - i - 1, Trusts: t.guard.tells}
}

// Decide decides about what an agent wants to type into t. ask names it; "" is what comes first,
// unless the principal was shown other things when it looked last: see [Conn.Asks]. reason, if not
// empty, is told to the agent with a refusal. Decide returns what was decided about; its errors are
// *authz.Denied, [*GoneError], why it cannot be typed, and why the connection has ended.
func (c *Conn) Decide(t *Terminal, ask string, d Decision, reason string) (HeldInput, error) {
	t.term.Lock()
	defer t.term.Unlock()
	k, is, err := t.decided(c, ask)
	if err != nil {
		return is, err
	}
	who := Printable(c.principal.Name)
	note := Note{Kind: NoteApproved, Who: who, Agent: is.By}
	event := Event{Kind: EventApproved, By: who, To: is.By}
	switch {
	case d == RefuseOnce:
		why := "refused by " + who
		if reason = Printable(clip(reason)); reason != "" {
			why += ": " + reason
		}
		t.guard.last, note.Kind = why, NoteRefused
		event.Kind, event.Reason = EventRefused, reason
		t.settle(k, errors.New(why))
	case d == ApproveAll && !t.guard.tells:
		return is, errUntold
	default:
		t.guard.last = "approved by " + who
		err = t.typeHeld(k)
	}
	if err == nil && d == ApproveAll {
		t.guard.trusted = k.s.asker()
		t.typeTrusted()
	}
	t.tellDeciders(c, note)
	t.emit(event)
	t.host.log.Info("held input decided", "name", t.name, "agent", k.s.principal.Name,
		"refused", d == RefuseOnce, "principal", c.principal.Name)
	return is, err
}

// Approve is termhost/approve: [Conn.Decide] about what the terminal's entry in the root's list
// names.
func (c *Conn) Approve(ref, ask string, d Decision, reason string) *ahp.Error {
	if e := c.Ended(); e != nil {
		return e
	}
	uri, _ := ahp.NormalizeChannel(ref)
	t := c.host.lookupFor(c.principal, uri)
	if t == nil {
		return unknownChannel(ref)
	}
	_, err := c.Decide(t, ask, d, reason)
	return c.refusal(err)
}

// refusal is ProtocolError where every error is a reason that the peer may be told.
func (c *Conn) refusal(err error) *ahp.Error {
	var denied *authz.Denied
	if err != nil && !errors.As(err, &denied) {
		return ahp.NewError(ahp.CodeNotPermitted, err.Error(), "rule", err.Error())
	}
	return c.ProtocolError(err)
}

var errUntold = errors.New("this terminal's shell does not tell when a command ends")

// GoneError says that what somebody decides about is not held any more, or never was.
type GoneError struct {
	Terminal string // its NAME
	Last     string // how the last decision went; "": there was none
	Newer    bool   // something else is held, which the one who asks was not shown
}

func (e *GoneError) Error() string {
	text := "nothing is held in " + e.Terminal
	if e.Newer {
		text = "what you were shown is held in " + e.Terminal + " no more, and something else is"
	}
	if e.Last != "" {
		text += "; the last was " + e.Last
	}
	return text
}

// decided returns the held input that c decides about. The Term's lock is held.
func (t *Terminal) decided(c *Conn, ask string) (k *heldInput, is HeldInput, err error) {
	if err := t.mayDecide(c); err != nil {
		return nil, is, err
	}
	i := 0
	if ask != "" {
		i = slices.IndexFunc(t.guard.held, func(k *heldInput) bool { return k.id == ask })
	}
	gone := &GoneError{t.name, t.guard.last, len(t.guard.held) > 0}
	switch {
	case len(t.guard.held) == 0, i < 0:
		return nil, is, gone
	case i > 0:
		return nil, is, errOrder
	}
	k = t.guard.held[0]
	if shown, looked := t.guard.shown[c.principal.ID]; ask == "" && looked &&
		!slices.Contains(shown, k.id) {
		return nil, is, gone
	}
	return k, t.shownLocked(0), nil
}

var errOrder = errors.New("something else is held before it, which has to be decided first")

// typeHeld types what was approved, if it may still be typed. The Term's lock is held.
func (t *Terminal) typeHeld(k *heldInput) error {
	err := t.typeFor(k.s, k.text, k.lends)
	t.settle(k, err)
	return err
}

// typeTrusted types what is held of an agent that needs no approval any more. The Term's lock is
// held.
func (t *Terminal) typeTrusted() {
	for _, k := range slices.Clone(t.guard.held) {
		if k.s.asker() == t.guard.trusted {
			_ = t.typeHeld(k) // its agent is told
		}
	}
}

// Asking returns what the viewer's person is to decide about; ok is false if there is nothing, or
// if somebody else has to.
func (a *Attach) Asking() (is HeldInput, ok bool) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	if len(a.t.guard.held) == 0 || a.mayActLocked() != nil || a.t.mayDecide(a.conn) != nil {
		return is, false
	}
	return a.t.shownLocked(0), true
}

// AskingChanged gets a value when Asking may return something else. It is for viewers that have a
// window.
func (a *Attach) AskingChanged() <-chan struct{} { return a.asking }

// wakeLocked has the viewer call Asking.
func (a *Attach) wakeLocked() {
	select {
	case a.asking <- struct{}{}:
	default:
	}
}

// Decide is [Conn.Decide] for the viewer's person.
func (a *Attach) Decide(ask string, d Decision) error {
	_, err := a.conn.Decide(a.t, ask, d, "")
	return err
}

// Edit refuses what an agent wants to type and takes the keyboard, so that the viewer's person may
// type the text instead. typed returns it as the person types it; it must be of at most half the
// size of the terminal's input queue. The errors are those of [Conn.Decide].
func (a *Attach) Edit(ask string, typed func(text string) []byte) error {
	t := a.t
	a.conn.host.sshClient(a.conn.principal)
	t.term.Lock()
	defer t.term.Unlock()
	if err := a.mayActLocked(); err != nil {
		return err
	}
	k, is, err := t.decided(a.conn, ask)
	if err == nil {
		err = t.check(a.step(), authz.Claim)
	}
	if err != nil {
		return err
	}
	who := Printable(a.conn.principal.Name)
	t.guard.last = "taken by " + who + ", who edits it"
	t.settle(k, errors.New(t.guard.last))
	t.tellDeciders(a.conn, Note{Kind: NoteEdited, Who: who, Agent: is.By})
	t.emit(Event{Kind: EventRefused, By: who, To: is.By, Reason: "edits it"})
	if t.holder.claim != sshHolder(a.conn.principal).claim {
		a.seizeLocked()
	}
	return t.typeIn(a.step(), typed(is.Text))
}

// tellDeciders tells the viewers of those who decide what became of an ask, except who decided. The
// Term's lock is held.
func (t *Terminal) tellDeciders(but *Conn, n Note) {
	for _, a := range t.windows {
		if a.conn != but && t.mayDecide(a.conn) == nil {
			a.noteLocked(n)
		}
	}
}
