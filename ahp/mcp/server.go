package mcp

import (
	"cmp"
	"context"
	_ "embed" // the instructions
	"errors"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"termhost/ahp/host"
	"termhost/authz"
)

// Server is the host's MCP server. All connections share it, and it may be used concurrently.
type Server struct {
	options Options
	sdk     *sdk.Server
	clients clients
	updates updates
	waits   atomic.Pointer[map[string]time.Duration] // see SetWaits
}

// Options are what a Server needs.
type Options struct {
	Version string       // termhost's own
	Log     *slog.Logger // gets errors, never payloads; nil: none are logged
}

// New returns a Server.
func New(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{options: o}
	s.SetWaits(map[string]time.Duration{"": defaultWait})
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "termhost", Version: o.Version},
		&sdk.ServerOptions{
			Instructions: instructions,
			Capabilities: &sdk.ServerCapabilities{
				Tools:     &sdk.ToolCapabilities{},
				Resources: &sdk.ResourceCapabilities{Subscribe: true},
			},
			SubscribeHandler:   s.subscribe,
			UnsubscribeHandler: s.unsubscribe,
			SetCacheable:       private,
		})
	s.sdk.AddReceivingMiddleware(s.received)
	s.sdk.AddSendingMiddleware(s.sending)
	s.addTools()
	s.addResources()
	return s
}

// MetaEnded is a key of a result's _meta: true says that the call has ended with its connection, so
// that one that only reads may be made again on another one.
const MetaEnded = "termhost/ended"

// SetWaits sets the longest waits of calls that come from now on: by the name of a client that asks
// for progress, and "" for all others.
func (s *Server) SetWaits(waits map[string]time.Duration) { s.waits.Store(&waits) }

// limit returns the longest wait of a client's call, in seconds.
func (s *Server) limit(client string, progress bool) int64 {
	waits := *s.waits.Load()
	wait, known := waits[client]
	if !known || !progress {
		wait = waits[""]
	}
	return int64(wait / time.Second)
}

// defaultWait is the longest wait of a call before SetWaits.
const defaultWait = 45 * time.Second

// Peer is who speaks MCP on a connection.
type Peer struct {
	Host      *host.Host
	Principal authz.Principal
	Source    authz.Source
	Proof     host.Proof
	As        string // the client's name; "": the one that it gives itself
	Dir       string // the folder that its programs start in; "": the home folder
}

// Serve speaks MCP on a transport until that or ctx ends.
func (s *Server) Serve(ctx context.Context, p Peer, t sdk.Transport) error {
	c := s.session(p)
	defer c.close()
	if l, ok := t.(*Lines); ok {
		l.pace = c.pace
	}
	return s.sdk.Run(context.WithValue(ctx, sessionKey{}, c), t)
}

func (s *Server) session(p Peer) *session { return &session{server: s, peer: p} }

// session is one connection of a client.
type session struct {
	server *Server
	peer   Peer

	mu       sync.Mutex
	closed   bool
	is       host.MCPClient // as its program says; see introduced
	conn     *host.Conn     // nil: nothing has been asked for yet; it stays when it is set
	client   *client        // with conn
	watchers map[watched]*watcher
}

type sessionKey struct{}

var (
	errNoSession = errors.New("mcp: no session")
	errInternal  = errors.New("internal error") // after a panic
)

// connect returns the session's connection of the host, which it opens with the client's name.
func (c *session) connect(name string) (*host.Conn, *client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, errNoSession
	}
	if c.conn != nil {
		return c.conn, c.client, c.conn.Ended()
	}
	c.is.Name = cmp.Or(c.peer.As, name)
	conn, err := c.peer.Host.ConnectMCP(c.peer.Principal, c.is, c.peer.Source)
	if err != nil {
		return nil, nil, err
	}
	conn.Prove(c.peer.Proof)
	c.conn = conn
	c.client = c.server.clients.connected(host.SSHClientID(conn.Principal()))
	return c.conn, c.client, nil
}

