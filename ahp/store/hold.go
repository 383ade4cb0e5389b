package store

// Hold stops what is pulled of a channel, or lets it go on. uri is the channel's; one that is not
// subscribed to is ignored. While the channel is held, the cursor stands still and falls off the
// log as a slow reader's does; what has been pulled of the channel counts as unwritten.
//
// It is for the goroutine that pulls, which keeps what it has pulled until the peer may be sent it.
func (sub *Subscriber) Hold(uri string, held bool) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	cur := sub.cursors[uri]
	if cur == nil || cur.held == held {
		return
	}
	cur.held = held
	if held {
		cur.unreadyLocked()
		return
	}
	cur.writtenLocked()
	cur.wakeLocked()
}
