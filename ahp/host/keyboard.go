package host

import (
	"fmt"
	"net/url"
	"sync/atomic"
	"time"

	"termhost/ahp"
	"termhost/authz"
)

// crossing is the time within which two claims count as made at the same moment, where nothing
// better is known: that of a message there and back.
const crossing = 50 * time.Millisecond

// claimed says who claimed a terminal last, and when.
type claimed struct {
	by   *Conn // nil: nobody has claimed it since it was created
	role authz.Role
	at   time.Time
	seq  uint64 // the action's serverSeq
}

// keyboardClaim says who may type into a terminal, who lent that one the claim, and who requests
// the keyboard. Its fields are guarded by the Term's lock.
type keyboardClaim struct {
	t      *Terminal
	holder holder
	last   claimed

	prior     *loan       // whom the holder may hand the claim back to; nil: nobody
	lent      *loan       // whom it returns to by itself; nil: it is the holder's own
	lastTyped time.Time   // when the holder of a claim on loan typed last
	idle      *time.Timer // returns a claim on loan; nil: none

	requests    []request   // for the keyboard, the oldest first; see setRequests
	requestsEnd *time.Timer // drops those that are too old; nil: there are none
	hasRequests atomic.Bool // len(requests) > 0; may be read without the Term's lock
}

// holderOf binds a claim to a principal: the owner of the claim's clientId or, for an agent
// session, the one who claims, who is by and is called name. It returns false if nobody owns the
// clientId. It takes Host.mu.
func (h *Host) holderOf(c ahp.Claim, by authz.Principal, name string) (holder, bool) {
	if c.Kind != ahp.ClaimClient {
		return holder{claim: c, principal: by.ID, name: name}, true
	}
	id, name, ok := h.claimant(c.ClientID)
	return holder{claim: c, principal: id, name: name}, ok
}

// validClaim reports whether a claim names a client or an agent session, in parts of bounded size.
func validClaim(c ahp.Claim) bool {
	switch c.Kind {
	case ahp.ClaimClient:
		return c.ClientID != "" && len(c.ClientID) <= maxClientID
	case ahp.ClaimSession:
		for _, s := range []string{c.Session, c.Chat, c.TurnID, c.ToolCallID} {
			if len(s) > ahp.MaxURI {
				return false
			}
		}
		return isSession(c.Session)
	}
	return false
}

// isSession reports whether a URI may be an agent session's: it is absolute, and of no other kind
// of channel. Providers of agents use schemes of their own.
func isSession(uri string) bool {
	u, err := url.Parse(uri)
	if err != nil {
		return false
	}
	switch u.Scheme {
	case "", "ahp-root", "ahp-terminal", "ahp-chat", "ahp-changeset", "root", "chat", "changeset":
		return false
	}
	return true
}

// claim makes next the holder, after the policy has agreed, or returns why not. The Term's lock is
// held.
func (kb *keyboardClaim) claim(s step, next holder) (reason string) {
	if kb.crosses(s) {
		return fmt.Sprintf("%s claimed it at the same moment; look, then claim again",
			kb.holder.text())
	}
	prior := kb.holder
	if s.conn.principal.IsPage() && s.conn.claims(next) && prior.claim != next.claim {
		kb.lend(next, s, true) // as when a person takes it in an SSH session
	} else {
		kb.hold(next, s)
	}
	if prior.named() != next.named() {
		kb.tell(nil, Note{Kind: NoteHas})
	}
	if !s.conn.sub.Subscribed(kb.t.ch) {
		s.conn.sub.Answer(kb.t.uri, ahp.TerminalClaimed{Claim: next.claim}, s.origin, "")
	}
	return ""
}

// crosses reports whether the sender of a claim did not know of the last one, so that the two
// crossed. Then the first claim wins, or else two agents would both believe that they hold the
// terminal. Claims do not cross if the same connection claims again, if the holder passes the claim
// on, or if the sender's role is higher than that of the last claim's sender.
//
// AHP does not tell what a client had seen when it claimed. If the last claim has not been written
// to the sender yet, the sender had not seen it. If it was written only just now, or if the sender
// does not subscribe to the terminal, the two may still have crossed on the way.
func (kb *keyboardClaim) crosses(s step) bool {
	t := kb.t
	last, holds := &kb.last, kb.holder.claim
	switch {
	case last.by == nil, last.by == s.conn, s.principal.Role > last.role:
		return false
	case s.conn.client != nil && holds.Kind == ahp.ClaimClient &&
		holds.ClientID == s.conn.client.id:
		return false // the holder passes the claim on
	}
	sub := s.conn.sub
	return t.host.now().Sub(last.at) < crossing ||
		sub.Subscribed(t.ch) && !sub.Written(t.ch, last.seq)
}

// hold makes next the holder. If s takes the claim from another principal, hold drops what the
// former holder typed and the program has not read: nobody types after losing the claim. If the
// holder itself passes the claim on, its input stays. The Term's lock is held.
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
	kb.setRequests(nil)
	kb.watchIdle(0)
	t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Holder, m.Lender = next.text(), prior.lender() })
	seq := t.log.append(ahp.TerminalClaimed{Claim: next.claim}, s.origin)
	kb.last = claimed{by: s.conn, role: s.principal.Role, at: t.host.now(), seq: seq}
	t.host.list.changed()
	if from.named() != next.named() {
		t.emit(Event{Kind: EventHolderChanged, By: by, To: next.text(), from: s.conn})
	}
	t.approvals.wakeDeciders() // others may decide now
	t.viewers.fit()
}

// heldBy reports whether p holds the claim. It takes the Term's lock.
func (kb *keyboardClaim) heldBy(p authz.Principal) bool {
	kb.t.term.Lock()
	defer kb.t.term.Unlock()
	return kb.holder.principal == p.ID
}

// heldElsewhere returns the refusal of what only the holder may do. The Term's lock is held.
func (kb *keyboardClaim) heldElsewhere() error {
	rule := "you do not hold the claim; " + kb.holder.text() + " does"
	return kb.t.denied(&authz.Denied{Verb: authz.Claim, Rule: rule})
}

// tell shows n, about the present holder, at all viewers but one. The Term's lock is held.
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
