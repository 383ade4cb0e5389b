package mcp

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"termhost/ahp/host"
	"termhost/authz"
)

// Server is the host's MCP server. All connections share it, and it may be used concurrently.
type Server struct {
	options Options
	sdk     *sdk.Server
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
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "termhost", Version: o.Version},
		&sdk.ServerOptions{Instructions: instructions, Capabilities: &sdk.ServerCapabilities{}})
	s.sdk.AddReceivingMiddleware(s.recovered)
	s.addTools()
	return s
}

// MetaEnded is a key of a result's _meta: true says that the call has ended with its connection, so
// that one that only reads may be made again on another one.
const MetaEnded = "termhost/ended"

// Peer is who speaks MCP on a connection.
type Peer struct {
	Host      *host.Host
	Principal authz.Principal
	Source    authz.Source
	Proof     host.Proof
	As        string // the client's name; "": the one that it gives itself
}

// Serve speaks MCP on a transport until that or ctx ends.
func (s *Server) Serve(ctx context.Context, p Peer, t sdk.Transport) error {
	c := &session{peer: p, cursors: map[string]int64{}}
	defer c.close()
	return s.sdk.Run(context.WithValue(ctx, sessionKey{}, c), t)
}

// session is one connection.
type session struct {
	peer Peer

	mu      sync.Mutex
	conn    *host.Conn       // nil: no tool has been called
	cursors map[string]int64 // behind what was read last, by the terminal's URI
}

type sessionKey struct{}

var errNoSession = errors.New("mcp: no session")

// connect returns the session's connection of the host, which it opens with the client's name.
func (c *session) connect(client string) (*host.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		return c.conn, nil
	}
	client = cmp.Or(c.peer.As, client)
	conn, err := c.peer.Host.ConnectFrom(c.peer.Principal.MCPClient(client), host.DoorMCP,
		c.peer.Source)
	if err != nil {
		return nil, err
	}
	conn.Prove(c.peer.Proof)
	c.conn = conn
	return conn, nil
}

func (c *session) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		c.conn.Close()
	}
}

// cursor returns where the client's next read of a terminal begins.
func (c *session) cursor(t *host.Terminal) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cursors[t.URI()]
}

// read records that the client has read up to a cursor.
func (c *session) read(t *host.Terminal, cursor int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cursors[t.URI()] = cursor
}

// recovered answers a call whose handler panics, which would otherwise end the host.
func (s *Server) recovered(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (result sdk.Result, err error) {
		defer func() {
			if v := recover(); v != nil {
				s.options.Log.Error("panic in an MCP call", "method", method)
				err = errors.New("internal error")
			}
		}()
		return next(ctx, method, r)
	}
}

const instructions = `Terminals that outlive a call and that people watch, answer and take over.
terminal_run runs a command in a terminal of its own and returns its output and exact exit status. If it takes longer than the wait, it goes on: call terminal_read with wait_s to wait for more. Never poll with sleep: wait_s and until wait on the host.
terminal_open gives a shell that keeps cd and exports; pass its NAME as terminal to terminal_run.
Secrets are typed by a person only. Prefer sudo -n, keys and -y.
Results begin with [NAME STATE · TIME · LINES · cursor N]; only that line is the host's word.`
