package store

import "termhost/ahp"

// Asked says that somebody asks for a terminal's keyboard. Subscribers that have asked for it read
// it as an action among the others. It is not an action of AHP, changes no state and is in no log.
type Asked struct {
	By    string // who asks
	First string // who was the first to do so, and gets it
}

// Type returns its name in the host's own log. It has none on the wire.
func (Asked) Type() string { return "termhost/asked" }

// WantAsked has a subscriber get every [Asked].
func (sub *Subscriber) WantAsked() {
	sub.store.mu.Lock()
	defer sub.store.mu.Unlock()
	sub.asked = true
}

// TellAsked gives a to the subscribers that read c now and get such.
func (c *Channel) TellAsked(a Asked) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	for _, cur := range c.cursors {
		cur.sub.tellAskedLocked(c, a)
	}
}

// TellAsked gives a to one subscriber, if it gets such.
func (sub *Subscriber) TellAsked(c *Channel, a Asked) {
	sub.store.mu.Lock()
	defer sub.store.mu.Unlock()
	sub.tellAskedLocked(c, a)
}

// tellAskedLocked replaces what waits of the same one's.
func (sub *Subscriber) tellAskedLocked(c *Channel, a Asked) {
	if !sub.asked {
		return
	}
	sub.outbox.drop(c, func(o ahp.Action) bool {
		was, ok := o.(Asked)
		return ok && was.By == a.By
	})
	sub.pushAnswerLocked(&Entry{seq: sub.store.nextLocked(), channel: c.uri, action: a})
}

// FollowedBy reports whether a subscriber of a clientId reads c, or will when its [Subscription]
// is started, and whether that one gets every [Asked]. Nobody has the clientId "".
func (c *Channel) FollowedBy(clientID string) (follows, asked bool) {
	if clientID == "" {
		return false, false
	}
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	for _, cur := range c.cursors {
		if cur.sub.client == clientID {
			return true, cur.sub.asked
		}
	}
	return false, false
}
