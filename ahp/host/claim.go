package host

import (
	"fmt"
	"time"

	"termhost/ahp"
	"termhost/authz"
)

// crossing is how close together two claims of different connections count as
// made at once: the later one was sent without knowing of the earlier one, and
// loses. Whoever has looked and claims again gets what the policy gives.
const crossing = 50 * time.Millisecond

// claimFor returns the holder a claim makes; known is false if it names a
// clientId that belongs to nobody. It takes Host.mu.
func (t *Terminal) claimFor(s step, a ahp.Action) (next holder, known bool) {
	cl, ok := a.(ahp.TerminalClaimed)
	if !ok {
		return holder{}, false
	}
	return t.host.holderOf(cl.Claim, s.principal)
}

// holderOf binds a claim to a principal: a clientId's own, or for an agent
// session the one that claims for it.
func (h *Host) holderOf(c ahp.Claim, by authz.Principal) (holder, bool) {
	if c.Kind != ahp.ClaimClient {
		return holder{claim: c, principal: by.ID, name: by.Name}, true
	}
	id, name, ok := h.claimant(c.ClientID)
	return holder{claim: c, principal: id, name: name}, ok
}

// claim gives the terminal to next. The Term's lock is held and the policy has
// agreed.
func (t *Terminal) claim(s step, next holder) (reason string) {
	now := t.host.now()
	mine := t.holder.claim.Kind == ahp.ClaimClient && s.conn.client != nil && t.holder.claim.ClientID == s.conn.client.id
	if t.claimedBy != nil && t.claimedBy != s.conn && !mine && now.Sub(t.claimedAt) < crossing {
		return fmt.Sprintf("%s claimed it at the same moment; look, then claim again", Printable(t.holder.name))
	}
	t.claimedAt, t.claimedBy = now, s.conn
	t.hold(next, s.origin)
	if !s.conn.sub.Subscribed(t.ch) {
		s.conn.sub.Answer(t.uri, ahp.TerminalClaimed{Claim: next.claim}, s.origin, "")
	}
	return ""
}

// hold makes next the holder. What the former one had typed and the program had
// not read is dropped: nobody types after losing the claim.
func (t *Terminal) hold(next holder, origin *ahp.Origin) {
	if next.principal != t.holder.principal {
		t.term.DiscardInput()
	}
	t.holder = next
	t.prior = nil
	t.ch.Append(ahp.TerminalClaimed{Claim: next.claim}, origin)
	t.host.list.changed()
}
