package store

import "termhost/ahp"

// A channel whose state is known from a record of what happened, such as a log on disk, is built
// again in a draft. Nobody can find or read a draft; when it is done, the channel takes it over.

// Draft returns a channel with c's URI that nobody can find or read. The state must have no
// content.
func (c *Channel) Draft(state ahp.TerminalState) *Channel {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	d := &Channel{store: s, uri: c.uri, state: &state, born: c.born}
	d.log.dropped = s.seq
	return d
}

// StartAt sets the position of what is appended to a draft next to at least position (see
// [Entry.Position]). trimmed: output came before it that the draft's content does not have.
func (c *Channel) StartAt(position int64, trimmed bool) {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	c.log.position = max(c.log.position, position)
	c.content.trimmed = c.content.trimmed || trimmed
}

// Position returns the position of what is appended next: see [Entry.Position].
func (c *Channel) Position() int64 {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.log.position
}

// Adopt replaces c's state and log by those of a draft, which must not be used any more. Readers of
// c are resynchronised.
func (c *Channel) Adopt(d *Channel) {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	d.state.Termhost, d.state.Asks = c.state.Termhost, c.state.Asks
	c.state, c.content, c.log = d.state, d.content, d.log
	for _, cur := range c.cursors {
		if cur.pos != unstarted {
			cur.fallLocked()
		}
	}
}
