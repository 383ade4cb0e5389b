package host

import (
	"fmt"
	"net/url"
	"time"

	"termhost/ahp"
	"termhost/authz"
)

// crossing is how close together two claims count as made at once, in the
// absence of better knowledge: the way there and back of a message.
const crossing = 50 * time.Millisecond

// claimed is when and by whom a terminal was last claimed.
type claimed struct {
	by   *Conn
	role authz.Role
	at   time.Time
	seq  uint64 // of the action
}

// holderOf binds a claim to a principal: a clientId's own, or for an agent
// session the one that claims for it. It is false if the claim names a clientId
// that belongs to nobody. It takes Host.mu.
func (h *Host) holderOf(c ahp.Claim, by authz.Principal) (holder, bool) {
	if c.Kind != ahp.ClaimClient {
		return holder{claim: c, principal: by.ID, name: by.Name}, true
	}
	id, name, ok := h.claimant(c.ClientID)
	return holder{claim: c, principal: id, name: name}, ok
}

// validClaim reports whether a claim may be kept and shown to everybody.
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

// isSession reports whether a URI may be an agent session's: an absolute one that
// is no channel of another kind. Providers have schemes of their own.
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

// claim gives the terminal to next. The Term's lock is held and the policy has
// agreed.
func (t *Terminal) claim(s step, next holder) (reason string) {
	if t.crosses(s) {
		return fmt.Sprintf("%s claimed it at the same moment; look, then claim again", Printable(t.holder.name))
	}
	t.hold(next, s)
	if !s.conn.sub.Subscribed(t.ch) {
		s.conn.sub.Answer(t.uri, ahp.TerminalClaimed{Claim: next.claim}, s.origin, "")
	}
	return ""
}

// crosses reports whether a claim was sent without knowing of the last one. Of
// two such claims the first stands, or each of two agents would believe that the
// terminal is its own. Where the policy alone lets only one of them pass, or the
// holder itself passes the claim on, or an admin takes it from an operator,
// there is no race to settle.
//
// AHP does not say what a client had seen when it claimed. A claim that has not
// been written to the sender yet was not; one that was written, or that the
// sender does not follow, may still have crossed on the way.
func (t *Terminal) crosses(s step) bool {
	last := &t.last
	if last.by == nil || last.by == s.conn || s.principal.Role > last.role {
		return false
	}
	if c := t.holder.claim; c.Kind == ahp.ClaimClient && s.conn.client != nil && c.ClientID == s.conn.client.id {
		return false
	}
	return t.host.now().Sub(last.at) < crossing || s.conn.sub.Subscribed(t.ch) && !s.conn.sub.Written(t.ch, last.seq)
}

// hold makes next the holder. Where the claim is taken from the former one, what
// that one had typed and the program had not read is dropped: nobody types after
// losing the claim. Who passes the claim on has meant what it typed. The Term's
// lock is held.
func (t *Terminal) hold(next holder, s step) {
	if seized := s.principal.ID != t.holder.principal; seized && next.principal != t.holder.principal {
		t.term.DiscardInput()
	}
	t.holder, t.prior = next, nil
	seq := t.ch.Append(ahp.TerminalClaimed{Claim: next.claim}, s.origin)
	t.last = claimed{by: s.conn, role: s.principal.Role, at: t.host.now(), seq: seq}
	t.host.list.changed()
	t.fit()
}
