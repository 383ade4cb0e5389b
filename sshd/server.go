package sshd

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"termhost/ahp/host"
	"termhost/ahp/transport"
	"termhost/authz"
	"termhost/sshd/verbs"
)

// ErrServerClosed is what Serve returns after Shutdown.
var ErrServerClosed = errors.New("sshd: the server is shut down")

// errDropped ends connections that are silent where others want to log in.
var errDropped = errors.New("too many logins at once; try again")

// errShutdown ends connections when the server goes down.
var errShutdown = errors.New("the host is shutting down")

// Server is the SSH door. Its methods may be called concurrently.
type Server struct {
	log  *slog.Logger
	gate *gate
	// stall is how long a connection may take no byte: transport.Stall.
	stall  time.Duration
	live   atomic.Pointer[settings]
	policy atomic.Pointer[Policy]
	// backlog is what has come on all connections and is not read.
	backlog backlog

	mu        sync.Mutex // nothing of ours is locked under it
	listeners map[net.Listener]struct{}
	conns     map[*conn]struct{}
	closed    bool

	stopping chan struct{}  // closed when closed is set
	running  sync.WaitGroup // one per connection; added under mu while not closed
}

// New returns a Server that does not listen yet. The Server keeps cfg.HostKeys and changes it.
func New(cfg Config) (*Server, error) {
	if err := cfg.setDefaults(); err != nil {
		return nil, err
	}
	s := &Server{
		log:       cfg.Log,
		gate:      newGate(&cfg),
		stall:     transport.Stall,
		listeners: map[net.Listener]struct{}{},
		conns:     map[*conn]struct{}{},
		stopping:  make(chan struct{}),
		backlog: backlog{patience: unreadPatience, accounts: map[string]int64{},
			forwards: map[string]int{}},
	}
	s.set(cfg)
	return s, nil
}

// settings are a configuration that is in force, with what is made from it.
type settings struct {
	Config
	verbs *verbs.Runner
}

// cfg returns the configuration that is in force.
func (s *Server) cfg() *settings { return s.live.Load() }

func (s *Server) set(cfg Config) {
	s.live.Store(&settings{cfg, &verbs.Runner{
		Host: cfg.Host, Prefix: cfg.DetachPrefix, Version: cfg.Version, FileServer: cfg.FileServer,
		GitHub: cfg.GitHub, Address: s.address,
		Ordinary: func() bool { return s.policy.Load().Shell },
		Quiet:    func() bool { return s.policy.Load().Quiet },
	}})
	s.SetPolicy(cfg.Policy)
}

// Configure puts another configuration in force, in which Host, Authority, Log, Now and Rand must
// be the same. Connections that are open keep the old one, but for the Policy. The Server keeps
// cfg.HostKeys and changes it. After an error nothing has changed.
func (s *Server) Configure(cfg Config) error {
	if err := cfg.setDefaults(); err != nil {
		return err
	}
	s.set(cfg)
	s.gate.configure(&cfg)
	return nil
}

// address returns where the Server listens; "": nowhere.
func (s *Server) address() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.listeners {
		return l.Addr().String()
	}
	return ""
}

// start serves nc on a goroutine of its own, if the gate lets it in.
func (s *Server) start(nc net.Conn) {
	s.admit(nc, nil, func(serve func()) { go serve() })
}

// admit gives run a function that serves nc, if the gate lets nc in. proven is whom another door
// has proven the peer to be, or nil.
func (s *Server) admit(nc net.Conn, proven *authz.Principal, run func(serve func())) {
	admission, refusal := s.gate.admit(nc.RemoteAddr(), proven != nil)
	if refusal != "" {
		s.log.Debug("connection refused", "remote", nc.RemoteAddr(), "reason", refusal)
		s.cfg().Host.Audit().Info(authz.AuditDropped, "from", nc.RemoteAddr().String(),
			"door", host.DoorSSH, "reason", refusal)
		turnAway(nc, refusal)
		return
	}
	c := newConn(s, nc, admission, proven)
	admission.onDrop(func() {
		c.audit(authz.AuditDropped, "reason", errDropped.Error())
		c.end(errDropped)
	})
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		admission.leave()
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

// turnAway tells the peer why in a line before the version string, which clients skip or show
// (RFC 4253 section 4.2), and closes.
func turnAway(nc net.Conn, reason string) {
	// A new socket's buffer is empty, so this does not wait.
	if nc.SetWriteDeadline(time.Now().Add(time.Millisecond)) == nil {
		_, _ = nc.Write([]byte("termhost: " + reason + "\r\n"))
	}
	nc.Close()
}

// Shutdown stops accepting, ends every connection after telling it why, and waits until they are
// gone. When ctx ends they are cut off, and its cause is returned. To let people see the last
// output of their terminals, shut the host down first: it ends the connections itself.
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
