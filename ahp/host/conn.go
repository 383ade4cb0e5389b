package host

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"termhost/ahp"
	"termhost/ahp/store"
	"termhost/authz"
)

// The names of the doors: see [authz.Doors].
const (
	DoorSSH       = authz.DoorSSH
	DoorSubsystem = authz.DoorSubsystem
	DoorWebSocket = authz.DoorWebSocket
	DoorUnix      = authz.DoorUnix
	DoorLocal     = authz.DoorLocal
	DoorForward   = authz.DoorForward
	DoorMCP       = authz.DoorMCP
	DoorFleet     = authz.DoorFleet
)

// Conn is one connection of one principal. Its reader calls the verbs, one at a time; its writer
// pulls from Subscriber. Once its context has ended, every verb is refused: nothing that the peer
// still sends has an effect.
type Conn struct {
	// Never changed once the connection is used.
	host      *Host
	principal authz.Principal
	door      authz.Door
	source    authz.Source
	since     time.Time
	ctx       context.Context
	cancel    context.CancelCauseFunc
	expiry    *time.Timer // ends the connection with the principal's rights; nil: they stay
	sub       *store.Subscriber
	proof     Proof    // see Prove; nil: none
	pace      *Pace    // of its account; nil: none
	mcp       *mcpSeat // nil: it is not an MCP client's

	root atomic.Pointer[store.Channel] // as this connection sees it: see FollowFleet

	looking looking // has a lock of its own

	reserved atomic.Bool // see UseReservedNames

	// Set once, by the reader with initialize or reconnect, with Host.mu held. Others read them
	// with Host.mu held.
	client  *client
	version ahp.Version
	name    string // of the peer, see names.go; until then its principal's
}

// looking is what the person behind a connection looks at, if the peer tells.
type looking struct {
	mu    sync.Mutex // held before any Term's lock
	at    []*Terminal
	over  bool          // the connection has ended
	calls chan struct{} // of capacity 1; nil: the peer has not told yet
}

// UseReservedNames has the peer be told in reserved names from now on: see [ahp.Reserved].
func (c *Conn) UseReservedNames() { c.reserved.Store(true) }

// NameOf returns the form in which the peer is told one of termhost's own names.
func (c *Conn) NameOf(name string) string {
	if c.reserved.Load() {
		return ahp.Reserved(name)
	}
	return name
}

// ErrClosed says that the host shuts down. It refuses connections and terminals, and ends
// connections.
var ErrClosed = errors.New("the host is shutting down")

// Source returns how the audit log names the connection.
func (c *Conn) Source() authz.Source { return c.source }

// Principal returns whose connection this is.
func (c *Conn) Principal() authz.Principal { return c.principal }

// Name returns the name of the connection's peer. Only the goroutine that calls the verbs may call
// it.
func (c *Conn) Name() string { return Printable(c.name) }

// agent reports whether the connection counts as an agent's rather than a person's. A person comes
// by the SSH door, with a key or, on this machine, as its user. All peers of AHP and ACP are
// agents, and so are tokens, except a web page, which a person has opened. A process inside one of
// the host's terminals counts as an agent, because it may be anybody's.
func (c *Conn) agent() bool {
	if c.principal.IsPage() || c.principal.Inside {
		return c.principal.Inside
	}
	return !c.door.Person || c.principal.Token != ""
}

// Context returns a context that ends when the connection must be closed. Its cause may be shown to
// the peer.
func (c *Conn) Context() context.Context { return c.ctx }

// Subscriber returns the subscriber from which the connection's writer pulls.
func (c *Conn) Subscriber() *store.Subscriber { return c.sub }

// Shape returns the wire format of the negotiated version.
func (c *Conn) Shape() ahp.Shape { return c.version.Shape() }

// Initialized reports whether initialize or reconnect has succeeded.
func (c *Conn) Initialized() bool { return c.client != nil }

// Keep has v returned by Kept, also to the next connection of the clientId, as long as the host
// remembers that one. The connection must be initialized.
func (c *Conn) Keep(v any) {
	c.host.mu.Lock()
	defer c.host.mu.Unlock()
	c.client.kept = v
}

// Kept returns the last value of [Conn.Keep]; nil: there is none. The connection must be
// initialized.
func (c *Conn) Kept() any {
	c.host.mu.Lock()
	defer c.host.mu.Unlock()
	return c.client.kept
}

// End ends the connection's context, so that it is closed and every verb is refused. The cause is
// shown to the peer; that of the first call counts.
func (c *Conn) End(cause error) { c.cancel(cause) }

// Ended returns an [*EndedError] if the connection's context has ended; nil: it has not.
func (c *Conn) Ended() error {
	if c.ctx.Err() == nil {
		return nil
	}
	return &EndedError{context.Cause(c.ctx)}
}

// connected reports whether a principal, given by its ID, has a connection that has not ended.
func (h *Host) connected(principal string) bool {
	return slices.ContainsFunc(h.connections(), func(c *Conn) bool {
		return c.principal.ID == principal && c.ctx.Err() == nil
	})
}

// Proof follows the proof of a peer's identity, also after the peer's connection has ended. When it
// is withdrawn, it calls end once, from any goroutine or before it returns, unless release has been
// called before. It must not call the Host.
type Proof = func(end func(error)) (release func())