// Keys of _meta, with which a program that connects for a client finds the client's place among
// those of one name again. It says in a ping, before anything else, which instance of the client it
// is, and the number that the results of calls have told it on an earlier connection.
const (
	MetaInstance = "termhost/instance"
	MetaNumber   = "termhost/number"
)

// introduced takes what a ping says of the client. It has no effect once the client has a place.
func (c *session) introduced(r sdk.Request) {
	params, ok := r.GetParams().(*sdk.PingParams)
	if !ok || params == nil {
		return
	}
	instance, _ := params.Meta[MetaInstance].(string)
	number, _ := params.Meta[MetaNumber].(float64)
	const longest = 64 // bytes of an instance
	if instance == "" || len(instance) > longest {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		c.is.Instance, c.is.Number = instance, int(min(max(number, 0), 1<<30))
	}
}

func (c *session) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	for _, w := range c.watchers {
		w.end()
	}
	if c.conn != nil {
		c.server.clients.left(c.client)
		c.conn.Close()
	}
}

// pace charges the account for a message, and waits as long as no other is to be read. What comes
// before anything is asked for is free.
func (c *session) pace(_ context.Context, bytes int) error {
	c.mu.Lock()
	conn := c.conn
	c.mu.Unlock()
	if conn == nil {
		return nil
	}
	return conn.Pace(conn.Context(), bytes, host.MessageParts)
}

// received is called with every message of a client before the SDK handles it. It has a panic end
// nothing but the request, and errors have clean texts.
func (s *Server) received(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (result sdk.Result, err error) {
		defer func() {
			if recover() != nil {
				s.panicked(method)
				result, err = nil, errInternal
			}
			err = cleanedError(err)
		}()
		switch family, _, _ := strings.Cut(method, "/"); family {
		case "prompts", "logging", "completion": // the SDK answers as if there were some
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound,
				Message: "there is no " + method + " here"}
		}
		if c, _ := ctx.Value(sessionKey{}).(*session); c != nil && method == "ping" {
			c.introduced(r)
		}
		handle := s.methods()[method]
		if handle == nil {
			return next(ctx, method, r)
		}
		c, _ := ctx.Value(sessionKey{}).(*session)
		if c == nil {
			return nil, errNoSession
		}
		if _, _, err := c.connect(nameOfClient(r)); err != nil {
			return nil, err
		}
		return handle(c, ctx, method, r, next)
	}
}

// guard calls f, and has a panic end nothing else.
func (s *Server) guard(doing string, f func()) {
	defer func() {
		if recover() != nil {
			s.panicked(doing)
		}
	}()
	f()
}

// panicked logs a panic, whose value may be a part of what a client has sent.
func (s *Server) panicked(doing string) {
	s.options.Log.Error("panic in MCP", "doing", doing, "stack", string(debug.Stack()))
}

// method answers a request that depends on who asks; next answers it as the SDK would.
type method func(
	c *session, ctx context.Context, name string, r sdk.Request, next sdk.MethodHandler,
) (sdk.Result, error)

func (s *Server) methods() map[string]method {
	return map[string]method{
		"tools/list":               (*session).listTools,
		"tools/call":               (*session).pass,
		"resources/list":           (*session).listResources,
		"resources/templates/list": (*session).pass,
		"resources/read":           (*session).pass,
		"resources/subscribe":      (*session).pass,
		"resources/unsubscribe":    (*session).pass,
		"subscriptions/listen":     (*session).pass,
	}
}

func (c *session) pass(
	ctx context.Context, name string, r sdk.Request, next sdk.MethodHandler,
) (sdk.Result, error) {
	return next(ctx, name, r)
}

// nameOfClient returns what a client calls itself.
func nameOfClient(r sdk.Request) string {
	session, _ := r.GetSession().(*sdk.ServerSession)
	if session == nil {
		return ""
	}
	if p := session.InitializeParams(); p != nil && p.ClientInfo != nil {
		return p.ClientInfo.Name
	}
	return ""
}

// instructions tell models how to use the tools. Clients show at least 1,500 characters.
//
//go:embed instructions.txt
var instructions string
