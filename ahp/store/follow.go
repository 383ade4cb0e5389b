package store

// Follow starts reading c's log at its end. The caller must know the state there.
func (sub *Subscriber) Follow(c *Channel) error {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.closed || sub.closed {
		return ErrGone
	}
	cur := sub.openLocked(c)
	cur.starts = nil
	cur.startAtEndLocked()
	return nil
}

// Inherit subscribes to the channels of an earlier connection of the same client, unless they are
// being read already. Each is resynchronised first, because the client's state is unknown. The
// answer to initialize must be posted before, and wait for Inherit: what is pulled later then
// follows it.
func (sub *Subscriber) Inherit(channels []*Channel) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range channels {
		if !c.closed && !sub.closed && sub.cursorOnLocked(c) == nil {
			sub.openLocked(c).fallLocked()
		}
	}
}

// Skip moves the cursor to the end of c's log.
func (sub *Subscriber) Skip(c *Channel) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if cur := sub.cursorOnLocked(c); cur != nil {
		cur.startAtEndLocked()
	}
}

// Unsubscribe stops reading c's log.
func (sub *Subscriber) Unsubscribe(c *Channel) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if cur := sub.cursorOnLocked(c); cur != nil {
		delete(sub.synced, c.uri)
		c.trail.synced(sub.client, 0)
		cur.dropLocked()
		sub.outbox.dropRebuild(c.uri)
	}
}

// cursorOnLocked returns the cursor on c's log, or nil.
func (sub *Subscriber) cursorOnLocked(c *Channel) *cursor {
	if cur := sub.cursors[c.uri]; cur != nil && cur.ch == c {
		return cur
	}
	return nil
}

// openLocked returns the cursor on c's log. If there was none, it is a new and unstarted one. A
// cursor on the log of an earlier channel of the same URI is dropped: the peer would mistake the
// rest of it for actions of this channel.
func (sub *Subscriber) openLocked(c *Channel) *cursor {
	cur := sub.cursors[c.uri]
	if cur != nil && cur.ch == c {
		return cur
	}
	if cur != nil {
		cur.dropLocked()
	}
	cur = &cursor{sub: sub, ch: c, pos: unstarted, done: unstarted, index: notReady}
	sub.cursors[c.uri] = cur
	c.cursors = append(c.cursors, cur)
	if !sub.raw {
		c.encoders++
	}
	return cur
}
