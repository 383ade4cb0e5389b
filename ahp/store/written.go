package store

// Written reports whether c has been written to sub up to a serverSeq: whether
// its peer could know of what happened then. Nobody knows what it does not
// follow.
func (sub *Subscriber) Written(c *Channel, seq uint64) bool {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	l := sub.linkToLocked(c)
	switch {
	case l == nil:
		return false
	case sub.written < sub.synced[c.uri] && (sub.writing || len(sub.own) > 0):
		return false // its state there may be still to be written
	case l.done >= c.log.end():
		return true
	case l.done < c.log.base: // it fell off the log
		return false
	}
	return c.log.at(l.done).seq > seq
}
