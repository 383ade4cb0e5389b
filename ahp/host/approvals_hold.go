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

// needsApproval reports whether p, which s is about to type, has to wait for a person's approval.
// The Term's lock is held.
func (ap *approvals) needsApproval(s step, p []byte) bool {
	if !s.conn.agent() {
		return false
	}
	if ap.on && !ap.trusts(s) && !ap.interrupts(p) {
		return true
	}
	ap.agentTyped = true
	return false
}

// interrupts reports whether p is the interrupt key and nothing else, as ctrl-C or in the encoding
// that the program has asked for.
func (ap *approvals) interrupts(p []byte) bool {
	interrupt := keyboard.Key{Code: 'c', Mods: keyboard.Ctrl}
	encoded := interrupt.Append(nil, ap.t.term.Screen().KeyModes())
	return len(p) > 0 && (len(bytes.Trim(p, "\x03")) == 0 || bytes.Equal(p, encoded))
}

// holdBack holds a copy of p, which s types, until a person decides. If it returns an error, p is
// not held and answer is not called. The Term's lock is held.
func (ap *approvals) holdBack(
	s step, p []byte, lends bool, answer func(error),
) (*heldInput, error) {
	if err := ap.checkSecret(s, p); err != nil {
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
	case count >= maxHeldInputs, len(ap.held) >= maxTerminalHeld:
		return nil, ap.t.denied(errHeldInputs)
	}
	k := &heldInput{s: s, does: does(string(p), ap.keysActNow()), text: slices.Clone(p),
		question: ap.secretQuestion(), lends: lends, answer: answer, meant: ap.meantFor()}
	if k.question == nil {
		k.lines, k.hidden = visible.Lines(string(p))
	}
	ap.requestDecision(k)
	return k, nil
}

// requestDecision adds k to what is held and asks people to decide. The Term's lock is held.
func (ap *approvals) requestDecision(k *heldInput) {
	t := ap.t
	s := k.s
	k.id, k.by, k.since = t.host.nextHeldID(), s.name(), t.host.now()
	k.expiry = time.AfterFunc(t.host.approvalTime, func() { ap.withdraw(k, errUnanswered) })
	k.unwatch = context.AfterFunc(s.conn.ctx, func() { ap.withdraw(k, context.Cause(s.conn.ctx)) })
	k.warning = ap.warningOf(k)
	ap.held = append(ap.held, k)
	ap.publishHeld()
	ap.lookAtHeldLater()
	t.emit(Event{Kind: EventAsks, Ask: k.id, By: k.by, from: s.conn})
	t.host.log.Info("input held for approval", "name", t.Name(), "ask", k.id,
		"principal", k.by)
}

// withdraw rejects k if nobody has decided about it yet.
func (ap *approvals) withdraw(k *heldInput, why error) {
	ap.t.term.Lock()
	defer ap.t.term.Unlock()
	ap.dropHeld(nil, why, func(o *heldInput) bool { return o == k })
}

// resolve removes k from what is held and tells its agent the outcome; nil: it was typed. The
// Term's lock is held.
func (ap *approvals) resolve(k *heldInput, why error) {
	ap.held = slices.DeleteFunc(ap.held, func(o *heldInput) bool { return o == k })
	k.expiry.Stop()
	k.unwatch()
	k.answer(why)
	ap.publishHeld()
}

// dropHeld rejects the held inputs for which which is true, and shows that at the viewers of those
// who may decide, except by's, whose doing it is. The Term's lock is held.
func (ap *approvals) dropHeld(by *Conn, why error, which func(*heldInput) bool) {
	for _, k := range slices.Clone(ap.held) {
		if which(k) {
			ap.resolve(k, why)
			ap.tellDeciders(by, Note{Kind: NoteGone, Agent: k.by, Why: Printable(why.Error())})
			ap.t.emit(Event{Kind: EventRefused, Ask: k.id, asker: k.s.principal.ID, To: k.by,
				Reason: why.Error(), from: by})
		}
	}
}

// anyHeld has dropHeld reject all.
func anyHeld(*heldInput) bool { return true }

// dropHeldOf rejects what is held of a former holder's agents when the claim goes from was to next:
// they have lost the keyboard. The Term's lock is held.
func (ap *approvals) dropHeldOf(was, next holder) {
	if was.claim == next.claim {
		return
	}
	ap.endTrust(errTrustHolder)
	why := fmt.Errorf("%s has the keyboard now", next.text())
	ap.dropHeld(nil, why, func(k *heldInput) bool {
		isNext := k.s.conn.client != nil && next.claim == ahp.ClientClaim(k.s.conn.client.id)
		return k.s.principal.ID == was.principal && !isNext && k.starts == nil
	})
}

// publishHeld shows viewers, clients and listings what is held and whether the guard is on. The
// Term's lock is held.
func (ap *approvals) publishHeld() {
	t := ap.t
	t.waiting.set(func(w *needs) { w.approval = len(ap.held)+len(ap.permissions) > 0 }, "")
	var asks []ahp.TerminalAsk
	for _, k := range ap.held {
		asks = append(asks, ap.terminalAsk(k))
	}
	t.ch.SetAsks(asks)
	t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Guarded = ap.on })
	t.host.list.changed()
	ap.wakeDeciders()
}

// wakeDeciders makes the viewers call [Attach.Asking] again. The Term's lock is held.
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
	t.approvals.on, t.approvals.nameGuarded = on, on
	t.log.keepDescription()
	t.approvals.dropTypedAhead(reasonGuarded)
	t.approvals.endTrust(errTrustGuard)
	if on {
		t.approvals.dropUnread(errTrustGuard)
	}
	t.approvals.dropHeld(c, errUnguarded, anyHeld)
	t.approvals.publishHeld()
	state := "off"
	if on {
		state = "on"
	}
	c.Audit(authz.AuditGuard, "terminal", t.Name(), "who", c.Name(), "guard", state)
	t.host.log.Info("guard set", "name", t.Name(), "on", on, "principal", c.principal.Name)
	return nil
}

// mayDecide returns why c may not decide about held input. The Term's lock is held.
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
