package sshd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"syscall"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/host"
	"termhost/ahp/rpc"
	"termhost/authz"
)

// Config is what a Server is made from. Host, Authority and HostKeys are
// required; the zero value of every other field takes the default named there.
type Config struct {
	Host      *host.Host
	Authority *authz.Authority
	// HostKeys prove the host to its clients; of each type the last counts. A
	// signer of a certificate stands beside that of the key itself.
	HostKeys []gossh.Signer

	// Forward serves a connection to ahp:80 that came through an SSH forward,
	// for the given principal, and returns when it is over; it closes the
	// connection. nil: forwards are refused.
	Forward func(net.Conn, authz.Principal)
	// AHP bounds the peers of the subsystem "ahp".
	AHP rpc.Options
	// MaxMessageBytes bounds a message of the subsystem; default 1 MiB.
	MaxMessageBytes int

	// HandshakeTimeout is how long a peer has to prove who it is; default 20 s.
	HandshakeTimeout time.Duration
	// MaxAuthTries is how many keys a connection may try; default 6.
	MaxAuthTries int
	// MaxConnections bounds the connections; default 1000.
	MaxConnections int
	// MaxStartups bounds those that have not authenticated; default 10:30:100.
	MaxStartups Startups
	// NoPenalties lets a source that fails again and again try at once.
	NoPenalties bool
	// MaxSessions bounds the SSH sessions of one connection; default 10.
	MaxSessions int
	// KeepaliveInterval is how often a connection is asked for a sign of life;
	// default 15 s. A negative one turns it off.
	KeepaliveInterval time.Duration

	// DetachPrefix is the control character that begins a command while
	// attached; default Ctrl-\ (0x1c).
	DetachPrefix byte
	// NoPrefix: nothing that is typed is a command.
	NoPrefix bool

	// Version is termhost's own, for `help`.
	Version string
	// Log never gets keys that are typed, output or tokens; nil: discarded.
	Log *slog.Logger
	// Now is time.Now; Rand, a number in [0, n), is math/rand/v2.IntN.
	Now  func() time.Time
	Rand func(n int) int
}

// Defaults of Config.
const (
	defaultMaxMessageBytes  = 1 << 20
	defaultHandshakeTimeout = 20 * time.Second
	defaultMaxAuthTries     = 6
	defaultMaxConnections   = 1000
	defaultMaxSessions      = 10
	defaultKeepalive        = 15 * time.Second
	defaultPrefix           = 0x1c
)

