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

// TellAsked gives an [Asked] about c to a client, if it gets such and follows c or the root.
func (c *Channel) TellAsked(client, by string) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	if sub := c.wantsAskedLocked(client); sub != nil {
		sub.tellAskedLocked(c, by)
	}
}

// TellsAsked reports whether TellAsked reaches a client.
func (c *Channel) TellsAsked(client string) bool {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	return c.wantsAskedLocked(client) != nil
}

// wantsAskedLocked returns the subscriber of a client that gets every [Asked] about c; nil: there
// is none. Nobody has the clientId "".
func (c *Channel) wantsAskedLocked(client string) *Subscriber {
	if client == "" {
		return nil
	}
	for _, ch := range []*Channel{c, c.store.root} {
		for _, cur := range ch.cursors {
			if cur.sub.client == client && cur.sub.asked {
				return cur.sub
			}
		}
	}
	return nil
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
