package host

import (
	"fmt"
	"net/url"
	"time"

	"termhost/ahp"
)

// crossing is the time within which two claims count as made at the same moment, where nothing
// better is known: that of a message there and back.
const crossing = 50 * time.Millisecond

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
