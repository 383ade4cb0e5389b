package host

import (
	"sync/atomic"
	"time"

	"termhost/ahp"
	"termhost/authz"
)

// claimed says who claimed a terminal last, and when.
type claimed struct {
	by   *Conn // nil: nobody has claimed it since it was created
	role authz.Role
	at   time.Time
	seq  uint64 // the action's serverSeq
}

// keyboardClaim says who may type into a terminal, from whom the holder has the claim on loan, and
// who requests the keyboard. The Term's lock guards its fields.
type keyboardClaim struct {
	t      *Terminal
	holder holder
	last   claimed
	passed chan struct{} // closed when another holder has it; nil: nobody waits for that

	prior     *loan       // to whom the holder may hand the claim back; nil: to nobody
	lent      *loan       // to whom the claim returns by itself; nil: the holder owns it
	lastTyped time.Time   // when the holder of a claim on loan typed last
	idle      *time.Timer // returns a claim on loan; nil: none

	requests    []request   // for the keyboard, the oldest first; see setRequests
	requestsEnd *time.Timer // drops requests that are too old; nil: there are no requests
	hasRequests atomic.Bool // len(requests) > 0; may be read without the Term's lock
}

// loan says who lent a claim to its present holder. The claim returns to the lender when the holder
// hands it back, when the last of the holder's viewers is closed, and when the holder types nothing
// for a while. A loan never changes.
type loan struct {
	from    holder // the lender
	earlier *loan  // the loan on which the lender had the claim; nil: the lender owned it
}

// request is a request for the keyboard of a terminal.
type request struct {
	conn *Conn
	to   holder      // who gets the keyboard
	left func() bool // reports whether the requester has left; the Term's lock is held
	at   time.Time
}

// holderOf binds a claim to a principal. A client's claim belongs to the owner of the clientId;
// holderOf returns false if nobody owns it. An agent session's claim belongs to by, who claims and
// is called name. holderOf takes Host.mu.
func (h *Host) holderOf(c ahp.Claim, by authz.Principal, name string) (holder, bool) {
	if c.Kind != ahp.ClaimClient {
		return holder{claim: c, principal: by.ID, name: name}, true
	}
	id, name, ok := h.claimant(c.ClientID)
	return holder{claim: c, principal: id, name: name}, ok
}

// passes returns what is closed when somebody else becomes the holder, and whether somebody but p
// is.
func (kb *keyboardClaim) passes(p authz.Principal) (elsewhere bool, passed <-chan struct{}) {
	kb.t.term.Lock()
	defer kb.t.term.Unlock()
	if kb.passed == nil {
		kb.passed = make(chan struct{})
	}
	return kb.holder.principal != p.ID, kb.passed
}

// tellWaits tells those that wait for another holder. The Term's lock is held.
func (kb *keyboardClaim) tellWaits() {
	if kb.passed != nil {
		close(kb.passed)
		kb.passed = nil
	}
}

// heldBy reports whether p holds the claim. It takes the Term's lock.
func (kb *keyboardClaim) heldBy(p authz.Principal) bool {
	kb.t.term.Lock()
	defer kb.t.term.Unlock()
	return kb.holder.principal == p.ID
}

// heldElsewhere returns the error for an action that only the holder may do. The Term's lock is
// held.
func (kb *keyboardClaim) heldElsewhere() error {
	rule := "you do not have the keyboard; " + kb.holder.text() + " has it"
	return kb.t.denied(&authz.Denied{Verb: authz.Claim, Rule: rule})
}

// tell shows n, which is about the present holder, at all viewers except but. The Term's lock is
// held.
func (kb *keyboardClaim) tell(but *Attach, n Note) {
	n.To = kb.holder.text()
	for _, a := range kb.t.viewers.open {
		if a != but {
			n.Mine = n.by != "" && n.by == a.step().person()
			n.Yours = kb.holder.yours(a.conn.principal)
			a.noteLocked(n)
		}
	}
}

// noteToHolder shows n at the holder's viewers. The Term's lock is held.
func (kb *keyboardClaim) noteToHolder(n Note) {
	for _, v := range kb.t.viewers.windows {
		if v.holdsLocked() {
			v.noteLocked(n)
		}
	}
}
