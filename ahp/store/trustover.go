package store

import "termhost/ahp"

// TrustOver says that a person's yes to all that an agent types has ended. Subscribers that get
// [Asks], and may read all of them, read it as an action among the others. It is not an action of
// AHP, changes no state and is in no log.
type TrustOver struct {
	By  string // the agent, for people
	Why string
}

// Type returns its name in the host's own log. It has none on the wire.
func (TrustOver) Type() string { return ahp.MethodTrustOver }

// TellTrustOver gives those of c's subscribers a [TrustOver] who get such. For a subscriber that
// does not read, it replaces the one before.
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
