package ptypool

// InputQueued reports whether input is queued that the program has not accepted yet. Input in the
// pty does not count.
func (t *Term) InputQueued() bool {
	t.in.mu.Lock()
	defer t.in.mu.Unlock()
	return t.in.queued() > 0
}
