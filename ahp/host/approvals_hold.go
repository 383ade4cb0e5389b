package host

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"termhost/ahp"
	"termhost/ahp/visible"
	"termhost/authz"
	"termhost/ptypool/keyboard"
)

// guards reports whether p has to be held back if s, who is about to type it, types it. The Term's
// lock is held.
func (ap *approvals) guards(s step, p []byte) bool {
	if !s.conn.agent() {
		return false
	}
	if ap.on && !ap.trusts(s) && !ap.interrupts(p) {
		return true
	}
	ap.typedSince = true
	return false
}

// interrupts reports whether p is the interrupt key and nothing else, in whichever form the program
// has asked for.
func (ap *approvals) interrupts(p []byte) bool {
	interrupt := keyboard.Key{Code: 'c', Mods: keyboard.Ctrl}
	encoded := interrupt.Append(nil, ap.t.term.Screen().KeyModes())
	return len(p) > 0 && (len(bytes.Trim(p, "\x03")) == 0 || bytes.Equal(p, encoded))
}

// holdBack holds what s types, which is not kept, until somebody has decided. It returns why it is
// not even held; then answer is not called. The Term's lock is held.
func (ap *approvals) holdBack(
	s step, p []byte, lends bool, answer func(error),
) (*heldInput, error) {
	if err := ap.refusesSecret(s, p); err != nil {
		return nil, err
	}
	count, size := 0, len(p)
	for _, k := range ap.held {
		if k.s.principal.ID == s.principal.ID {
			count++
			size += len(k.text)
		}
	}
	switch {
	case size > maxHeldText:
		return nil, ap.t.denied(errHeldText)
	case count >= maxHeldAsks, len(ap.held) >= maxTerminalAsks:
		return nil, ap.t.denied(errHeldAsks)
	}
	k := &heldInput{s: s, does: does(string(p), ap.keysActNow()), text: slices.Clone(p),
		question: ap.asksNow(), lends: lends, answer: answer, meant: ap.meantFor()}
	if k.question == nil {
		k.lines, k.hidden = visible.Lines(string(p))
	}
	ap.askPeople(k)
	return k, nil
}

// askPeople asks for a person's decision about k. The Term's lock is held.
func (ap *approvals) askPeople(k *heldInput) {
	t := ap.t
	s := k.s
	k.id, k.by, k.since = t.host.nextAsk(), s.name(), t.host.now()
	k.expiry = time.AfterFunc(t.host.approvalTime, func() { ap.withdraw(k, errUnanswered) })
	k.unwatch = context.AfterFunc(s.conn.ctx, func() { ap.withdraw(k, context.Cause(s.conn.ctx)) })
	k.warning = ap.warningOf(k)
	ap.held = append(ap.held, k)
	ap.asksChanged()
	ap.lookAtHeldLater()
	t.emit(Event{Kind: EventAsks, Ask: k.id, By: k.by, from: s.conn})
	t.host.log.Info("input held for approval", "name", t.Name(), "ask", k.id,
		"principal", k.by)
}

// withdraw ends the wait for a decision, if there was none yet.
func (ap *approvals) withdraw(k *heldInput, why error) {
	ap.t.term.Lock()
	defer ap.t.term.Unlock()
	ap.dropHeld(nil, why, func(o *heldInput) bool { return o == k })
}

// settle takes k out of what is held and tells the agent what became of it; nil: it was typed. The
// Term's lock is held.
func (ap *approvals) settle(k *heldInput, why error) {
	ap.held = slices.DeleteFunc(ap.held, func(o *heldInput) bool { return o == k })
	k.expiry.Stop()
	k.unwatch()
	k.answer(why)
	ap.asksChanged()
}

// dropHeld rejects all that is held and that which selects, and tells the viewers of those who
// decide, except by's: that one has done it. The Term's lock is held.
func (ap *approvals) dropHeld(by *Conn, why error, which func(*heldInput) bool) {
	for _, k := range slices.Clone(ap.held) {
		if which(k) {
			ap.settle(k, why)
			ap.tellDeciders(by, Note{Kind: NoteGone, Agent: k.by, Why: Printable(why.Error())})
			ap.t.emit(Event{Kind: EventRefused, Ask: k.id, asker: k.s.principal.ID, To: k.by,
				Reason: why.Error(), from: by})
		}
	}
}

// anyHeld is for dropHeld.
func anyHeld(*heldInput) bool { return true }

// dropHeldOf rejects what is held of the agents of a former holder when another one becomes the
// holder: they have lost the keyboard. The Term's lock is held.
func (ap *approvals) dropHeldOf(was, next holder) {
	if was.claim == next.claim {
		return
	}
	ap.endTrust(errTrustHolder)
	why := fmt.Errorf("%s has the keyboard now", next.text())
	ap.dropHeld(nil, why, func(k *heldInput) bool {
		its := k.s.conn.client != nil && next.claim == ahp.ClientClaim(k.s.conn.client.id)
		return k.s.principal.ID == was.principal && !its && k.starts == nil
	})
}

// asksChanged tells all who want to know that something else is held than before, or that the guard
// was turned on or off. The Term's lock is held.
func (ap *approvals) asksChanged() {
	t := ap.t
	t.waiting.set(func(w *needs) { w.approval = len(ap.held) > 0 }, "")
	var asks []ahp.TerminalAsk
	for _, k := range ap.held {
		asks = append(asks, ap.askOf(k))
	}
	t.ch.SetAsks(asks)
	t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Guarded = ap.on })
	t.host.list.changed()
	ap.wakeDeciders()
}

// wakeDeciders has the viewers look at what is to be decided, and whether it is for them. The
// Term's lock is held.
func (ap *approvals) wakeDeciders() {
	for _, a := range ap.t.viewers.windows {
		a.wakeLocked()
	}
}

// SetGuard turns a terminal's guard on or off, for a person who may decide. What is held when it is
// turned off is rejected: nobody has seen it and agreed. When SetGuard returns, the root's list
// says so. It returns *authz.Denied, ErrExited or why the connection has ended.
func (c *Conn) SetGuard(t *Terminal, on bool) error {
	t.kept.load()
	defer c.host.list.flush()
	t.term.Lock()
	defer t.term.Unlock()
	if err := t.approvals.mayDecide(c); err != nil {
		return err
	}
	if t.life.exited {
		return ErrExited
	}
	if t.approvals.on == on {
		return nil
	}
	t.approvals.on, t.approvals.named = on, on
	t.warn(t.log.journal.Describe(t.log.describe(), t.host.now()))
	t.approvals.dropHeldText(reasonGuarded)
	t.approvals.endTrust(errTrustGuard)
	if on {
		t.approvals.dropAhead(errTrustGuard)
	}
	t.approvals.dropHeld(c, errUnguarded, anyHeld)
	t.approvals.asksChanged()
	state := "off"
	if on {
		state = "on"
	}
	c.Audit(authz.AuditGuard, "terminal", t.Name(), "who", c.Name(), "guard", state)
	t.host.log.Info("guard set", "name", t.Name(), "on", on, "principal", c.principal.Name)
	return nil
}

// mayDecide returns why c may not decide about what agents type. The Term's lock is held.
func (ap *approvals) mayDecide(c *Conn) error {
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	target := ap.t.target(step{conn: c, principal: c.principal})
	if err := authz.Check(c.principal, authz.Approve, target); err != nil {
		return err
	}
	if c.agent() { // a peer of AHP
		return ap.t.denied(&authz.Denied{Verb: authz.Approve, Rule: authz.RuleAgent})
	}
	return nil
}
