package store

import "termhost/ahp"

// Asked says that others ask for a terminal's keyboard than before. Who they are is looked up when
// it is written. Subscribers that have asked for it read it as an action among the others. It is
// not an action of AHP, changes no state and is in no log.
type Asked struct {
	By string // who asks now, for people; "": nobody does, or did before
}

// Type returns its name in the host's own log. It has none on the wire.
func (Asked) Type() string { return "termhost/asked" }

// WantAsked has a subscriber get every [Asked].
func (sub *Subscriber) WantAsked() {
	sub.store.mu.Lock()
	defer sub.store.mu.Unlock()
	sub.asked = true
}

// TellAsked gives an [Asked] to the subscribers that read c now and get such.
func (c *Channel) TellAsked(by string) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	for _, cur := range c.cursors {
		cur.sub.tellAskedLocked(c, by)
	}
}

// TellAsked gives an [Asked] to one subscriber, if it gets such.
func (sub *Subscriber) TellAsked(c *Channel, by string) {
	sub.store.mu.Lock()
	defer sub.store.mu.Unlock()
	sub.tellAskedLocked(c, by)
}

// tellAskedLocked replaces the one that waits.
func (sub *Subscriber) tellAskedLocked(c *Channel, by string) {
	if !sub.asked {
		return
	}
	sub.outbox.drop(c, func(o ahp.Action) bool {
		_, ok := o.(Asked)
		return ok
	})
	sub.pushAnswerLocked(&Entry{seq: sub.store.nextLocked(), channel: c.uri, action: Asked{by}})
}

// TellsAsked reports whether a subscriber of a clientId that reads c gets every [Asked]. Nobody has
// the clientId "".
func (c *Channel) TellsAsked(clientID string) bool {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	for _, cur := range c.cursors {
		if clientID != "" && cur.sub.client == clientID {
			return cur.sub.asked
		}
	}
	return false
}
