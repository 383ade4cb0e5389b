package ws

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"termhost/ahp/host"
	"termhost/ahp/transport"
	"termhost/authz"
	"termhost/authz/admit"
)

// door is what the host knows of a connection before its first request.
type door struct {
	name   string // one of package host's
	remote net.Addr
	source authz.Source // for the audit log

	// principal is who the peer is, if the connection itself proves that.
	principal authz.Principal
	// proof, if not nil, is how the principal has proven elsewhere who it is; the
	// connection ends when that is over.
	proof host.Proof
	// pace is the peer of a WebSocket, whose bytes are read at the pace of its account.
	pace atomic.Pointer[host.Conn]
	// inside is whether the peer of a TCP connection is a process inside a terminal of the host's,
	// and the terminal's marker, if that is known. It is looked up once, when it matters.
	inside func() (is bool, marker string)
	// refusal is why the connection is refused; nil: it is not.
	refusal error
	// admission is set before the first request; nil: nobody counts the connection.
	admission *admit.Admission
	// long says that the connection has left the admission until its answer is done; see
	// [Route.Long].
	long bool
}

func newDoor(name string, remote net.Addr) *door {
	return &door{name: name, remote: remote, source: authz.NewSource(remote, name)}
}

// peer returns the peer's identity as proven by the connection itself.
func (d *door) peer() (Peer, error) {
	if d.principal.ID == "" {
		return Peer{}, errNoToken
	}
	return Peer{Principal: d.principal, Door: d.name, Remote: d.remote, source: d.source,
		proof: d.proof, lost: lostProof}, nil
}

// isInside reports whether the peer is a process inside a terminal of the host's, and has the
// source say which.
func (d *door) isInside() (is bool) {
	if d.inside == nil {
		return d.principal.Inside
	}
	is, d.source.Within = d.inside()
	return is
}

// conn is a connection with its door, below TLS.
type conn struct {
	*transport.Progress
	door *door

	once   sync.Once
	closed chan struct{} // closed by Close; nil: nobody waits for that
}

// Read reads what the peer sends.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Progress.Read(p)
	if peer := c.door.pace.Load(); peer != nil {
		_ = peer.Pace(peer.Context(), n, 0) // an error is the connection's end
	}
	return n, err
}

// connBelow returns the connection below TLS; nil: it did not come by a door.
func connBelow(c net.Conn) *conn {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	found, _ := c.(*conn)
	return found
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

// withDoor stores a connection's door, which does not change, in the context of its requests.
func withDoor(ctx context.Context, c net.Conn) context.Context {
	if c := connBelow(c); c != nil {
		return context.WithValue(ctx, doorKey{}, c.door)
	}
	return ctx
}

// doorOf returns the door of a request.
func doorOf(r *http.Request) *door {
	if d, ok := r.Context().Value(doorKey{}).(*door); ok {
		return d
	}
	return newDoor(host.DoorWebSocket, textAddr(r.RemoteAddr))
}

// textAddr is an address that is known as text only.
type textAddr string

func (a textAddr) Network() string { return "tcp" }
func (a textAddr) String() string  { return string(a) }

// listener accepts connections of one door.
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
	d := newDoor(l.name, c.RemoteAddr())
	switch c := c.(type) {
	case *net.TCPConn:
		d.inside = sync.OnceValues(func() (is bool, marker string) {
			if h := l.server.cfg().Host; h != nil {
				return h.Within(c.LocalAddr(), c.RemoteAddr())
			}
			return false, ""
		})
		if raw, err := c.SyscallConn(); err == nil {
			// Should it fail, pings notice a dead peer a little later.
			_ = raw.Control(func(fd uintptr) {
				_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT,
					userTimeout)
			})
		}
	case *net.UnixConn:
		d.principal, d.proof, d.refusal = l.server.unixPeer(c, &d.source)
	}
	if l.name == host.DoorUnix && d.refusal == nil && d.principal.ID == "" {
		d.refusal = errNoPeer // not a unix socket at all
	}
	return l.server.newConn(c, d), nil
}

func (s *Server) newConn(c net.Conn, d *door) *conn {
	return &conn{Progress: transport.NewProgress(c, s.cfg().stall), door: d}
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

// wait returns when the connection has ended. It closes one that was never
// accepted.
func (l *oneConn) wait() {
	select {
	case c := <-l.next:
		c.Close()
	default:
		<-l.conn.closed
	}
}
