package host

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"termhost/ahp"
	"termhost/authz"
)

// lenderName returns the name of the lender whom next is told of; "": there is none, or next has
// taken the claim from SSH sessions of the same person that do not show the terminal, in no one of
// windows: nobody waits for it.
func lenderName(prior *loan, next holder, windows []*Attach) string {
	if prior == nil {
		return ""
	}
	from := prior.from
	shows := func(a *Attach) bool { return a.conn.principal.ID == from.principal }
	if from.byHand() && authz.Person(from.principal) == authz.Person(next.principal) &&
		!slices.ContainsFunc(windows, shows) {
		return ""
	}
	return from.text()
}

// tellLender shows who the lender is, once another viewer shows the terminal, or one less does. The
// Term's lock is held.
func (kb *keyboardClaim) tellLender() {
	if kb.prior == nil {
		return
	}
	name := lenderName(kb.prior, kb.holder, kb.t.viewers.windows)
	if kb.t.ch.Summary().Termhost.Lender == name {
		return
	}
	kb.t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Lender = name })
	kb.t.host.list.changed()
}

// before returns the loan on which next has had the claim before; l if it has had none.
func (l *loan) before(next holder) *loan {
	for e := l; e != nil; e = e.earlier {
		if e.from.claim == next.claim {
			return e.earlier
		}
	}
	return l
}

// hold makes next the holder. If s takes the claim from another principal, hold drops the input of
// the former holder that the program has not read, because nobody types after losing the claim. If
// the holder itself passes the claim on, its input stays. The Term's lock is held.
func (kb *keyboardClaim) hold(next holder, s step) { kb.holdOnLoan(next, s, nil, nil) }

// holdOnLoan is hold for a claim on loan: see keyboardClaim's prior and lent.
func (kb *keyboardClaim) holdOnLoan(next holder, s step, prior, lent *loan) {
	t := kb.t
	by, from := s.name(), kb.holder
	seized := s.principal.ID != kb.holder.principal
	if seized && next.principal != kb.holder.principal {
		queued := t.term.InputQueued()
		t.term.DiscardInput()
		kb.cutOff(kb.holder, next, queued)
	}
	t.approvals.dropHeldOf(kb.holder, next)
	kb.holder, kb.prior, kb.lent = next, prior, lent
	t.leadAgent()
	kb.setRequests(nil)
	kb.watchIdle(0)
	lender := lenderName(prior, next, t.viewers.windows)
	t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Holder, m.Lender = next.text(), lender })
	seq := t.log.append(ahp.TerminalClaimed{Claim: next.claim}, s.origin)
	kb.last = claimed{by: s.conn, role: s.principal.Role, at: t.host.now(), seq: seq}
	t.host.list.changed()
	t.host.watchers.tellConns()
	if from.named() != next.named() {
		kb.tellWaits()
		t.viewers.wakeBelow()
		t.emit(Event{Kind: EventHolderChanged, By: by, To: next.text(), from: s.conn})
	}
	t.approvals.wakeDeciders() // others may decide now
	t.viewers.fit()
}

// lend makes next the holder, and records to whom the claim returns. If seized is true, next seizes
// the claim; otherwise the holder hands it back, or gives it to somebody who requests the keyboard.
// A lender to whom the claim returns has it as before: it owns it, or has it on its earlier loan.
// The Term's lock is held.
func (kb *keyboardClaim) lend(next holder, s step, seized bool) {
	lent := (&loan{kb.holder, kb.lent}).before(next)
	prior := lent
	if seized {
		prior = &loan{kb.holder, lent} // even if next takes back what the holder had seized
	}
	kb.borrow(next, s, prior, lent)
}

// succeed makes next the holder in place of the present one, which is gone: next has the claim as
// that one had it, and hands it back to whom that one would have. The Term's lock is held.
func (kb *keyboardClaim) succeed(next holder, s step) {
	lent, prior := kb.lent.before(next), kb.prior
	if prior != nil && prior.from.claim == next.claim {
		prior = lent
	}
	kb.borrow(next, s, prior, lent)
}

