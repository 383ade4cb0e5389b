package host

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"termhost/ahp"
	"termhost/authz"
	"termhost/ptypool/keyboard"
)

// A guarded terminal holds back what agents type (see [Conn.agent]) until a person has decided
// about it: see [Conn.Decide]. What is held is bound to the bytes that the person is shown, which
// never change: an agent that wants something else asks again, behind what it has asked before.
//
// An interrupt key is let through, so that an agent can always stop what it has started. That is
// input of nothing else: text behind one could be anything.

const (
	// approvalTime is how long an agent waits for a person's decision: long enough to come back
	// with a coffee, too short to be forgotten and then approved on another day.
	approvalTime = 10 * time.Minute
	// maxHeldText bounds what is held of one agent in one terminal, in bytes: nobody reads more.
	maxHeldText = 16 << 10
	// maxHeldAsks bounds in how many pieces that is.
	maxHeldAsks = 16
	// maxTerminalAsks bounds the pieces that are held in one terminal, of all agents.
	maxTerminalAsks = 64
)

// guard holds back what agents type into a terminal. It is guarded by the Term's lock.
type guard struct {
	on      bool
	held    []*heldInput // in the order in which it was asked for
	trusted asker        // who needs no approval for the moment; zero: nobody
	tells   bool         // the shell tells when a command ends
	// shown has, for each person, by the principal's ID, what [Host.Asks] listed last. Nobody
	// approves by NAME what came afterwards.
	shown map[string][]string
	last  string // how the last decision went, for those who come too late
}

// asker is one agent: a client of AHP, or a principal that types in another way.
type asker struct{ principal, client string }

// asker returns the agent that asks.
func (s step) asker() asker {
	k := asker{principal: s.principal.ID}
	if s.conn.client != nil {
		k.client = s.conn.client.id
	}
	return k
}

// heldInput is what an agent wants to type. It never changes.
type heldInput struct {
	id   string
	s    step
	by   string // the agent's name, for people
	text []byte // what is shown, and what is typed
	// secret: the program read a secret when it was asked for. Then text is shown to nobody.
	secret bool
	lends  bool // an admin that does not hold the claim takes it for the moment: see Conn.Send
	since  time.Time
	// answer tells the agent what became of it, once; nil: it was typed. The Term's lock is held.
	answer  func(error)
	expiry  *time.Timer
	unwatch func() bool // the end of the agent's connection
}

// guards reports whether p has to be held back if s types it. The Term's lock is held.
func (t *Terminal) guards(s step, p []byte) bool {
	return t.guard.on && s.conn.agent() && t.guard.trusted != s.asker() && !t.interrupts(p)
}

// interrupts reports whether p is the interrupt key and nothing else, in whichever form the program
// has asked for.
func (t *Terminal) interrupts(p []byte) bool {
	encoded := keyboard.Key{Code: 'c', Mods: keyboard.Ctrl}.Append(nil, t.term.Screen().KeyModes())
	return len(p) > 0 && (len(bytes.Trim(p, "\x03")) == 0 || bytes.Equal(p, encoded))
}

// holdBack holds what s types, which is not kept, until somebody has decided. It returns why it is
// not even held; then answer is not called. The Term's lock is held.
func (t *Terminal) holdBack(s step, p []byte, lends bool, answer func(error)) (*heldInput, error) {
	if err := t.refusesSecret(s, p); err != nil {
		return nil, err
	}
	count, size := 0, len(p)
	for _, k := range t.guard.held {
		if k.s.principal.ID == s.principal.ID {
			count++
			size += len(k.text)
		}
	}
	switch {
	case size > maxHeldText:
		return nil, errHeldText
	case count >= maxHeldAsks, len(t.guard.held) >= maxTerminalAsks:
		return nil, errHeldAsks
	}
	k := &heldInput{id: strings.ToLower(rand.Text()[:8]), s: s, by: Printable(s.principal.Name),
		text:   slices.Clone(p),
		secret: t.asksSecret(), lends: lends, since: t.host.now(), answer: answer}
	if s.principal.Inside {
		k.by += " (inside a terminal)"
	}
	k.expiry = time.AfterFunc(t.host.approvalTime, func() { t.giveUp(k, errUnanswered) })
	k.unwatch = context.AfterFunc(s.conn.ctx, func() { t.giveUp(k, context.Cause(s.conn.ctx)) })
	t.guard.held = append(t.guard.held, k)
	t.asksChanged()
	t.emit(Event{Kind: EventAsks, By: k.by})
	t.host.log.Info("input held for approval", "name", t.name, "principal", s.principal.Name)
	return k, nil
}

var (
	errHeldText = &authz.Denied{Verb: authz.Input, Rule: fmt.Sprintf("the terminal is guarded,"+
		" and at most %d bytes of yours wait for a person's approval; send less", maxHeldText)}
	errHeldAsks = &authz.Denied{Verb: authz.Input,
		Rule: "the terminal is guarded, and too much waits for approval already"}
	errUnanswered = fmt.Errorf("nobody answered in %.0fm", approvalTime.Minutes())
	errUnguarded  = errors.New("the guard was turned off meanwhile; send it again")
)