func (c *Config) setDefaults() error {
	switch {
	case c.Host == nil || c.Authority == nil:
		return errors.New("sshd: a host and an authority are required")
	case len(c.HostKeys) == 0:
		return errors.New("sshd: a host key is required")
	}
	for i, k := range c.HostKeys {
		strong, err := strongSigner(k)
		if err != nil {
			return fmt.Errorf("sshd: host key %d: %w", i+1, err)
		}
		c.HostKeys[i] = strong
	}
	setDefault(&c.MaxMessageBytes, defaultMaxMessageBytes)
	setDefault(&c.HandshakeTimeout, defaultHandshakeTimeout)
	setDefault(&c.MaxAuthTries, defaultMaxAuthTries)
	setDefault(&c.MaxConnections, defaultMaxConnections)
	setDefault(&c.MaxSessions, defaultMaxSessions)
	setDefault(&c.KeepaliveInterval, defaultKeepalive)
	setDefault(&c.MaxStartups, Startups{Start: 10, Rate: 30, Full: 100})
	setDefault(&c.DetachPrefix, defaultPrefix)
	if c.NoPrefix {
		c.DetachPrefix = 0
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Rand == nil {
		c.Rand = rand.IntN
	}
	return nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// ErrServerClosed is what Serve returns after Shutdown.
var ErrServerClosed = errors.New("sshd: the server is shut down")

// errShutdown ends connections when the server goes down.
var errShutdown = errors.New("the host is shutting down")

// Server is the SSH door. Its methods may be called concurrently.
type Server struct {
	cfg  Config
	log  *slog.Logger
	gate *gate
	// stall is how long a connection may take no byte: rpc.Stall.
	stall   time.Duration
	buffers sync.Pool // *[]byte of gatherBytes, for writing output

	mu        sync.Mutex // a leaf
	listeners map[net.Listener]struct{}
	conns     map[*conn]struct{}
	closed    bool

	stopping chan struct{}  // closed with closed
	running  sync.WaitGroup // one per connection; added under mu while not closed
}

// New returns a Server that does not listen yet. cfg.HostKeys is the Server's
// from then on.
func New(cfg Config) (*Server, error) {
	if err := cfg.setDefaults(); err != nil {
		return nil, err
	}
	return &Server{
		cfg:       cfg,
		log:       cfg.Log,
		gate:      newGate(&cfg),
		stall:     rpc.Stall,
		listeners: map[net.Listener]struct{}{},
		conns:     map[*conn]struct{}{},
		stopping:  make(chan struct{}),
	}, nil
}

// Addr returns the address of a listener that is being served, or nil.
func (s *Server) Addr() net.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.listeners {
		return l.Addr()
	}
	return nil
}

// Serve accepts connections on l until Shutdown, or until l fails, and closes l.
// It returns ErrServerClosed or l's error.
func (s *Server) Serve(l net.Listener) error {
	defer l.Close()
	if !s.addListener(l) {
		return ErrServerClosed
	}
	defer s.removeListener(l)
	var pause time.Duration
	for {
		nc, err := l.Accept()
		switch {
		case err == nil:
			pause = 0
			s.start(nc)
		case s.isClosed():
			return ErrServerClosed
		case isTemporary(err):
			// Out of descriptors, mostly: what is open goes on, and new
			// connections wait in the backlog.
			pause = min(max(2*pause, acceptPauseFirst), acceptPauseMost)
			s.log.Warn("cannot accept a connection; trying again", "err", err, "in", pause)
			if !s.sleep(pause) {
				return ErrServerClosed
			}
		default:
			return err
		}
	}
}

// The pause after an Accept that failed for want of something: doubled each
// time, long enough not to spin, short enough that nobody notices.
const (
	acceptPauseFirst = 5 * time.Millisecond
	acceptPauseMost  = time.Second
)

// isTemporary reports whether accept(2) may succeed later: the process or the
// system is out of something, or the peer went away in the queue.
func isTemporary(err error) bool {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// sleep waits for d; false if the server is shut down meanwhile.
func (s *Server) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.stopping:
		return false
	}
}

// start serves nc on a goroutine of its own, if the gate lets it in.
func (s *Server) start(nc net.Conn) {
	s.startKnown(nc, nil, func(serve func()) { go serve() })
}

// startKnown has run serve nc, if the gate lets it in. known is who the peer is
// proven to be, or nil.
func (s *Server) startKnown(nc net.Conn, known *authz.Principal, run func(serve func())) {
	ticket, refusal := s.gate.admit(nc.RemoteAddr(), known != nil)
	if refusal != "" {
		s.log.Debug("connection refused", "remote", nc.RemoteAddr(), "reason", refusal)
		turnAway(nc, refusal)
		return
	}
	c := newConn(s, nc, ticket, known)
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		ticket.leave()
		nc.Close()
		return
	}
	s.conns[c] = struct{}{}
	s.running.Add(1)
	s.mu.Unlock()
	run(func() {
		defer s.running.Done()
		c.serve()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	})
}

// turnAway tells the peer why, in a line before the version string (RFC 4253
// section 4.2 has clients skip it), and closes.
func turnAway(nc net.Conn, reason string) {
	// A new socket's buffer is empty, so this does not wait.
	if nc.SetWriteDeadline(time.Now().Add(time.Millisecond)) == nil {
		_, _ = nc.Write([]byte("termhost: " + reason + "\r\n"))
	}
	nc.Close()
}

// Shutdown stops accepting, ends every connection after telling it why, and
// waits until they are gone. When ctx ends they are cut off, and its cause is
// returned. To let people see the last output of their terminals, shut the host
// down first: it ends the connections itself.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.stopping)
	}
	for l := range s.listeners {
		l.Close()
	}
	for c := range s.conns {
		c.end(errShutdown)
	}
	s.mu.Unlock()

	gone := make(chan struct{})
	go func() {
		defer close(gone)
		s.running.Wait()
	}()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	for c := range s.conns {
		c.nc.Close()
	}
	s.mu.Unlock()
	<-gone
	return context.Cause(ctx)
}

func (s *Server) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

func (s *Server) addListener(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.listeners[l] = struct{}{}
	return true
}

func (s *Server) removeListener(l net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
}
