package store

import "termhost/ahp"

// A channel can be restored from a record such as a log on disk: it is built in a draft, which
// nobody can find or read, and which the channel then adopts.

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

// StartAt raises the position of a draft's next entry to at least position (see [Entry.Position]).
// trimmed: there was earlier output that the draft's content does not have.
func (c *Channel) StartAt(position int64, trimmed bool) {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	c.log.position = max(c.log.position, position)
	c.content.trimmed = c.content.trimmed || trimmed
}

// Position returns the position of the next entry: see [Entry.Position].
func (c *Channel) Position() int64 {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.log.position
}

// Adopt replaces c's state and log by those of a draft, which must not be used afterwards. Readers
// of c are resynchronised. t is the Trail of the earlier process, by which the log gets the
// serverSeqs that it had; nil: it has new ones. t records on.
func (c *Channel) Adopt(d *Channel, t *Trail) {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	d.state.Termhost, d.state.Asks = c.state.Termhost, c.state.Asks
	c.state, c.content, c.log = d.state, d.content, d.log
	c.recordOnLocked(t)
	for _, cur := range c.cursors {
		if cur.pos != unstarted {
			cur.fallLocked()
		}
	}
}

// recordOnLocked gives the log the serverSeqs that t knows, and has t record what comes.
func (c *Channel) recordOnLocked(t *Trail) {
	if t == nil || c.closed {
		return
	}
	known := uint64(0) // the last serverSeq that t has
	if now, last, ok := t.relog(&c.log, c.uri, c.store.logBytes); ok && last <= c.store.seq {
		c.log, c.born, known = now, t.word(wordBorn), last
	} else {
		t.begin(c.born)
	}
	c.trail = t
	for _, e := range c.log.entries {
		if e.seq > known && e.places() > 0 {
			t.add(markOf(e))
		}
	}
}