// giveUp ends the wait for a decision, if there was none yet.
func (t *Terminal) giveUp(k *heldInput, why error) {
	t.term.Lock()
	defer t.term.Unlock()
	t.dropHeld(nil, why, func(o *heldInput) bool { return o == k })
}

// settle takes k out of what is held and tells the agent what became of it; nil: it was typed. The
// Term's lock is held.
func (t *Terminal) settle(k *heldInput, why error) {
	t.guard.held = slices.DeleteFunc(t.guard.held, func(o *heldInput) bool { return o == k })
	k.expiry.Stop()
	k.unwatch()
	k.answer(why)
	t.asksChanged()
}

// dropHeld rejects all that is held and that which selects, and tells the viewers of those who
// decide, except by's: that one has done it. The Term's lock is held.
func (t *Terminal) dropHeld(by *Conn, why error, which func(*heldInput) bool) {
	for _, k := range slices.Clone(t.guard.held) {
		if which(k) {
			t.settle(k, why)
			t.tellDeciders(by, Note{Kind: NoteGone, Agent: k.by, Why: Printable(why.Error())})
			t.emit(Event{Kind: EventRefused, To: k.by, Reason: why.Error()})
		}
	}
}

// anyHeld is for dropHeld.
func anyHeld(*heldInput) bool { return true }

// dropHeldOf rejects what is held of the agents of a former holder when another one becomes the
// holder: they have lost the keyboard. The Term's lock is held.
func (t *Terminal) dropHeldOf(was, next holder) {
	if was.claim == next.claim {
		return
	}
	t.guard.trusted = asker{}
	why := fmt.Errorf("%s has the keyboard now", Printable(next.name))
	t.dropHeld(nil, why, func(k *heldInput) bool {
		its := k.s.conn.client != nil && next.claim == ahp.ClientClaim(k.s.conn.client.id)
		return k.s.principal.ID == was.principal && !its
	})
}

// endTrust ends a person's yes to all that an agent types until the command ends. The Term's lock
// is held.
func (t *Terminal) endTrust() { t.guard.trusted = asker{} }

// shown returns what people are shown of what the agent wants to type.
func (k *heldInput) shown() string {
	if k.secret {
		return ""
	}
	return string(k.text)
}

// asksChanged tells all who want to know that something else is held than before, or that the guard
// was turned on or off. The Term's lock is held.
func (t *Terminal) asksChanged() {
	t.setWaits(func(w *waits) { w.approval = len(t.guard.held) > 0 }, "")
	var asks *[]ahp.TerminalAsk
	if len(t.guard.held) > 0 {
		asks = new([]ahp.TerminalAsk)
	}
	for _, k := range t.guard.held {
		*asks = append(*asks, ahp.TerminalAsk{Ask: k.id, By: k.by, Text: k.shown(),
			Since: k.since.UTC(), Secret: k.secret})
	}
	t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Guarded, m.Asks = t.guard.on, asks })
	t.host.list.changed()
	t.wakeDeciders()
}

// wakeDeciders has the viewers look at what is to be decided, and whether it is for them. The
// Term's lock is held.
func (t *Terminal) wakeDeciders() {
	for _, a := range t.windows {
		a.wakeLocked()
	}
}

// SetGuard turns a terminal's guard on or off, for a person who may decide. What is held when it is
// turned off is rejected: nobody has seen it and agreed. SetGuard returns *authz.Denied, ErrExited
// or why the connection has ended.
func (c *Conn) SetGuard(t *Terminal, on bool) error {
	t.term.Lock()
	defer t.term.Unlock()
	if err := t.mayDecide(c); err != nil {
		return err
	}
	if t.exited {
		return ErrExited
	}
	if t.guard.on == on {
		return nil
	}
	t.guard.on = on
	t.warn(t.journal.replace(t.describe(nil), false, t.host.now()))
	t.endTrust()
	t.dropHeld(c, errUnguarded, anyHeld)
	t.asksChanged()
	t.host.log.Info("guard set", "name", t.name, "on", on, "principal", c.principal.Name)
	return nil
}

// Guarded reports whether what agents type waits for a person's approval.
func (t *Terminal) Guarded() bool {
	t.term.Lock()
	defer t.term.Unlock()
	return t.guard.on
}

// mayDecide returns why c may not decide about what agents type. The Term's lock is held.
func (t *Terminal) mayDecide(c *Conn) error {
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	target := t.target(step{conn: c, principal: c.principal})
	if err := authz.Check(c.principal, authz.Approve, target); err != nil {
		return err
	}
	if c.agent() {
		return &authz.Denied{Verb: authz.Approve, Rule: authz.RuleAgent}
	}
	return nil
}
