package store

// SetTypist has sub, whose user types at the terminal, be the first to get what comes: the others
// do not feel when they see its echo.
func (c *Channel) SetTypist(sub *Subscriber) {
	if c.typist.Load() != sub { // it is, for nearly all keys
		c.typist.Store(sub)
	}
}

// wakeReadersLocked wakes those who read the log, for a new entry. The typist comes last, because
// the runtime runs the goroutine next that was woken last (runnext of a P): with one processor all
// others would come before.
func (c *Channel) wakeReadersLocked(e *Entry) {
	var last *cursor
	typist := c.typist.Load()
	for _, cur := range c.cursors {
		if cur.sub == typist {
			last = cur
			continue
		}
		cur.wakeForLocked(e)
	}
	if last != nil {
		last.wakeForLocked(e)
	}
}
