package sshd

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/host"
	"termhost/ahp/mcp"
	"termhost/ahp/transport"
	"termhost/authz"
	"termhost/authz/admit"
	"termhost/keys"
	"termhost/sshd/verbs"
)

// ErrServerClosed is what Serve returns after Shutdown.
var ErrServerClosed = errors.New("sshd: the server is shut down")

// errDropped ends connections that do not get on where others want to log in.
var errDropped = errors.New("too many logins at once; try again")

// exchangeShare is the part of the processors that compute for strangers at once: terminals go on.
const exchangeShare = 2

const (
	// startupsPerSource bounds the connections of one source that have not authenticated and stand
	// still: more than any person has.
	startupsPerSource = 10
	// startupGrace is how long a peer may do nothing before it stands still.
	startupGrace = time.Second
	// startupBurst is how many times MaxStartups.Full there may be for less than that. With 4,700
	// strangers a second and the default of Full, a peer has 340 ms for each step. It costs 40 KB
	// for each.
	startupBurst = 16
)

// errShutdown ends connections when the server goes down.
var errShutdown = errors.New("the host is shutting down")

// Server is the SSH door. Its methods may be called concurrently.
type Server struct {
	log  *slog.Logger
	gate *admit.Gate
	// penalties are those of the gate.
	penalties *admit.Penalties
	// logins are the connections that have authenticated.
	logins admit.Places
	// turns is for strangers' key exchanges.
	turns *turns
	// stall is how long a connection may take no byte: transport.Stall.
	stall  time.Duration
	live   atomic.Pointer[settings]
	policy atomic.Pointer[Policy]
	// unread is what has come on all connections and is not read, in bytes by account, and
	// patience is unreadPatience.
	unread   admit.Tally
	patience time.Duration
	forwards admit.Places // of all connections
	agents   agents
	mcp      *mcp.Server

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
		penalties: admit.NewPenalties(cfg.Now),
		turns:     newTurns(max(1, runtime.GOMAXPROCS(0)/exchangeShare)),
		stall:     transport.Stall,
		listeners: map[net.Listener]struct{}{},
		conns:     map[*conn]struct{}{},
		stopping:  make(chan struct{}),
		patience:  unreadPatience,
		mcp:       cfg.MCP,
	}
	if s.mcp == nil {
		s.mcp = mcp.New(mcp.Options{Version: cfg.Version, Log: cfg.Log})
	}
	s.agents = agents{srv: s, by: map[string][]agentConn{}, sockets: map[string]*agentSocket{}}
	s.gate = admit.NewGate(admit.GateOptions{
		Startups: cfg.MaxStartups, PerSource: startupsPerSource, Grace: startupGrace,
		Burst: startupBurst, Stages: int(stages), Penalties: s.penalties,
		Now: cfg.Now, Rand: cfg.Rand,
	})
	s.set(cfg)
	cfg.Host.SetKeyAgents(&s.agents)
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
		Prefix: cfg.DetachPrefix, Version: cfg.Version, FileServer: cfg.FileServer,
		GitHub: cfg.GitHub, Fleet: cfg.Fleet, NoFleet: cfg.NoFleet, TestNotify: cfg.TestNotify,
		Address: s.address, HostKey: cfg.hostKey,
		Ordinary: func() bool { return s.policy.Load().Shell },
		Quiet:    func() bool { return s.policy.Load().Quiet },
		Status:   func() bool { return s.policy.Load().Status },

		LoginLast:  func() bool { return s.policy.Load().LoginLast },
		FirstLogin: cfg.FirstLogin,
		Nameless:   cfg.Authority.Nameless,
	}})
	s.SetPolicy(cfg.Policy)
	s.penalties.SetOff(cfg.NoPenalties)
}

// hostKey is [verbs.Runner.HostKey]: of the first of the keys that is no certificate.
func (c *Config) hostKey(addr string) (fingerprint, knownHosts string) {
	key := c.HostKeys[0].PublicKey()
	if plain := c.plainKeys(); len(plain) > 0 {
		key = plain[0].PublicKey()
	}
	knownHosts, err := keys.KnownHostsLine(addr, key)
	if err != nil {
		knownHosts = ""
	}
	return gossh.FingerprintSHA256(key), knownHosts
}

// Configure puts another configuration in force, in which Host, Authority, Log, Now and Rand must
// be the same. Connections that are open keep the old one, but for the Policy. The Server keeps
// cfg.HostKeys and changes it. After an error nothing has changed.
func (s *Server) Configure(cfg Config) error {
	if err := cfg.setDefaults(); err != nil {
		return err
	}
	s.set(cfg)
	s.gate.SetStartups(cfg.MaxStartups)
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
	s.admit(nc, origin{}, func(serve func()) { go serve() })
}

// origin is who has proven the peer of a connection; zero: nobody has.
type origin struct {
	proven  *authz.Principal // another door
	within  string           // see authz.Source, of a peer that another door has proven
	carried *Carried         // another host
	outer   *sshSession      // on which the peer has proven itself: see serveSSH; nil: elsewhere
}

// admit gives run a function that serves nc, if the gate lets nc in.
func (s *Server) admit(nc net.Conn, by origin, run func(serve func())) {
	admission, refusal := s.gate.Proven(), ""
	if by == (origin{}) {
		admission, refusal = s.gate.Admit(admit.SourceOf(nc.RemoteAddr()))
	}
	if refusal != "" {
		s.log.Debug("connection refused", "remote", nc.RemoteAddr(), "reason", refusal)
		source := authz.NewSource(nc.RemoteAddr(), host.DoorSSH)
		s.cfg().Host.Audit().Info(authz.AuditDropped,
			append([]any{"reason", refusal}, source.Attrs(authz.Principal{})...)...)
		turnAway(nc, refusal)
		return
	}
	c := newConn(s, nc, admission, by)
	admission.OnDrop(c.drop, c.awaits)
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		admission.Leave()
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
	s.agents.close()

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
