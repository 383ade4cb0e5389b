package store

// Written reports whether c's actions up to a serverSeq have been written to sub's peer, which may
// then know of them. It is false if sub does not read c.
func (sub *Subscriber) Written(c *Channel, seq uint64) bool {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	cur := sub.cursorOnLocked(c)
	switch {
	case cur == nil, cur.held == HeldUnsent && cur.done == cur.pos:
		return false // it is not read, or what rebuilds the state may be unwritten
	case sub.written < sub.synced[c.uri] && (sub.writing || len(sub.outbox.items) > 0):
		return false // the snapshot or the rebuilding actions may be unwritten
	case cur.done >= c.log.end():
		return true
	case cur.done < c.log.base: // it fell off the log, or has not been started
		return false
	}
	return c.log.at(cur.done).seq > seq
}
