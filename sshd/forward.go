package sshd

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"

	"termhost/authz"
)

// The one target of forwards: a name that needs no lookup, and HTTP's port, so
// that `ssh -L 7722:ahp:80` reads as what it is.
const (
	forwardHost = "ahp"
	forwardPort = 80
)

// forwardChannel serves a channel of type "direct-tcpip" (RFC 4254 section
// 7.2). It leads to the HTTP door and nowhere else. Who comes this way is at
// most an operator: any program at the peer's end may have opened its port.
func (c *conn) forwardChannel(_ *ssh.Server, sc *gossh.ServerConn, nch gossh.NewChannel, _ ssh.Context) {
	defer c.recovered("serving a forward")
	c.keepalive(sc)
	var target struct {
		Host       string
		Port       uint32
		OriginHost string
		OriginPort uint32
	}
	if gossh.Unmarshal(nch.ExtraData(), &target) != nil {
		_ = nch.Reject(gossh.ConnectionFailed, "malformed request")
		return
	}
	if target.Host != forwardHost || target.Port != forwardPort || c.srv.cfg.Forward == nil {
		_ = nch.Reject(gossh.Prohibited, "termhost forwards to ahp:80 only")
		return
	}
	if err := authz.Check(c.principal(), authz.Forward, authz.Target{}); err != nil {
		_ = nch.Reject(gossh.Prohibited, err.Error())
		return
	}
	if refusal := c.enter(&c.forwards, maxForwards, false); refusal != "" {
		_ = nch.Reject(gossh.ResourceShortage, refusal)
		return
	}
	defer c.leave(&c.forwards)
	ch, reqs, err := nch.Accept()
	if err != nil {
		return
	}
	c.carry(ch, reqs)
}

// carry connects a channel with the HTTP door until both have ended. Either may end
// what it says and go on listening.
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
		door := &forwarded{Conn: in, out: out, remote: c.nc.RemoteAddr()}
		defer door.Close()
		c.srv.cfg.Forward(door, c.principal().AtMost(authz.Operator))
	})
	part("carrying a forwarded connection", func() {
		_, _ = io.Copy(theirs, ch)
		theirs.Close()
	})
	part("carrying a forwarded connection", func() {
		_, _ = io.Copy(ch, ours)
		over()
		_ = ch.CloseWrite()
		_ = ch.Close()
	})
	gossh.DiscardRequests(reqs)
	over() // the channel is over
	parts.Wait()
}

// forwarded is a connection that came through a forward. An HTTP server needs
// deadlines, which a channel does not have and a pipe does; of pipes it needs one for
// each direction, because one ends in both at once.
type forwarded struct {
	net.Conn          // what the peer says
	out      net.Conn // what it hears
	remote   net.Addr
}

// Write says something to the peer.
func (f *forwarded) Write(p []byte) (int, error) { return f.out.Write(p) }

// Close ends both directions.
func (f *forwarded) Close() error { return errors.Join(f.Conn.Close(), f.out.Close()) }

// SetDeadline bounds both directions.
func (f *forwarded) SetDeadline(t time.Time) error {
	return errors.Join(f.SetReadDeadline(t), f.SetWriteDeadline(t))
}

// SetWriteDeadline bounds what is said to the peer.
func (f *forwarded) SetWriteDeadline(t time.Time) error { return f.out.SetWriteDeadline(t) }

// RemoteAddr returns the address of the SSH client.
func (f *forwarded) RemoteAddr() net.Addr { return f.remote }
