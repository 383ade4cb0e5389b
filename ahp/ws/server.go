package ws

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"termhost/ahp/host"
	"termhost/ahp/rpc"
	"termhost/authz"
)

// Authenticator proves tokens and says when a proof is over; *authz.Authority.
type Authenticator interface {
	// Bearer returns what a token is good for, if it may come from remote.
	Bearer(secret string, remote net.Addr) (authz.Grant, error)
	// Track calls end once when the grant is over.
	Track(g authz.Grant, end func(error)) (release func())
}

// Config is what a Server is made from. Host is required; zero values of the
// others take what config.example.toml documents as the default.
type Config struct {
	Host *host.Host
	// Authority proves tokens; nil: no token is good.
	Authority Authenticator
	// Path is where the WebSocket is; "/ahp".
	Path string
	// AllowedOrigins are the Origin headers of pages that may connect, exactly.
	AllowedOrigins []string
	// AllowedHosts are the names, with or without a port, under which the TCP
	// door may be reached beside loopback's and the address a connection came to.
	AllowedHosts []string
	// TLS makes the TCP door speak https and wss.
	TLS *tls.Config
	// MaxFrameBytes bounds a message from a peer; 1 MiB.
	MaxFrameBytes int
	// MaxConnections bounds the WebSockets; 1000.
	MaxConnections int
	// MaxSubscriptions and RequestsPerSecond bound each of them; see rpc.Options.
	MaxSubscriptions, RequestsPerSecond int
	// Extend, if not nil, gives a WebSocket methods beside AHP's; see rpc.Options.
	Extend func(*host.Conn) rpc.Extension
	// SSH serves an SSH connection that a peer of the unix socket, who is p, has
	// asked for, until it ends, and closes it; nil: there is none.
	SSH func(c net.Conn, p authz.Principal)
	// Log gets who came, who was refused and why; nil: dropped.
	Log *slog.Logger

	// For tests, which cannot wait as long; 0: rpc.Stall and headerTimeout.
	stall, headers time.Duration
}

// The bounds that are no matter of configuration.
const (
	defaultPath        = "/ahp"
	defaultFrame       = 1 << 20
	defaultConnections = 1000
	// headerTimeout is how long a peer may take to send its request: many round
	// trips on the slowest of lines.
	headerTimeout = 10 * time.Second
	// idleTimeout is how long a connection may wait for another request.
	idleTimeout = 60 * time.Second
	// maxHeader bounds a request's headers, in bytes: a token, an Origin and what
	// a browser adds take 2 KiB.
	maxHeader = 16 << 10
	// maxPending bounds the connections that are no WebSockets (yet), so that
	// silent ones cannot take all descriptors: each is gone after headerTimeout.
	maxPending = 256
	// writeBuffer is the memory a frame is put together in, in bytes, borrowed
	// while it is written: most of a flood's frames fit and go out in one piece.
	writeBuffer = 72 << 10
)

// Server is the HTTP door. All methods may be called concurrently.
type Server struct {
	cfg      Config
	log      *slog.Logger
	origins  map[string]struct{}
	hosts    map[string]struct{}
	http     *http.Server
	upgrader websocket.Upgrader

	pending atomic.Int64 // connections that are no WebSockets

	mu      sync.Mutex // taken before the host's locks
	open    map[*host.Conn]struct{}
	closed  bool
	running sync.WaitGroup // one for each of open
}

// New returns a Server that listens nowhere yet.
func New(cfg Config) *Server {
	if cfg.Path == "" {
		cfg.Path = defaultPath
	}
	if cfg.MaxFrameBytes <= 0 {
		cfg.MaxFrameBytes = defaultFrame
	}
	if cfg.MaxConnections <= 0 {
		cfg.MaxConnections = defaultConnections
	}
	if cfg.headers <= 0 {
		cfg.headers = headerTimeout
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{cfg: cfg, log: cfg.Log, origins: originSet(cfg.AllowedOrigins), hosts: hostSet(cfg.AllowedHosts),
		open: map[*host.Conn]struct{}{}}
	s.upgrader = websocket.Upgrader{
		HandshakeTimeout: headerTimeout,
		WriteBufferSize:  writeBuffer,
		WriteBufferPool:  new(sync.Pool),
		// The Origin has been compared with the list; gorilla's own check would
		// let a page in whose Origin equals a Host that it chose.
		CheckOrigin:       func(*http.Request) bool { return true },
		EnableCompression: false, // a few bytes may not become gigabytes
	}
	s.http = &http.Server{
		Handler:           s,
		ReadHeaderTimeout: cfg.headers,
		ReadTimeout:       cfg.headers,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ConnContext:       withDoor,
		ConnState:         s.connState,
		ErrorLog:          slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug),
	}
	return s
}

// Serve answers TCP peers until Stop or Shutdown, and closes l. It returns nil
// then, and otherwise why the listener failed.
func (s *Server) Serve(l net.Listener) error {
	l = &listener{Listener: l, server: s, name: host.DoorWebSocket}
	if s.cfg.TLS != nil {
		cfg := s.cfg.TLS.Clone()
		cfg.NextProtos = []string{"http/1.1"} // HTTP/2 has no upgrade
		l = tls.NewListener(l, cfg)
	}
	return stopped(s.http.Serve(l))
}

// ServeUnix answers peers of a unix socket, as Serve does.
func (s *Server) ServeUnix(l net.Listener) error {
	return stopped(s.http.Serve(&listener{Listener: l, server: s, name: host.DoorUnix}))
}

func stopped(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// ServeConn answers one peer that p has brought here through an SSH port
// forward, until it is done, and closes nc, which needs deadlines. The peer has at
// most the role of an operator: anybody who reaches the forwarded port is p.
func (s *Server) ServeConn(nc net.Conn, p authz.Principal) error {
	if err := authz.Check(p, authz.Forward, authz.Target{}); err != nil {
		nc.Close()
		return err
	}
	d := &door{name: host.DoorForward, principal: p.AtMost(authz.Operator)}
	l := newOneConn(&conn{Progress: rpc.NewProgress(nc, s.cfg.stall), door: d})
	err := s.http.Serve(l)
	l.wait()
	if errors.Is(err, errServed) {
		return nil
	}
	return stopped(err)
}

// Stop takes no more connections. WebSockets live on.
func (s *Server) Stop() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // close the listeners and idle connections, wait for nobody
	_ = s.http.Shutdown(ctx)
}

// Shutdown takes no more connections, ends the WebSockets, and waits for them,
// and until ctx ends for requests that are being answered.
//
// A host that goes down in good order calls Stop, then [host.Host.Shutdown],
// which lets everybody read to the end, then Shutdown.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	for c := range s.open {
		c.End(host.ErrClosed)
	}
	s.mu.Unlock()
	err := s.http.Shutdown(ctx)
	s.running.Wait()
	return errors.Join(err, s.http.Close())
}

// connState keeps the number of connections that are no WebSockets bounded.
func (s *Server) connState(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if s.pending.Add(1) > maxPending {
			c.Close()
		}
	case http.StateHijacked, http.StateClosed:
		s.pending.Add(-1)
	}
}
