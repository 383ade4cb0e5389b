package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"termhost/ahp"
	"termhost/ahp/visible"
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
	on    bool
	held  []*heldInput // in the order in which it was asked for
	trust trust        // a person's yes to all that an agent types
	ahead bool         // an agent has typed something since input was dropped for the guard
	tells bool         // the shell tells when a command ends
	looks bool         // what is held is looked at now and then
	// answers is what bound input that is held may answer; nil: what the trusted command asks.
	answers *question
	named   bool // the NAME stays guarded when the terminal is gone
	// shown has, for each person, by the principal's ID, what [Conn.Asks] listed last, without what
	// that one has decided since. Nobody approves by NAME what came afterwards.
	shown map[string][]string
	last  string // how the last decision went, for those who come too late
	// permissions are asked for elsewhere; only listings of asks have them.
	permissions []*permission
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

// heldInput is what an agent wants to type. What is typed never changes, but what comes of it may.
type heldInput struct {
	id   string // "@7": no other input has it, before or after it, in any terminal
	s    step
	by   string // the agent's name, for people
	does string // see [ahp.TerminalAsk]; guarded by the Term's lock
	// meant is for which program, and warning what people are told beside the text, see
	// [ahp.TerminalAsk]. The warning is guarded by the Term's lock.
	meant   recipient
	warning string
	// listed has what each principal to whom it was listed was told, the last time. It is guarded
	// by the Term's lock.
	listed map[string]toldOf
	text   []byte // what is shown, and what is typed
	// lines is text as it is shown, in which hidden signs are no ends of lines.
	lines  [][]ahp.AskPart
	hidden int
	// question is what the text is to answer: a program's that asks for a secret. Then it is shown
	// to nobody. nil: it is not for a secret.
	question *question
	lends    bool // an admin that does not hold the claim takes it for the moment: see Conn.Send
	since    time.Time
	// answer tells the agent what became of it, once; nil: it was typed. The Term's lock is held.
	answer  func(error)
	starts  *Starting // the program that is to be started; nil: it is input
	expiry  *time.Timer
	unwatch func() bool // the end of the agent's connection
}

// guards reports whether p has to be held back if s, who is about to type it, types it. The Term's
// lock is held.
func (t *Terminal) guards(s step, p []byte) bool {
	if !s.conn.agent() {
		return false
	}
	if t.guard.on && !t.trusts(s) && !t.interrupts(p) {
		return true
	}
	t.guard.ahead = true
	return false
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
		return nil, t.denied(errHeldText)
	case count >= maxHeldAsks, len(t.guard.held) >= maxTerminalAsks:
		return nil, t.denied(errHeldAsks)
	}
	k := &heldInput{s: s, does: does(string(p), t.keysActNow()), text: slices.Clone(p),
		question: t.asksNow(), lends: lends, answer: answer, meant: t.meantFor()}
	if k.question == nil {
		k.lines, k.hidden = visible.Lines(string(p))
	}
	t.askPeople(k)
	return k, nil
}

// askPeople asks for a person's decision about k. The Term's lock is held.
func (t *Terminal) askPeople(k *heldInput) {
	s := k.s
	k.id, k.by, k.since = t.host.nextAsk(), s.name(), t.host.now()
	k.expiry = time.AfterFunc(t.host.approvalTime, func() { t.giveUp(k, errUnanswered) })
	k.unwatch = context.AfterFunc(s.conn.ctx, func() { t.giveUp(k, context.Cause(s.conn.ctx)) })
	k.warning = t.warningOf(k)
	t.guard.held = append(t.guard.held, k)
	t.asksChanged()
	t.lookAtHeldLater()
	t.emit(Event{Kind: EventAsks, Ask: k.id, By: k.by, from: s.conn})
	t.host.log.Info("input held for approval", "name", t.Name(), "ask", k.id,
		"principal", k.by)
}

var (
	errHeldText = &authz.Denied{Verb: authz.Input, Rule: fmt.Sprintf("the terminal is guarded,"+
		" and at most %d bytes of yours wait for a person's approval; send less", maxHeldText)}
	errHeldAsks = &authz.Denied{Verb: authz.Input,
		Rule: "the terminal is guarded, and too much waits for approval already"}
	errUnanswered = fmt.Errorf("nobody answered in %.0fm", approvalTime.Minutes())
	errUnguarded  = errors.New("the guard was turned off meanwhile; send it again")

	// reasonGuarded is why what the program has not read yet is dropped.
	reasonGuarded = "the terminal is guarded now; send it again"
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
			t.emit(Event{Kind: EventRefused, Ask: k.id, asker: k.s.principal.ID, To: k.by,
				Reason: why.Error(), from: by})
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
	t.endTrust(errTrustHolder)
	why := fmt.Errorf("%s has the keyboard now", next.text())
	t.dropHeld(nil, why, func(k *heldInput) bool {
		its := k.s.conn.client != nil && next.claim == ahp.ClientClaim(k.s.conn.client.id)
		return k.s.principal.ID == was.principal && !its && k.starts == nil
	})
}

// asksChanged tells all who want to know that something else is held than before, or that the guard
// was turned on or off. The Term's lock is held.
func (t *Terminal) asksChanged() {
	t.setWaits(func(w *waits) { w.approval = len(t.guard.held)+len(t.guard.permissions) > 0 }, "")
	var asks []ahp.TerminalAsk
	for _, k := range t.guard.held {
		asks = append(asks, t.askOf(k))
	}
	t.ch.SetAsks(asks)
	t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Guarded = t.guard.on })
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
	t.guard.on, t.guard.named = on, on
	t.warn(t.journal.Describe(t.describe(), t.host.now()))
	t.dropHeldText(reasonGuarded)
	t.endTrust(errTrustGuard)
	if on {
		t.dropAhead(errTrustGuard)
	}
	t.dropHeld(c, errUnguarded, anyHeld)
	t.asksChanged()
	state := "off"
	if on {
		state = "on"
	}
	c.Audit(authz.AuditGuard, "terminal", t.Name(), "who", c.Name(), "guard", state)
	t.host.log.Info("guard set", "name", t.Name(), "on", on, "principal", c.principal.Name)
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
	if c.agent() { // a peer of AHP
		return t.denied(&authz.Denied{Verb: authz.Approve, Rule: authz.RuleAgent})
	}
	return nil
}
