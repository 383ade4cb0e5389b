package store

import "termhost/ahp"

// TrustOver says that a person's approval of all that an agent types has ended. Subscribers that
// get [Asks], and may read all of them, read it as an action among the others. It is not an action
// of AHP, changes no state and is in no log.
type TrustOver struct {
	By  string // the agent's display name
	Why string
}

// Type returns its name in the host's own log. It has none on the wire.
func (TrustOver) Type() string { return ahp.MethodTrustOver }

// TellTrustOver sends a [TrustOver] to those of c's subscribers that get them. It replaces an
// unread one.
func (c *Channel) TellTrustOver(over TrustOver) {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cur := range c.cursors {
		sub := cur.sub
		if !sub.asks || !sub.reads.All {
			continue
		}
		sub.outbox.drop(c, func(a ahp.Action) bool {
			_, ok := a.(TrustOver)
			return ok
		})
		sub.pushAnswerLocked(&Entry{seq: s.nextLocked(), channel: c.uri, action: over})
	}
}
