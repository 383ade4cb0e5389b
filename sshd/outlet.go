package sshd

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"termhost/ahp/rpc"
)

// writePiece is the most that an outlet's helpers gather for one write: one
// packet's worth (RFC 4253 section 6.1).
const writePiece = 32 << 10

// outlet writes to a channel's output or error stream. Write may be called
// concurrently.
//
// A peer that does not read a channel is left alone: it may be a person who reads
// a pager. It costs a position in a log. A transport that takes no byte at all is
// closed: see progressing and the keepalives.
type outlet struct {
	w  io.Writer
	mu sync.Mutex // a leaf, held while the peer takes its time
}

// Write writes p, which is not kept. It fails when the channel has ended.
func (o *outlet) Write(p []byte) (n int, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(p)
}

// progressing is a connection that is closed when its peer takes no byte for a
// while: x/crypto would go on waiting for the peer's next packet.
type progressing struct{ *rpc.Progress }

func (c progressing) Write(p []byte) (int, error) {
	n, err := c.Progress.Write(p)
	if errors.Is(err, rpc.ErrStalled) {
		c.Close()
	}
	return n, err
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
