package viewer

import "sync/atomic"

// Count is a number that changes, for one reader at a time. Its methods may be called concurrently;
// a nil Count is 0.
type Count struct {
	n       atomic.Int64
	changes chan struct{} // 1 deep
}

// NewCount returns a Count of 0.
func NewCount() *Count { return &Count{changes: make(chan struct{}, 1)} }

// Set changes the number.
func (c *Count) Set(n int) {
	if c.n.Swap(int64(n)) == int64(n) {
		return
	}
	select {
	case c.changes <- struct{}{}:
	default:
	}
}

// Now returns the number.
func (c *Count) Now() int {
	if c == nil {
		return 0
	}
	return int(c.n.Load())
}

// Changes receives a value when the number has changed.
func (c *Count) Changes() <-chan struct{} {
	if c == nil {
		return nil
	}
	return c.changes
}
