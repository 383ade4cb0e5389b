package host

import (
	"strings"
	"time"

	"termhost/ahp"
	"termhost/authz"
)

// loan says who held a claim before its present holder. The claim goes back to that one when the
// holder hands it back, when the last of the holder's viewers is closed, and when the holder types
// nothing for a while. A loan never changes.
type loan struct {
	from    holder
	earlier *loan // the loan that from had it on; nil: from held it as its own
}

// lender returns who has lent, for people; "": nobody.
func (l *loan) lender() string {
	if l == nil {
		return ""
	}
	return l.from.text()
}

// lend makes next the holder in a way that is meant to be undone: by seizing the claim (seized), by
// handing it back, or by giving it to somebody who has asked. A lender to whom the claim comes back
// holds it again as before: as its own, or on the loan that it had it on. The Term's lock is held.
func (kb *keyboardClaim) lend(next holder, s step, seized bool) {
	from, lent := kb.holder, &loan{kb.holder, kb.lent}
	for l := kb.lent; l != nil; l = l.earlier {
		if l.from.claim == next.claim {
			lent = l.earlier
			break
		}
	}
	prior := lent
	if seized {
		prior = &loan{from, lent} // even if it was taken back from one who had seized it
	}
	kb.holdOnLoan(next, s, prior, lent)
	kb.typed = kb.t.host.now()
	kb.watchIdle(kb.t.host.cfg().KeyboardIdle)
}

// stillKnown reports whether a former holder may be given a claim again. The clientId of an AHP
// client may have become another's, or nobody's. That of a key's SSH sessions stays that key's, but
// for a guest's: it must be here, for it may never be let in again. It takes Host.mu.
func (h *Host) stillKnown(was holder) bool {
	if authz.IsGuestID(was.principal) {
		return h.connected(was.principal)
	}
	if c := was.claim; c.Kind == ahp.ClaimClient && strings.HasPrefix(c.ClientID, sshPrefix) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.sshRecordLocked(c.ClientID, was.principal, was.name)
		return true
	}
	now, ok := h.holderOf(was.claim, authz.Principal{ID: was.principal}, "")
	return ok && now.principal == was.principal
}

// abandonedLocked reports whether the holder has the claim on loan for its SSH sessions and shows
// the terminal in none of them any more. A client of AHP may hide what it holds, as a page does,
// and is waited for when it is away: see awaitTaker.
func (kb *keyboardClaim) abandonedLocked() bool {
	return kb.onLoan() && kb.holder.viaSSH() && !kb.inWindow()
}

// onLoan reports whether the holder has the claim of a terminal that runs on loan. The Term's lock
// is held.
func (kb *keyboardClaim) onLoan() bool { return kb.lent != nil && !kb.t.life.exited }

// viaSSH reports whether the claim is that of a principal's SSH sessions.
func (h holder) viaSSH() bool { return strings.HasPrefix(h.claim.ClientID, sshPrefix) }

// hears reports whether the holder is told at once when somebody asks for the keyboard, whatever it
// looks at. The Term's lock is held.
func (kb *keyboardClaim) hears() bool {
	return kb.t.ch.TellsAsked(kb.holder.claim.ClientID) || kb.inWindow() ||
		kb.t.host.watchers.here(authz.Person(kb.holder.principal))
}

// inWindow reports whether there is a viewer at which the holder may type. The Term's lock is held.
func (kb *keyboardClaim) inWindow() bool {
	for _, a := range kb.t.viewers.windows {
		if a.holdsLocked() {
			return true
		}
	}
	return false
}

// idleLocked reports whether the holder has the claim on loan and has typed nothing for d; with
// 0 no time is long enough.
func (kb *keyboardClaim) idleLocked(d time.Duration) bool {
	return d > 0 && kb.onLoan() && kb.t.host.now().Sub(kb.typed) >= d
}

// returnClaim gives a claim that is on loan back to the last lender who is still known, provided
// that it is still due, for the reason why. If no lender is known the claim stays. due is called
// with the Term's lock held.
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

// awaitTaker gives the holder of a claim on loan d to come back: one who had taken it before the
// host was started anew, and a client of AHP whose connection has ended. An SSH session has to show
// the terminal; a client of AHP need only be connected. The Term's lock is held.
func (kb *keyboardClaim) awaitTaker(d time.Duration) {
	if !kb.onLoan() {
		return
	}
	taker, lent := kb.holder, kb.lent
	time.AfterFunc(d, func() {
		if kb.t.host.away(taker) {
			kb.endLoan(lent)
		}
	})
}

// endLoan is returnClaim for a loan whose holder has left.
func (kb *keyboardClaim) endLoan(lent *loan) {
	kb.t.host.returnClaim(kb.t, NoteLeft, func() bool {
		return kb.lent == lent && kb.onLoan() && !kb.inWindow()
	})
}

// away reports whether the holder of a claim is not connected, or has it for its SSH sessions,
// which would have to show the terminal. Nobody is away from a host that ends.
func (h *Host) away(taker holder) bool {
	here := taker.claim.Kind != ahp.ClaimClient && h.connected(taker.principal)
	h.mu.Lock()
	defer h.mu.Unlock()
	cl := h.clients[taker.claim.ClientID]
	return !h.closed && !here && (cl == nil || cl.conn == nil)
}

// awaitClient has what a client of AHP holds on loan returned, unless it comes back soon.
func (h *Host) awaitClient(id string) {
	for _, t := range h.all() {
		if t.ch.Claim() != ahp.ClientClaim(id) {
			continue
		}
		t.term.Lock()
		if t.keyboard.holder.claim == ahp.ClientClaim(id) {
			t.keyboard.awaitTaker(h.cfg().ClientGrace)
		}
		t.term.Unlock()
	}
}

// watchIdle has a claim that is on loan returned when its holder types nothing for d; 0: never. The
// Term's lock is held.
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
	timer = time.AfterFunc(max(d-t.host.now().Sub(kb.typed), 0), func() {
		d := t.host.cfg().KeyboardIdle // it may have changed
		t.term.Lock()
		current, due := kb.idle == timer, kb.idleLocked(d)
		if current && !due {
			kb.watchIdle(d) // for what is left of it
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