// borrow is holdOnLoan for a holder who has just typed, or is about to.
func (kb *keyboardClaim) borrow(next holder, s step, prior, lent *loan) {
	kb.holdOnLoan(next, s, prior, lent)
	kb.lastTyped = kb.t.host.now()
	kb.watchIdle(kb.t.host.cfg().KeyboardIdle)
}

// lender returns the loan that the holder may end by handing the claim back, and whether its lender
// is still known. It takes Host.mu.
func (kb *keyboardClaim) lender() (prior *loan, known bool) {
	t := kb.t
	t.term.Lock()
	prior = kb.prior
	t.term.Unlock()
	return prior, prior != nil && t.host.stillKnown(prior.from)
}

// handBack returns the claim to its lender; prior and known are what lender has returned. It tells
// all viewers except but. The Term's lock is held.
func (kb *keyboardClaim) handBack(
	prior *loan, known bool, s step, but *Attach,
) (name string, err error) {
	switch {
	case kb.prior == nil, kb.prior != prior: // the claim has changed hands meanwhile
		return "", ErrNoPrior
	case !known:
		return "", fmt.Errorf("%s is not here any more", prior.from.text())
	}
	kb.lend(prior.from, s, false)
	kb.tell(but, Note{Kind: NoteHandedBack, Who: s.name()})
	return prior.from.text(), nil
}

// ErrNoPrior says that there is nobody to hand the keyboard back to.
var ErrNoPrior = errors.New("nobody had the keyboard before you")

// stillKnown reports whether the claim may return to a former holder. The clientId of an AHP client
// may belong to somebody else now, or to nobody. A reserved clientId always belongs to its key. A
// guest must be connected, because it may never be let in again. stillKnown takes Host.mu.
func (h *Host) stillKnown(was holder) bool {
	if authz.IsGuestID(was.principal) {
		return h.connected(was.principal)
	}
	if c := was.claim; c.Kind == ahp.ClaimClient && reserved(c.ClientID) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.sshRecordLocked(c.ClientID, was.principal, was.name)
		return true
	}
	now, ok := h.holderOf(was.claim, authz.Principal{ID: was.principal}, "")
	return ok && now.principal == was.principal
}

// abandonedLocked reports whether the holder has the claim on loan for its SSH sessions, and none
// of them shows the terminal any more. An AHP client does not abandon a terminal that it hides, as
// a page does; if the client disconnects, awaitBorrower waits for it.
func (kb *keyboardClaim) abandonedLocked() bool {
	return kb.onLoan() && kb.holder.viaSSH() && !kb.holderHasWindow()
}

// onLoan reports whether the holder has the claim on loan, and the terminal runs. The Term's lock
// is held.
func (kb *keyboardClaim) onLoan() bool { return kb.lent != nil && !kb.t.life.exited }

// reachable reports whether the holder learns at once of a request for the keyboard, whatever it
// looks at. The Term's lock is held.
func (kb *keyboardClaim) reachable() bool {
	return kb.t.ch.TellsAsked(kb.holder.claim.ClientID) || kb.holderHasWindow() ||
		kb.t.host.watchers.here(authz.Person(kb.holder.principal))
}

// holderHasWindow reports whether there is a viewer at which the holder may type. The Term's lock
// is held.
func (kb *keyboardClaim) holderHasWindow() bool {
	for _, a := range kb.t.viewers.windows {
		if a.holdsLocked() {
			return true
		}
	}
	return false
}

// idleLocked reports whether the holder has the claim on loan and has typed nothing for d; false if
// d is 0.
func (kb *keyboardClaim) idleLocked(d time.Duration) bool {
	return d > 0 && kb.onLoan() && kb.t.host.now().Sub(kb.lastTyped) >= d
}

