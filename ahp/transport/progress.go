package transport

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// ErrStalled ends a transport whose peer has taken no byte for [Stall].
var ErrStalled = fmt.Errorf("the peer took nothing for %s", Stall)

// Progress is a connection on which a write may take any time, as long as bytes
// move. So a slow peer gets a large message, and one that takes nothing does not
// block its writer for ever.
type Progress struct {
	net.Conn
	stall    time.Duration
	deadline atomic.Pointer[time.Time] // of the writer; nil: none
}

// NewProgress returns a Progress on c. A write fails with [ErrStalled] when c takes
// no byte for stall; 0 means [Stall].
func NewProgress(c net.Conn, stall time.Duration) *Progress {
	if stall <= 0 {
		stall = Stall
	}
	return &Progress{Conn: newNonblocking(c), stall: stall}
}

// SetWriteDeadline sets a time by which each later write must be done. It does not
// affect a write that is under way.
func (c *Progress) SetWriteDeadline(t time.Time) error {
	if t.IsZero() {
		c.deadline.Store(nil)
	} else {
		c.deadline.Store(&t)
	}
	return nil
}

// SetDeadline sets both deadlines.
func (c *Progress) SetDeadline(t time.Time) error {
	c.SetWriteDeadline(t)
	return c.Conn.SetReadDeadline(t)
}

// looks is how many times per stall a write looks for progress, so that it notices
// a stalled peer at most a quarter of the stall late.
const looks = 4

// Write writes p, in one piece if the peer takes it.
func (c *Progress) Write(p []byte) (n int, err error) {
	moved := time.Now()
	for {
		next := time.Now().Add(c.stall / looks)
		deadline := c.deadline.Load()
		if deadline != nil && deadline.Before(next) {
			next = *deadline
		}
		if err := c.Conn.SetWriteDeadline(next); err != nil {
			return n, err
		}
		m, err := c.Conn.Write(p[n:])
		n += m
		now := time.Now()
		switch {
		case err == nil, !errors.Is(err, os.ErrDeadlineExceeded):
			return n, err
		case deadline != nil && !now.Before(*deadline):
			return n, err
		case m > 0:
			moved = now
		case now.Sub(moved) >= c.stall:
			return n, ErrStalled
		}
	}
}
