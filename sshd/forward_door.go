package sshd

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/authz"
)

// carry connects a channel with the HTTP door until both have ended. Each side may say that it has
// no more to send, and go on receiving. The peer counts as an operator at most: any program at its
// end may have opened the forwarded port.
func (c *conn) carry(ch gossh.Channel, reqs <-chan *gossh.Request) {
	in, theirs := net.Pipe()
	ours, out := net.Pipe()
	over := func() { theirs.Close(); ours.Close() }
	stop := context.AfterFunc(c.ctx, over)
	defer stop()
	var parts sync.WaitGroup
	part := func(doing string, f func()) {
		parts.Go(func() {
			defer c.recovered(doing)
			f()
		})
	}
	part("serving a forwarded connection", func() {
		door := c.forwarded(in, out)
		defer door.Close()
		c.cfg.Forward(door, c.principal().AtMost(authz.Operator))
	})
	input := c.in.open(ch, func() { over(); _ = ch.Close() })
	defer input.close()
	part("carrying a forwarded connection", input.discardErrors)
	part("carrying a forwarded connection", func() {
		_, _ = io.Copy(theirs, input)
		theirs.Close()
		input.discard() // nobody takes it any more
	})
	part("carrying a forwarded connection", func() {
		_, _ = io.Copy(ch, ours)
		over()
		_ = ch.CloseWrite()
		_ = ch.Close()
	})
	gossh.DiscardRequests(reqs)
	over() // the channel has ended
	parts.Wait()
}

// forwarded is this end of a connection that came through a channel. A server
// needs deadlines, which a channel does not have and a pipe has. There is a pipe for each
// direction, because closing one ends both its directions.
type forwarded struct {
	net.Conn               // what the peer sends
	out           net.Conn // what it receives
	local, remote net.Addr
}

// forwarded returns a connection inside of this one.
func (c *conn) forwarded(in, out net.Conn) *forwarded {
	return &forwarded{Conn: in, out: out, local: c.nc.LocalAddr(), remote: c.nc.RemoteAddr()}
}

// Write sends p to the peer.
func (f *forwarded) Write(p []byte) (int, error) { return f.out.Write(p) }

// Close ends both directions.
func (f *forwarded) Close() error { return errors.Join(f.Conn.Close(), f.out.Close()) }

// SetDeadline bounds both directions.
func (f *forwarded) SetDeadline(t time.Time) error {
	return errors.Join(f.SetReadDeadline(t), f.SetWriteDeadline(t))
}

// SetWriteDeadline bounds what is sent to the peer.
func (f *forwarded) SetWriteDeadline(t time.Time) error { return f.out.SetWriteDeadline(t) }

// LocalAddr returns the address that the SSH client has connected to.
func (f *forwarded) LocalAddr() net.Addr { return f.local }

// RemoteAddr returns the address of the SSH client.
func (f *forwarded) RemoteAddr() net.Addr { return f.remote }
