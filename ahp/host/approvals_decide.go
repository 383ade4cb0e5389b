package host

import (
	"errors"
	"fmt"
	"slices"

	"termhost/ahp"
	"termhost/ahp/visible"
	"termhost/authz"
)

// HeldInput is input that an agent wants to type into a guarded terminal, or a program that it
// wants to start. Its JSON is an element of `asks --json`. By is free of control characters.
type HeldInput struct {
	Terminal string `json:"terminal"` // its NAME
	URI      string `json:"uri"`
	ahp.TerminalAsk

	Behind int `json:"-"` // how many held inputs wait behind it
}

// DoesText returns its effect in a few words: "runs", "types, 2 hidden".
func (h *HeldInput) DoesText() string {
	text := h.Does
	switch {
	case h.Secret:
		text = "answers"
	case h.Does == ahp.AskElsewhere:
		text = "asks in its editor"
	}
	if h.Hidden > 0 {
		text += fmt.Sprintf(", %d hidden", h.Hidden)
	}
	return text
}

// Decision is a person's decision about a held input.
type Decision int

const (
	// ApproveOnce: the input is typed.
	ApproveOnce Decision = iota
	// ApproveAll: the input is typed, and so is all else that the agent types until the command
	// that runs, or that the input begins, has ended.
	ApproveAll
	// RefuseOnce: the input is not typed.
	RefuseOnce
	// EditIt: the person takes the keyboard, and the text, without the end of its line, is typed
	// for them, so that they can change it before they press Enter. The agent is refused.
	EditIt
)

// Asks returns the held inputs that c's principal may read, of the terminals only, or if none is
// given of all that the principal sees: the oldest terminal first, and in the order in which they
// have to be decided. From then on the principal decides by NAME only about what it was shown. Asks
// returns *authz.Denied if the principal may not list.
func (c *Conn) Asks(only ...*Terminal) ([]HeldInput, error) {
	terminals, err := c.terminalsOf(only)
	if err != nil {
		return nil, err
	}
	list := []HeldInput{}
	for _, t := range terminals {
		list = append(list, t.approvals.listFor(c)...)
	}
	return list, nil
}

// UnreadableAsks returns the NAMEs of those terminals that hold input which c's principal may not
// read, of the terminals only as for [Conn.Asks]. Listings show the principal that they wait for an
// approval.
func (c *Conn) UnreadableAsks(only ...*Terminal) (names []string) {
	terminals, _ := c.terminalsOf(only) // whoever may not list is told nothing
	for _, t := range terminals {
		if _, more := c.audience().asks(t); more {
			names = append(names, t.Name())
		}
	}
	return names
}

// terminalsOf returns the terminals that c's principal sees, of those only; none: of all.
func (c *Conn) terminalsOf(only []*Terminal) ([]*Terminal, error) {
	list, err := c.Terminals()
	return slices.DeleteFunc(list, func(t *Terminal) bool {
		return len(only) > 0 && !slices.Contains(only, t)
	}), err
}

// listFor returns the held inputs that c's principal may read, and records that they were shown.
func (ap *approvals) listFor(c *Conn) (list []HeldInput) {
	ap.t.term.Lock()
	defer ap.t.term.Unlock()
	ap.dropStaleAnswers()
	view := c.audience()
	var ids []string
	for i, k := range ap.held {
		if is := ap.shownLocked(i); view.mayRead(is.TerminalAsk) {
			k.recordListed(c)
			list = append(list, is)
			ids = append(ids, k.id)
		}
	}
	for _, k := range ap.permissions {
		if view.mayRead(k.told) {
			list = append(list, HeldInput{Terminal: ap.t.Name(), URI: ap.t.uri,
				TerminalAsk: k.told})
		}
	}
	if ap.mayDecide(c) == nil {
		if ap.shown == nil {
			ap.shown = map[string][]string{}
		}
		ap.shown[c.principal.ID] = ids
	}
	return list
}

// shownLocked returns held[i] as it is shown.
func (ap *approvals) shownLocked(i int) HeldInput {
	return HeldInput{Terminal: ap.t.Name(), URI: ap.t.uri, TerminalAsk: ap.terminalAsk(ap.held[i]),
		Behind: len(ap.held) - i - 1}
}

