package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"termhost/ahp"
	"termhost/ahp/visible"
	"termhost/authz"
	"termhost/ptypool"
)

// needsApproval reports whether p, which s is about to type, has to wait for a person's approval.
// The Term's lock is held.
func (ap *approvals) needsApproval(s step, p []byte) bool {
	if !s.conn.agent() {
		return false
	}
	if ap.bindsAgent(s) && !ap.interrupts(p) {
		return true
	}
	ap.agentTyped = true
	return false
}

// bindsAgent reports whether s is an agent that needs a person's approval here. The Term's lock is
// held.
func (ap *approvals) bindsAgent(s step) bool { return s.conn.agent() && ap.on && !ap.trusts(s) }

// holdBack holds a copy of p, which s types, until a person decides. If it returns an error, p is
// not held and answer is not called. The Term's lock is held.
func (ap *approvals) holdBack(
	s step, p []byte, lends bool, answer func(error),
) (*heldInput, error) {
	if err := ap.checkSecret(s, p); err != nil {
		return nil, err
	}
	switch err := ap.t.term.Whole(p); {
	case errors.Is(err, ptypool.ErrInterrupted):
		return nil, ap.t.denied(errInterrupts)
	case err != nil:
		return nil, ap.t.denied(errLongLine)
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
	t.log.writeDecisions() // they have the number in its ID
	ap.held = append(ap.held, k)
	ap.publishHeld()
	ap.lookAtHeldLater()
	t.emit(Event{Kind: EventAsks, Ask: k.id, By: k.by, from: s.conn})
	t.host.log.Info("input held for approval", "name", t.Name(), "ask", k.id,
		"principal", k.by)
}

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

// SetGuard turns a terminal's guard on or off, for a person who may decide. What is held when it is
// turned off is rejected: nobody has seen it and agreed. When SetGuard returns, the root's list
// says so, and the next host will know it. It returns *authz.Denied, ErrExited, *NotKeptError or
// why the connection has ended.
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
	if t.approvals.on == on && t.approvals.onWhy == "" {
		return nil
	}
	was, nameWas, why := t.approvals.on, t.approvals.nameGuarded, t.approvals.onWhy
	t.approvals.on, t.approvals.nameGuarded, t.approvals.onWhy = on, on, ""
	if err := t.log.keepDecisions(); err != nil {
		t.approvals.on, t.approvals.nameGuarded, t.approvals.onWhy = was, nameWas, why
		t.log.keepDescription()
		return err
	}
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
