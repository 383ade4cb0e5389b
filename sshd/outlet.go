package sshd

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	gossh "golang.org/x/crypto/ssh"
)

const (
	// writePiece is how much a write hands to the channel at a time: one
	// packet's worth (RFC 4253 section 6.1), so that progress is seen.
	writePiece = 32 << 10
	// stallGrace is how long a peer that was told that it is stalled has to
	// close the channel before the whole connection is closed.
	stallGrace = 5 * time.Second
)

// outlet writes to a channel's output or error stream. A peer that takes nothing
// for the stall loses the channel. Write may be called concurrently.
type outlet struct {
	w       io.Writer
	stall   time.Duration
	stalled func() // called on a goroutine of its own

	mu    sync.Mutex  // a leaf, held while the peer takes its time
	watch *time.Timer // runs while a piece is being written; made on first use
}

// newOutlet returns an outlet that writes to w, a stream of ch. ended says that
// ch has been closed in good order.
func (c *conn) newOutlet(ch gossh.Channel, w io.Writer, ended *atomic.Bool) *outlet {
	return &outlet{w: w, stall: c.srv.stall, stalled: func() { c.closeStalled(ch, ended) }}
}

// Write writes p, which is not kept. It fails when the channel has ended.
func (o *outlet) Write(p []byte) (n int, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.watch == nil {
		o.watch = time.AfterFunc(o.stall, o.stalled)
	}
	defer o.watch.Stop()
	for len(p) > 0 {
		o.watch.Reset(o.stall)
		m, err := o.w.Write(p[:min(len(p), writePiece)])
		n += m
		if err != nil {
			return n, err
		}
		p = p[m:]
	}
	return n, nil
}

// errStalled ends a connection whose peer takes no output.
var errStalled = errors.New("the peer takes no output")

// closeStalled closes the channel of a peer that takes nothing. A writer that
// waits for the window is woken by the peer's own close only; a peer that does
// not answer loses the connection.
func (c *conn) closeStalled(ch gossh.Channel, ended *atomic.Bool) {
	defer c.recovered("closing a stalled channel")
	c.log.Info("channel closed: the peer takes no output", "principal", c.principal().Name)
	time.AfterFunc(stallGrace, func() {
		if !ended.Load() {
			c.end(errStalled)
			c.nc.Close()
		}
	})
	_ = ch.Close()
}

// toCRLF writes text for a terminal in raw mode: \n becomes \r\n.
type toCRLF struct{ w io.Writer }

func (w toCRLF) Write(p []byte) (int, error) {
	if _, err := w.w.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// fromCRLF takes the \r off line ends, wherever the chunks are split, so that a
// program's output on a pty reads as if it had been on a pipe.
type fromCRLF struct {
	w    io.Writer
	held bool // a \r at the end of what came last
	buf  []byte
}

// Write converts p, which is not kept.
func (w *fromCRLF) Write(p []byte) (int, error) {
	out := w.buf[:0]
	for _, b := range p {
		if w.held && b != '\n' {
			out = append(out, '\r')
		}
		// Of \r\r\n, which a program gets that ends its lines with \r\n
		// itself, one \r stays.
		if w.held = b == '\r'; !w.held {
			out = append(out, b)
		}
	}
	w.buf = out
	if len(out) > 0 {
		if _, err := w.w.Write(out); err != nil {
			return 0, err
		}
	}
	if cap(w.buf) > writePiece {
		w.buf = nil
	}
	return len(p), nil
}

// flush writes what is held back, at the end.
func (w *fromCRLF) flush() error {
	if !w.held {
		return nil
	}
	w.held = false
	_, err := w.w.Write([]byte{'\r'})
	return err
}