// Decide decides about an agent's pending input to t. ask names it; "" is the first pending input
// that the principal was shown last (see [Conn.Asks]) and has not decided since. If that is held no
// more, nothing else is decided instead. a is the viewer of t at which somebody has looked at it;
// nil: at none. reason, if not empty, is told to the agent with a refusal. Decide returns what was
// decided about; its errors are *authz.Denied, [*GoneError], why it cannot be typed, and why the
// connection has ended.
func (c *Conn) Decide(t *Terminal, a *Attach, ask string, d Decision, reason string) (
	HeldInput, error,
) {
	return c.decide(t, a, ask, d, reason, nil)
}

// DecideShown decides about an ask that somebody has read without a viewer of t: see
// [Conn.Asking]. If that is held no more, or is not the first, or does something else by now than
// was shown, nothing is decided. Its errors are those of Decide.
func (c *Conn) DecideShown(t *Terminal, shown HeldInput, d Decision) error {
	_, err := c.decide(t, nil, shown.Ask, d, "", &toldOf{shown.Does, shown.Warning})
	return err
}

// Asking returns the held input of t that c's person has to decide about next; ok is false if there
// is none, or if the person may not decide. Unlike Asks it does not count as shown where a person
// decides by NAME.
func (c *Conn) Asking(t *Terminal) (is HeldInput, ok bool) {
	t.term.Lock()
	defer t.term.Unlock()
	ap := &t.approvals
	ap.dropStaleAnswers()
	if len(ap.held) == 0 || ap.mayDecide(c) != nil {
		return is, false
	}
	return ap.shownLocked(0), true
}

// decide is Decide. was is what the person was told, if that is known here.
func (c *Conn) decide(
	t *Terminal, a *Attach, ask string, d Decision, reason string, was *toldOf,
) (HeldInput, error) {
	if d == EditIt && c.client == nil {
		c.host.sshClient(c.principal)
	}
	t.term.Lock()
	defer t.term.Unlock()
	if err := a.mayActLocked(); err != nil {
		return HeldInput{}, err
	}
	t.approvals.dropStaleAnswers()
	k, is, err := t.approvals.findHeld(c, ask)
	if err != nil {
		return is, err
	}
	if d <= ApproveAll && (t.approvals.changedUnseen(k) || changedSince(k, c, a, was)) {
		return is, errActsNow
	}
	defer t.approvals.forgetDecided(c, slices.Clone(t.approvals.held))
	who := c.Name()
	note := Note{Kind: NoteApproved, Who: who, Agent: is.By}
	event := Event{Kind: EventApproved, Ask: k.id, asker: is.Asker, By: who, To: is.By}
	switch {
	case d == EditIt && k.starts != nil:
		return is, errEditStart
	case d == EditIt:
		return is, t.approvals.edit(c, a, k)
	case d == RefuseOnce:
		why := "refused by " + who
		if reason = Printable(clip(reason)); reason != "" {
			why += ": " + reason
		}
		k.decided, note.Kind = why, NoteRefused
		event.Kind, event.Reason = EventRefused, reason
		t.approvals.resolve(k, errors.New(why))
	case d == ApproveAll && !t.approvals.mayTrust(k):
		return is, errUntold
	default:
		k.approved = "approved by " + who
		k.decided = k.approved
		if err = t.approvals.approve(k, d == ApproveAll); err != nil {
			why := Printable(err.Error())
			note.Kind, note.Why = NoteGone, why
			event.Kind, event.Reason = EventRefused, why
		}
	}
	t.approvals.tellDeciders(c, note)
	event.from = c
	t.emit(event)
	t.host.log.Info("held input decided", "name", t.Name(), "ask", k.id, "agent", k.by,
		"refused", event.Kind == EventRefused, "principal", c.principal.Name)
	return is, err
}

// changedSince reports whether k does something else than the person was told last: at a viewer it
// is what that shows.
func changedSince(k *heldInput, c *Conn, a *Attach, was *toldOf) bool {
	if was != nil {
		return !k.stillTrue(*was)
	}
	return a == nil && k.changedSinceListed(c)
}

var errEditStart = errors.New("a program that is to be started cannot be edited; refuse it")

