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
	"termhost/ahp/rpc/relay"
	"termhost/authz"
	"termhost/authz/admit"
)

// Authenticator authenticates tokens and users, and reports when they end; it is *authz.Authority.
type Authenticator interface {
	// AuthenticateToken returns what a token grants, if it may be used from remote.
	AuthenticateToken(secret string, remote net.Addr) (authz.Grant, error)
	// AuthenticatePage does the same for a web page's token, which needs a proof beside it.
	AuthenticatePage(secret string, proof authz.PageProof, remote net.Addr) (authz.Grant, error)
	// ProveHost signs what a web page is told, if it asks for that; "": it has not.
	ProveHost(proof authz.PageProof, status int, reason string) (signature string)
	// AuthenticateUID returns what a user id grants to a peer of the unix socket.
	AuthenticateUID(uid uint32) authz.Grant
	// Track calls end once when the grant ends.
	Track(g authz.Grant, end func(error)) (release func())
}

// Config configures a Server. Host is required; zero values of the others take what
// config.example.toml documents as the default.
type Config struct {
	Host *host.Host
	// Authority checks tokens and users; nil: no token is good, and no user has a name.
	Authority Authenticator
	// Path is where the WebSocket is; "/ahp".
	Path string
	// AllowedOrigins are the exact Origin headers of pages that may connect.
	AllowedOrigins []string
	// AllowedHosts are further names, with or without a port, that may stand in
	// the Host header on TCP. Loopback's names and the address that a connection
	// came to are always allowed.
	AllowedHosts []string
	// TLS makes the TCP door speak https and wss.
	TLS *tls.Config
	// MaxFrameBytes bounds a message from a peer; 1 MiB.
	MaxFrameBytes int
	// MaxConnections bounds the WebSockets; 1000.
	MaxConnections int
	// MaxSubscriptions and RequestsPerSecond bound each WebSocket; see rpc.Options.
	MaxSubscriptions, RequestsPerSecond int
	// Extend, if not nil, gives a WebSocket methods beside AHP's; see rpc.Options.
	Extend func(*host.Conn) rpc.Extension
	// Fleet is the way to the terminals of other hosts; nil: there is none.
	Fleet *relay.Doorway
	// SSH serves an SSH connection that p has asked for on the unix socket until
	// it ends, and closes it; nil: this is not offered.
	SSH func(c net.Conn, p authz.Principal, within string)
	// Routes are answered beside AHP, health, metrics and SSH. None may have the
	// path of one of those.
	Routes []Route
	// Refuse, if not nil, may answer a request that is refused, for readers of the web page; false:
	// it has not.
	Refuse func(w http.ResponseWriter, r *http.Request, status int, reason string) bool
	// NoPenalties lets a source that has shown many bad tokens try again at once.
	NoPenalties bool
	// Log gets logins and refusals with their reasons; nil: none are logged.
	Log *slog.Logger

	// For tests, which cannot wait as long as transport.Stall and headerTimeout,
	// the defaults.
	stall, headers time.Duration
}

// Defaults, and bounds that are not configurable.
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
	// writeBuffer is the size, in bytes, of the buffers that gorilla has for frames:
	// it puts only empty ones together. See [transport.WebSocket.WriteFrames].
	writeBuffer = 128
)

// Server is the HTTP door. All methods may be called concurrently.
type Server struct {
	live     atomic.Pointer[settings]
	log      *slog.Logger
	http     *http.Server
	upgrader websocket.Upgrader

	gates     map[string]*admit.Gate // by door
	penalties *admit.Penalties

	mu      sync.Mutex // held over the host's Connect: taken before its locks
	open    map[*host.Conn]struct{}
	closed  bool
	running sync.WaitGroup // one for each of open
}

// settings are the configuration in force, and what is derived from it.
type settings struct {
	Config
	origins map[string]struct{}
	hosts   map[string]struct{}
	routes  []Route
}

// cfg returns the configuration that is in force.
func (s *Server) cfg() *settings { return s.live.Load() }

// Configure puts another configuration into force; Host, Authority, Log, and whether there is TLS,
// must be the same. Open WebSockets keep their limits.
func (s *Server) Configure(cfg Config) {
	if cfg.Path == "" {
		cfg.Path = defaultPath
	}
	if cfg.MaxFrameBytes <= 0 {
		cfg.MaxFrameBytes = defaultFrame
	}
	if cfg.MaxConnections <= 0 {
		cfg.MaxConnections = defaultConnections
	}
	if old := s.live.Load(); old != nil {
		cfg.stall, cfg.headers = old.stall, old.headers
	}
	s.penalties.SetOff(cfg.NoPenalties)
	s.live.Store(&settings{cfg, originSet(cfg.AllowedOrigins), hostSet(cfg.AllowedHosts),
		s.routesOf(cfg)})
}

// New returns a Server that listens nowhere yet.
func New(cfg Config) *Server {
	if cfg.headers <= 0 {
		cfg.headers = headerTimeout
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{log: cfg.Log, open: map[*host.Conn]struct{}{},
		gates: newGates(), penalties: admit.NewPenalties(time.Now)}
	s.Configure(cfg)
	s.upgrader = websocket.Upgrader{
		HandshakeTimeout: headerTimeout,
		WriteBufferSize:  writeBuffer,
		WriteBufferPool:  new(sync.Pool),
		Subprotocols:     []string{subprotocol},
		// checkSource has checked it. gorilla's own check would accept a page whose Origin equals
		// the Host, as with a rebound name.
		CheckOrigin:       func(*http.Request) bool { return true },
		EnableCompression: false, // a few bytes could become gigabytes
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
// after those, and otherwise why the listener failed.
func (s *Server) Serve(l net.Listener) error {
	l = &listener{Listener: l, server: s, name: host.DoorWebSocket}
	if s.cfg().TLS != nil {
		cfg := s.cfg().TLS.Clone()
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

// ServeConn answers one peer that comes through an SSH port forward of p's until
// it is done, and closes nc, which needs deadlines. The peer counts as p, but with
// the role of an operator at most, because anybody who reaches the forwarded port
// can be the peer.
func (s *Server) ServeConn(nc net.Conn, p authz.Principal) error {
	if err := authz.Check(p, authz.Forward, authz.Target{}); err != nil {
		nc.Close()
		return err
	}
	d := newDoor(host.DoorForward, nc.RemoteAddr())
	d.principal = p.AtMost(authz.Operator)
	l := newOneConn(s.newConn(nc, d))
	err := s.http.Serve(l)
	l.wait()
	if errors.Is(err, errServed) {
		return nil
	}
	return stopped(err)
}

// Stop accepts no more connections. WebSockets stay open.
func (s *Server) Stop() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // so that Shutdown closes listeners and idle connections and does not wait
	_ = s.http.Shutdown(ctx)
}

// Shutdown accepts no more connections and ends the WebSockets. It waits for them, and, until ctx
// ends, for requests that are being answered.
//
// For an orderly end call Stop, then [host.Host.Shutdown], which lets all peers
// read to the end, then Shutdown.
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
