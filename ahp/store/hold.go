package store

// Holding says whether a channel is pulled for a reader that has flow control of its own.
type Holding uint8

const (
	// NotHeld: it is pulled.
	NotHeld Holding = iota
	// HeldSent: it is not pulled, and what was pulled before has been written.
	HeldSent
	// HeldUnsent: it is not pulled, and what was pulled before counts as unwritten.
	HeldUnsent
)

// Hold stops what is pulled of a channel, or lets it go on. uri is the channel's; one that is not
// subscribed to is ignored. While the channel is held, the cursor stands still and falls off the
// log as a slow reader's does.
//
// It is for the goroutine that pulls, which keeps what it has pulled until the peer may be sent it.
func (sub *Subscriber) Hold(uri string, how Holding) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	cur := sub.cursors[uri]
	if cur == nil {
		return
	}
	if cur.held = how; how == HeldUnsent {
		cur.unreadyLocked()
		return
	}
	cur.writtenLocked()
	if how == HeldSent {
		cur.unreadyLocked()
		return
	}
	cur.wakeLocked()
}

// Fall has a channel resynchronised before more of it is read: what was pulled last does not reach
// the peer, but for what its client has dispatched. uri is as in [Subscriber.Hold].
func (sub *Subscriber) Fall(uri string) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if cur := sub.cursors[uri]; cur != nil {
		cur.fallAnewLocked()
	}
}

// fallAnewLocked has the cursor resynchronised, also if it has been already, and that is still to
// be read.
func (cur *cursor) fallAnewLocked() {
	if cur.pos == unstarted {
		return
	}
	since := cur.since
	if !cur.laggingLocked() {
		since = max(since, cur.pos) // the echoes before are sent
	}
	cur.sub.outbox.dropRebuild(cur.ch.uri)
	cur.unreadyLocked()
	cur.fallLocked()
	cur.since = since
}