// edit refuses k, takes the keyboard for c's principal, at viewer a unless it is nil, and types the
// text there. The Term's lock is held.
func (ap *approvals) edit(c *Conn, a *Attach, k *heldInput) error {
	t := ap.t
	s := step{conn: c, principal: c.principal}
	if err := t.check(s, authz.Claim); err != nil {
		return err
	}
	if err := ap.checkSecret(k.s, k.text); err != nil { // it is still the agent's text
		return err
	}
	who := c.Name()
	k.decided = "taken by " + who + ", who edits it"
	ap.resolve(k, errors.New(k.decided))
	ap.tellDeciders(c, Note{Kind: NoteEdited, Who: who, Agent: k.by})
	t.emit(Event{Kind: EventRefused, Ask: k.id, asker: k.s.principal.ID, By: who, To: k.by,
		Reason: "edits it", from: c})
	to := sshHolder(c.principal)
	if c.client != nil {
		to.claim = ahp.ClientClaim(c.client.id)
	}
	switch {
	case t.keyboard.holder.claim == to.claim:
	case a != nil:
		a.seizeLocked()
	default:
		t.keyboard.lend(to, s, true)
		t.keyboard.tell(nil, Note{Kind: NoteHas})
	}
	if k.question != nil {
		return nil // nobody is shown it
	}
	return t.typeKeys(s, visible.Editable(string(k.text)))
}

// GoneError says that what somebody decides about is not held any more, or never was.
type GoneError struct {
	Terminal string // its NAME
	Ask      string // the ID; "": none was given, and nothing is held
	How      string // what has become of Ask, as in [Outcome]; "": that is not known
	Last     string // how the last decision went; "": there was none
	Newer    bool   // another input is held
}

func (e *GoneError) Error() string {
	text := "nothing is waiting for an answer in " + e.Terminal
	if e.Ask != "" {
		text = e.Ask + " is not waiting for an answer in " + e.Terminal
	}
	if e.How != "" {
		text += ": it was " + e.How
	} else if e.Last != "" {
		text += "; the last was " + e.Last
	}
	if e.Newer {
		text += "; something else is waiting now"
	}
	return text
}

// UnseenError says that a person decides by NAME without having been shown the pending input.
type UnseenError struct{ Terminal string }

func (e *UnseenError) Error() string {
	return "you have not been shown what agents want to type in " + e.Terminal + ": run asks first"
}

// findHeld returns the held input that c may decide about under an ID; see Decide for "". The
// Term's lock is held.
func (ap *approvals) findHeld(c *Conn, ask string) (k *heldInput, is HeldInput, err error) {
	if err := ap.mayDecide(c); err != nil {
		return nil, is, err
	}
	if shown := ap.shown[c.principal.ID]; ask == "" && len(shown) > 0 {
		ask = shown[0]
	}
	if err := ap.elsewhere(ask); err != nil {
		return nil, is, err
	}
	i := slices.IndexFunc(ap.held, func(k *heldInput) bool { return k.id == ask })
	switch {
	case ask == "" && len(ap.held) > 0:
		return nil, is, &UnseenError{ap.t.Name()}
	case i < 0:
		o, _ := ap.outcomeOf(ask)
		return nil, is, &GoneError{ap.t.Name(), ask, o.How, ap.lastOutcome(), len(ap.held) > 0}
	case i > 0:
		return nil, is, fmt.Errorf("%s came before %s, and has to be decided first",
			ap.held[0].id, ask)
	}
	return ap.held[0], ap.shownLocked(0), nil
}

// forgetDecided removes the decided inputs from those that c was shown, so that by NAME it decides
// about the next one. before are the pending inputs before the decision. The Term's lock is held.
func (ap *approvals) forgetDecided(c *Conn, before []*heldInput) {
	if shown := ap.shown[c.principal.ID]; len(shown) > 0 {
		ap.shown[c.principal.ID] = slices.DeleteFunc(shown, func(ask string) bool {
			is := func(k *heldInput) bool { return k.id == ask }
			return slices.ContainsFunc(before, is) && !slices.ContainsFunc(ap.held, is)
		})
	}
}

// Asking returns the held input that the viewer's person has to decide about next; ok is false if
// there is none, or if the person may not decide.
func (a *Attach) Asking() (is HeldInput, ok bool) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	ap := &a.t.approvals
	if len(ap.held) == 0 || a.mayActLocked() != nil || ap.mayDecide(a.conn) != nil {
		return is, false
	}
	return a.t.approvals.shownLocked(0), true
}

// AskingChanged returns a channel that gets a value when Asking may return something else. It is
// for viewers that have a window.
func (a *Attach) AskingChanged() <-chan struct{} { return a.asking }
