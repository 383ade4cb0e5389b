package host

import (
	"fmt"
	"net/url"
	"sync/atomic"
	"time"

	"termhost/ahp"
	"termhost/authz"
)

// crossing is how close together two claims must be to count as made at the same moment, where
// nothing better is known: the time of a message there and back.
const crossing = 50 * time.Millisecond

// claimed is when and by whom a terminal was claimed last.
type claimed struct {
	by   *Conn // nil: it has not been claimed since it was made
	role authz.Role
	at   time.Time
	seq  uint64 // the action's serverSeq
}

// keyboardClaim is who may type into a terminal, from whom that one has it, and who asks for it. It
// is guarded by the Term's lock.
type keyboardClaim struct {
	t      *Terminal
	holder holder
	prior  *loan // from whom the holder took the claim, to hand it back; nil: from nobody
	lent   *loan // to whom it goes back by itself; nil: it is the holder's own
	last   claimed
	typed  time.Time   // when the holder of a claim on loan typed last
	idle   *time.Timer // returns a claim on loan; nil: none, or it is never returned

	requests    []request   // who wants the keyboard, the first one first; see setRequests
	requestsEnd *time.Timer // drops those that are too old; nil: there are none
	wanted      atomic.Bool // there are requests; read without the Term's lock, too
}

// holderOf binds a claim to a principal: to the one that its clientId belongs to or, for an agent
// session, to the one that claims, which is by and is called name. It is false if the claim names a
// clientId that belongs to nobody. It takes Host.mu.
func (h *Host) holderOf(c ahp.Claim, by authz.Principal, name string) (holder, bool) {
	if c.Kind != ahp.ClaimClient {
		return holder{claim: c, principal: by.ID, name: name}, true
	}
	id, name, ok := h.claimant(c.ClientID)
	return holder{claim: c, principal: id, name: name}, ok
}

// sshHolder returns p as the holder by a claim of its SSH sessions.
func sshHolder(p authz.Principal) holder {
	return holder{claim: ahp.ClientClaim(SSHClientID(p)), principal: p.ID, name: nameOf(p)}
}

// validClaim reports whether a claim may be kept, and shown to everybody.
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

// isSession reports whether a URI may be an agent session's: it is absolute, and no channel of
// another kind. Providers of agents use schemes of their own.
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

// claim gives the terminal to next, after the policy has agreed. The Term's lock is held.
func (kb *keyboardClaim) claim(s step, next holder) (reason string) {
	if kb.crosses(s) {
		return fmt.Sprintf("%s claimed it at the same moment; look, then claim again",
			kb.holder.text())
	}
	prior := kb.holder
	if s.conn.principal.IsPage() && s.conn.claims(next) && prior.claim != next.claim {
		kb.lend(next, s, true) // as a person who takes it with ssh
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

// crosses reports whether a claim was sent without knowing of the last one, so that the two
// crossed. Of two such claims the first one stands, or each of two agents would believe that the
// terminal is its own. There is no such race where the same connection claims again, where the
// holder passes the claim on, or where the sender's role is higher than that of the last one.
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

// hold makes next the holder. If that takes the claim from the former holder, what the former
// holder typed and the program has not read is dropped: nobody types after losing the claim. A
// holder that passes the claim on has meant what it typed. The Term's lock is held.
func (kb *keyboardClaim) hold(next holder, s step) { kb.holdOnLoan(next, s, nil, nil) }

// holdOnLoan is hold with the loans that next has the claim on.
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