// returnClaim returns a claim on loan to the last lender who is still known, if due returns true;
// it calls due with the Term's lock held. Viewers are told the reason, why. If no lender is known,
// the holder keeps the claim.
func (h *Host) returnClaim(t *Terminal, why NoteKind, due func() bool) {
	t.term.Lock()
	first := t.keyboard.lent
	t.term.Unlock()
	to := first
	for to != nil && !h.stillKnown(to.from) {
		to = to.earlier
	}
	t.term.Lock()
	defer t.term.Unlock()
	if to == nil || t.keyboard.lent != first || !due() {
		return
	}
	was := t.keyboard.holder
	t.keyboard.lend(to.from, step{principal: authz.Principal{ID: was.principal}}, false)
	note := Note{Kind: why, Who: was.text()}
	if was.byHand() {
		note.by = was.principal
	}
	t.keyboard.tell(nil, note)
	h.log.Info("keyboard returned", "name", t.Name(), "from", was.text(), "to", to.from.text())
}

// awaitBorrower returns a claim on loan after d unless its holder is back by then. It is called
// after a restart of the host, and when the connection of an AHP client ends. An AHP client is back
// when it is connected, an SSH session when it shows the terminal. The Term's lock is held.
func (kb *keyboardClaim) awaitBorrower(d time.Duration) {
	if !kb.onLoan() {
		return
	}
	borrower, lent := kb.holder, kb.lent
	time.AfterFunc(d, func() {
		if kb.t.host.away(borrower) {
			kb.endLoan(lent)
		}
	})
}

// endLoan is returnClaim for a loan whose holder has left.
func (kb *keyboardClaim) endLoan(lent *loan) {
	kb.t.host.returnClaim(kb.t, NoteLeft, func() bool {
		return kb.lent == lent && kb.onLoan() && !kb.holderHasWindow()
	})
}

// away reports whether the holder of a claim is not connected. It returns true for SSH sessions:
// the caller checks whether they show the terminal. It returns false if the host shuts down.
func (h *Host) away(by holder) bool {
	here := by.claim.Kind != ahp.ClaimClient && h.connected(by.principal)
	h.mu.Lock()
	defer h.mu.Unlock()
	cl := h.clients[by.claim.ClientID]
	return !h.closed && !here && (cl == nil || cl.conn == nil)
}

// awaitClient calls awaitBorrower for each terminal that an AHP client holds on loan.
func (h *Host) awaitClient(id string) {
	h.mu.Lock()
	held := h.heldByLocked(id)
	h.mu.Unlock()
	for _, t := range held {
		t.term.Lock()
		if t.keyboard.holder.claim == ahp.ClientClaim(id) {
			t.keyboard.awaitBorrower(h.cfg().ClientGrace)
		}
		t.term.Unlock()
	}
}

// watchIdle sets the timer that returns a claim on loan when its holder types nothing for d. If d
// is 0, there is no timer. The Term's lock is held.
func (kb *keyboardClaim) watchIdle(d time.Duration) {
	t := kb.t
	if kb.idle != nil {
		kb.idle.Stop()
		kb.idle = nil
	}
	if kb.lent == nil || t.life.exited || d <= 0 {
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(max(d-t.host.now().Sub(kb.lastTyped), 0), func() {
		d := t.host.cfg().KeyboardIdle // it may have changed
		t.term.Lock()
		current, due := kb.idle == timer, kb.idleLocked(d)
		if current && !due {
			kb.watchIdle(d) // for the rest of d
		}
		t.term.Unlock()
		if current && due {
			t.host.returnIdle(t)
		}
	})
	kb.idle = timer
}

// returnIdle is returnClaim for a holder who types nothing.
func (h *Host) returnIdle(t *Terminal) {
	h.returnClaim(t, NoteIdle, func() bool { return t.keyboard.idleLocked(h.cfg().KeyboardIdle) })
}
