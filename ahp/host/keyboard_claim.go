package host

import (
	"fmt"
	"net/url"
	"time"

	"termhost/ahp"
)

// crossing is the time within which two claims count as made at the same moment if nothing more
// exact is known: about one round trip.
const crossing = 50 * time.Millisecond

// claimant is the holder that a claim names, and here are the clientIds that were connected when it
// came.
type claimant struct {
	holder
	here map[string]bool
}

// claim makes next the holder, or returns the reason why it does not. The caller has checked the
// policy. The Term's lock is held.
func (kb *keyboardClaim) claim(s step, next claimant) (reason string) {
	if kb.crosses(s) {
		return fmt.Sprintf("%s took the keyboard at the same moment; look, then take it again",
			kb.holder.text())
	}
	prior := kb.holder
	switch unused, free := kb.unusedBy(s.conn, next.here); {
	case !s.conn.principal.IsPage() || !s.conn.claims(next.holder) || prior.claim == next.claim:
		kb.hold(next.holder, s)
	case free && unused.Window:
		kb.succeed(next.holder, s) // a closed window gets nothing back
	default:
		kb.lend(next.holder, s, true) // as when a person takes the keyboard in an SSH session
	}
	if prior.named() != next.named() {
		kb.tell(nil, Note{Kind: NoteHas})
	}
	if !s.conn.sub.Subscribed(kb.t.ch) {
		s.conn.sub.Answer(kb.t.uri, ahp.TerminalClaimed{Claim: next.claim}, s.origin, "")
	}
	return ""
}

// crosses reports whether the sender of a claim did not know of the last claim. Then the last claim
// stays: otherwise two agents would both believe that they hold the terminal. Claims do not cross
// if the same connection claims again, if the holder passes the claim on, or if the sender has a
// higher role than the sender of the last claim.
//
// AHP does not say what a client had seen when it claimed. If the last claim has not been written
// to the sender yet, the sender had not seen it. If it was written within the time crossing, the
// two may have crossed on the way; for a sender that does not subscribe nothing else is known.
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

// validClaim reports whether a claim names a client or an agent session, and no part of it is too
// long.
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

// isSession reports whether a URI may be an agent session's: it has a scheme, and the scheme is not
// that of another kind of channel. Providers of agents use schemes of their own.
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
