package store

import "termhost/ahp"

// Asked says that the list of those who ask for a terminal's keyboard has changed. The list is
// looked up when the message is written. Subscribers that want it read it as an action among the
// others. It is not an action of AHP, changes no state and is in no log.
type Asked struct {
	By string // display name of who has just asked; "": nobody has
}

// Type returns the action's name inside the host. It has none on the wire.
func (Asked) Type() string { return "termhost/asked" }

// WantAsked subscribes to every [Asked].
func (sub *Subscriber) WantAsked() {
	sub.store.mu.Lock()
	defer sub.store.mu.Unlock()
	sub.asked = true
}

// TellAsked sends an [Asked] about c to a client, if it wants them and follows c or the root.
func (c *Channel) TellAsked(client, by string) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	if sub := c.wantsAskedLocked(client); sub != nil {
		sub.tellAskedLocked(c, by)
	}
}

// TellsAsked reports whether TellAsked would reach a client.
func (c *Channel) TellsAsked(client string) bool {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	return c.wantsAskedLocked(client) != nil
}

// wantsAskedLocked returns the subscriber of a client that gets every [Asked] about c, or nil.
// Nobody has the clientId "".
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

// TellAsked sends an [Asked] to one subscriber, if it wants them.
func (sub *Subscriber) TellAsked(c *Channel, by string) {
	sub.store.mu.Lock()
	defer sub.store.mu.Unlock()
	sub.tellAskedLocked(c, by)
}

// tellAskedLocked replaces the unread one.
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
