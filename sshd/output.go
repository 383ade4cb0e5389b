package sshd

import (
	"io"
	"sync"

	"termhost/ahp/transport"
)

// output writes to a channel's output or error stream. Write may be called concurrently.
//
// A peer that does not read a channel is left alone: it may be a person who reads a pager. It costs
// a cursor in a log. A connection that takes no byte at all is closed: see progressing and the
// keepalives.
type output struct {
	w       io.Writer
	refused <-chan struct{} // closed: the peer has said that it reads no more; nil: it cannot

	mu sync.Mutex // held over w.Write, which waits for the peer; nothing is locked under it
}

// Write writes p, which is not kept. It fails when the channel has ended, or the peer reads no more
// of it.
func (o *output) Write(p []byte) (n int, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case <-o.refused:
		return 0, io.ErrClosedPipe
	default:
	}
	return o.w.Write(p)
}

// progressing is a connection that is closed when a write fails, as when its peer takes no byte for
// a while, or the time for the handshake is up. Without that x/crypto would go on waiting for the
// peer's next packet: its writePacket reports an error at the next packet only. A peer whose login
// was answered when the time was up would wait for that answer for ever.
type progressing struct {
	*transport.Progress
	in   *intake
	stop <-chan struct{} // closed when the connection ends
}

// Read reads what the peer sends, not faster than the host's programs take it.
func (c progressing) Read(p []byte) (int, error) {
	n, err := c.Progress.Read(p)
	if peer := c.in.observer.Load(); peer != nil {
		_ = peer.Pace(peer.Context(), n, 0) // an error is the connection's end
	}
	c.in.arrived(n, c.stop)
	return n, err
}

// Write writes p, which is not kept.
func (c progressing) Write(p []byte) (int, error) {
	n, err := c.Progress.Write(p)
	if err != nil {
		c.Close()
	}
	return n, err
}
