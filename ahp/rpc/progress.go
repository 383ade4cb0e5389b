package rpc

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// ErrStalled ends a transport whose peer takes no byte for [Stall].
var ErrStalled = fmt.Errorf("the peer took nothing for %s", Stall)

// Progress is a connection whose writes may take as long as they like while
// bytes move: a large message to a slow peer is fine, a peer that takes nothing
// is not.
type Progress struct {
	net.Conn
	stall    time.Duration
	deadline atomic.Pointer[time.Time] // of the writer; nil: none
}

// NewProgress wraps c. A write fails with [ErrStalled] when c takes no byte for
// stall; 0 is [Stall].
func NewProgress(c net.Conn, stall time.Duration) *Progress {
	if stall <= 0 {
		stall = Stall
	}
	return &Progress{Conn: c, stall: stall}
}

// SetWriteDeadline bounds the writes that begin after it as a whole.
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

// looks is how many times a write looks for progress within the stall: it ends
// a stalled peer at most a quarter late.
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
