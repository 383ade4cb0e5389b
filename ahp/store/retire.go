package store

import "slices"

// Retire takes a terminal out of the root's list, from the next
// [Store.PublishTerminals] on, and gives its URI free. Its subscribers go on
// reading until [Channel.Remove].
func (c *Channel) Retire() {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	c.retireLocked()
}

func (c *Channel) retireLocked() {
	s := c.store
	if s.channels[c.uri] == c { // else it is another's already
		delete(s.channels, c.uri)
	}
	if i := slices.Index(s.listed, c); i >= 0 {
		s.listed = slices.Delete(s.listed, i, i+1)
	}
}
