package ws

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"

	"golang.org/x/sys/unix"

	"termhost/ahp/host"
	"termhost/ahp/rpc"
	"termhost/authz"
)

// door is what is known of a connection before its first request.
type door struct {
	name string // one of host's

	// principal is who it is, if the connection itself proves it.
	principal authz.Principal
	// proof, if not nil, is what the principal came in with elsewhere; the
	// connection ends with it.
	proof host.Proof
	// refusal is why the connection may not come in at all.
	refusal error
}

// conn is a connection with its door, below TLS.
type conn struct {
	*rpc.Progress
	door *door

	once   sync.Once
	closed chan struct{} // closed by Close; nil: nobody waits
}

// Close closes the connection.
func (c *conn) Close() error {
	err := c.Progress.Close()
	if c.closed != nil {
		c.once.Do(func() { close(c.closed) })
	}
	return err
}

type doorKey struct{}

// withDoor puts a connection's door into its requests' contexts, which is where
// net/http lets a handler ask for it.
func withDoor(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if c, ok := c.(*conn); ok {
		return context.WithValue(ctx, doorKey{}, c)
	}
	return ctx
}

// listener knows the door of each connection it accepts.
type listener struct {
	net.Listener
	server *Server
	name   string
}

// userTimeout is how long data may stay unacknowledged, in milliseconds, before
// the kernel gives a connection up (RFC 5482).
const userTimeout = 45_000

// Accept returns the next connection, as a *conn.
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	d := &door{name: l.name}
	switch c := c.(type) {
	case *net.TCPConn:
		if raw, err := c.SyscallConn(); err == nil {
			// Without it a dead peer is noticed a little later, by ping.
			_ = raw.Control(func(fd uintptr) {
				_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, userTimeout)
			})
		}
	case *net.UnixConn:
		d.principal, d.proof, d.refusal = l.server.unixPeer(c)
	}
	if l.name == host.DoorUnix && d.refusal == nil && d.principal.ID == "" {
		d.refusal = errNoPeer // not a unix socket at all
	}
	return &conn{Progress: rpc.NewProgress(c, l.server.cfg.stall), door: d}, nil
}

// oneConn is a listener that accepts one connection and ends with it.
type oneConn struct {
	conn *conn
	next chan net.Conn // holds the connection until it is accepted
	done chan struct{} // closed by Close
	once sync.Once
}

// errServed says that the one connection has ended.
var errServed = errors.New("ws: served")

func newOneConn(c *conn) *oneConn {
	c.closed = make(chan struct{})
	l := &oneConn{conn: c, next: make(chan net.Conn, 1), done: make(chan struct{})}
	l.next <- c
	return l
}

// Accept returns the connection, and then nothing until it has ended.
func (l *oneConn) Accept() (net.Conn, error) {
	select {
	case c := <-l.next:
		return c, nil
	case <-l.conn.closed:
	case <-l.done:
	}
	return nil, errServed
}

// Close makes Accept return.
func (l *oneConn) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr returns the connection's own address.
func (l *oneConn) Addr() net.Addr { return l.conn.LocalAddr() }

// wait returns when the connection has ended. One that was never accepted ends
// here.
func (l *oneConn) wait() {
	select {
	case c := <-l.next:
		c.Close()
	default:
		<-l.conn.closed
	}
}
