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

// lend makes next the holder in a way that is meant to be undone: by seizing the claim (seized), by
// handing it back, or by giving it to somebody who has asked. A lender to whom the claim comes back
// holds it again as before: as its own, or on the loan that it had it on. The Term's lock is held.
func (t *Terminal) lend(next holder, s step, seized bool) {
	from, lent := t.holder, &loan{t.holder, t.lent}
	for l := t.lent; l != nil; l = l.earlier {
		if l.from.claim == next.claim {
			lent = l.earlier
			break
		}
	}
	prior := lent
	if seized {
		prior = &loan{from, lent} // even if it was taken back from one who had seized it
	}
	t.holdOnLoan(next, s, prior, lent)
	t.typed = t.host.now()
	t.watchIdle(t.host.cfg().KeyboardIdle)
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
	now, ok := h.holderOf(was.claim, authz.Principal{ID: was.principal})
	return ok && now.principal == was.principal
}

// abandonedLocked reports whether the holder has the claim on loan and shows the terminal in no
// window any more.
func (t *Terminal) abandonedLocked() bool {
	return t.lent != nil && !t.exited && !t.attended()
}

// attended reports whether there is a viewer at which the holder may type, or the holder is a
// client of AHP that follows the terminal. The Term's lock is held.
func (t *Terminal) attended() bool {
	follows, _ := t.ch.FollowedBy(t.holder.claim.ClientID)
	return follows || t.inWindow()
}

// hears reports whether the holder is told at once when somebody asks for the keyboard. The Term's
// lock is held.
func (t *Terminal) hears() bool {
	_, asked := t.ch.FollowedBy(t.holder.claim.ClientID)
	return asked || t.inWindow()
}

// inWindow reports whether there is a viewer at which the holder may type. The Term's lock is held.
func (t *Terminal) inWindow() bool {
	for _, a := range t.windows {
		if a.holdsLocked() {
			return true
		}
	}
	return false
}

// idleLocked reports whether the holder has the claim on loan and has typed nothing for d; with
// 0 no time is long enough.
func (t *Terminal) idleLocked(d time.Duration) bool {
	return d > 0 && t.lent != nil && !t.exited && t.host.now().Sub(t.typed) >= d
}

// returnClaim gives a claim that is on loan back to the last lender who is still known, provided
// that the reason for it, why, still holds. If no lender is known the claim stays.
func (h *Host) returnClaim(t *Terminal, why NoteKind) {
	t.term.Lock()
	first := t.lent
	t.term.Unlock()
	to := first
	for to != nil && !h.stillKnown(to.from) {
		to = to.earlier
	}
	t.term.Lock()
	defer t.term.Unlock()
	due := t.abandonedLocked()
	if why == NoteIdle {
		due = t.idleLocked(h.cfg().KeyboardIdle)
	}
	if to == nil || t.lent != first || !due {
		return
	}
	was := t.holder
	t.lend(to.from, step{principal: authz.Principal{ID: was.principal}}, false)
	t.tell(nil, Note{Kind: why, Who: was.name, by: was.principal})
	h.log.Info("keyboard returned", "name", t.name, "from", was.name, "to", to.from.name)
}

// awaitTaker gives the holder of a claim on loan d to show the terminal again: one who had taken it
// before the host was started anew, and a client of AHP whose connection has ended. That is for
// those from whom no idleness takes it. An AHP client has no viewer here: it need only be
// connected. The Term's lock is held.
func (t *Terminal) awaitTaker(d time.Duration) {
	if t.lent == nil || t.exited || t.idle != nil {
		return
	}
	taker, lent := t.holder, t.lent
	var timer *time.Timer
	timer = time.AfterFunc(d, func() {
		viaSSH := strings.HasPrefix(taker.claim.ClientID, sshPrefix)
		back := !viaSSH && t.host.connected(taker.principal)
		t.term.Lock()
		if t.idle == timer {
			t.idle = nil // it may leave again
		}
		same := t.lent == lent
		t.term.Unlock()
		if same && !back {
			t.host.returnClaim(t, NoteLeft)
		}
	})
	t.idle = timer
}

// awaitClient has what a client of AHP holds on loan returned, unless it comes back soon.
func (h *Host) awaitClient(id string) {
	for _, t := range h.all() {
		if t.ch.Claim() != ahp.ClientClaim(id) {
			continue
		}
		t.term.Lock()
		if t.holder.claim == ahp.ClientClaim(id) && !t.attended() {
			t.awaitTaker(h.cfg().ClientGrace)
		}
		t.term.Unlock()
	}
}

// watchIdle has a claim that is on loan returned when its holder types nothing for d; 0: never. The
// Term's lock is held.
func (t *Terminal) watchIdle(d time.Duration) {
	if t.idle != nil {
		t.idle.Stop()
		t.idle = nil
	}
	if t.lent == nil || t.exited || d <= 0 {
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(max(d-t.host.now().Sub(t.typed), 0), func() {
		d := t.host.cfg().KeyboardIdle // it may have changed
		t.term.Lock()
		current, due := t.idle == timer, t.idleLocked(d)
		if current && !due {
			t.watchIdle(d) // for what is left of it
		}
		t.term.Unlock()
		if current && due {
			t.host.returnClaim(t, NoteIdle)
		}
	})
	t.idle = timer
}
