package local

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// A connection to a host elsewhere may be gone without a word: the laptop has slept, or is on
// another network. A host that has sent nothing for silence is asked for a sign of life; one that
// has sent nothing for tooSilent is lost. What it sends on a slow line counts, answers or not.
const (
	silence   = 5 * time.Second
	tooSilent = 20 * time.Second
)

// Over speaks with a host on a connection that knows its user already, such as that of an ssh that
// has started the host's subsystem ssh. It takes rw over, and fails when ctx ends.
func Over(ctx context.Context, rw io.ReadWriteCloser) (*Client, error) {
	nc := &overConn{ReadWriteCloser: rw}
	nc.heard.Store(time.Now().UnixNano())
	stop := context.AfterFunc(ctx, func() { rw.Close() })
	defer stop()
	c, err := newClient(nc, "host")
	if err != nil {
		rw.Close()
		return nil, fmt.Errorf("the host does not answer: %w", err)
	}
	go c.watchOver(nc)
	return c, nil
}

// watchOver ends the connection when the host is silent. It returns with the connection's end.
func (c *Client) watchOver(nc *overConn) {
	tick := time.NewTicker(silence)
	defer tick.Stop()
	for {
		select {
		case <-c.taken.ended:
			return
		case <-tick.C:
		}
		switch quiet := time.Since(time.Unix(0, nc.heard.Load())); {
		case quiet >= tooSilent:
			c.Close()
		case quiet >= silence:
			// The answer is a sign of life whatever it says.
			go func() { _, _, _ = c.ssh.SendRequest("keepalive@openssh.com", true, nil) }()
		}
	}
}

// overConn is a connection without addresses and deadlines.
type overConn struct {
	io.ReadWriteCloser
	heard atomic.Int64 // when something came last, in Unix nanoseconds
}

// Read reads what the host sends.
func (c *overConn) Read(p []byte) (int, error) {
	n, err := c.ReadWriteCloser.Read(p)
	if n > 0 {
		c.heard.Store(time.Now().UnixNano())
	}
	return n, err
}

// LocalAddr and RemoteAddr implement [net.Conn].
func (*overConn) LocalAddr() net.Addr  { return overAddr{} }
func (*overConn) RemoteAddr() net.Addr { return overAddr{} }

// SetDeadline, SetReadDeadline and SetWriteDeadline implement [net.Conn]. Nobody calls them.
func (*overConn) SetDeadline(time.Time) error      { return errNoDeadline }
func (*overConn) SetReadDeadline(time.Time) error  { return errNoDeadline }
func (*overConn) SetWriteDeadline(time.Time) error { return errNoDeadline }

var errNoDeadline = fmt.Errorf("local: a connection over another one has no deadlines")

type overAddr struct{}

func (overAddr) Network() string { return "ssh" }
func (overAddr) String() string  { return "host" }
