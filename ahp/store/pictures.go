package store

// WantPictures says that the subscriber draws pictures.
func (sub *Subscriber) WantPictures() {
	sub.store.mu.Lock()
	defer sub.store.mu.Unlock()
	sub.pictures = true
}

// DrawsPictures reports whether one of the channel's subscribers does.
func (c *Channel) DrawsPictures() bool {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	for _, cur := range c.cursors {
		if cur.sub.pictures {
			return true
		}
	}
	return false
}
