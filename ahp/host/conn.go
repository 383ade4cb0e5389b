package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"termhost/ahp"
	"termhost/ahp/store"
	"termhost/authz"
)

// The doors, as logs and metrics name them.
const (
	DoorSSH       = "ssh"
	DoorSubsystem = "subsystem"
	DoorWebSocket = "websocket"
	DoorUnix      = "unix"
	DoorForward   = "forward"
)

// Conn is one connection of one principal. Its reader calls the verbs, one at a time; its writer
// pulls from Subscriber. Once its context has ended, every verb is refused: nothing that the peer
// still sends has an effect.
type Conn struct {
	// Never changed once the connection is used.
	host      *Host
	principal authz.Principal
	door      string
	source    authz.Source
	since     time.Time
	ctx       context.Context
	cancel    context.CancelCauseFunc
	expiry    *time.Timer // ends the connection with the principal's rights; nil: they stay
	sub       *store.Subscriber
	root      *store.Channel // the root channel as this connection sees it
	proof     Proof          // see Prove; nil: none
	pace      *Pace          // of its account; nil: none

	looking looking // has a lock of its own

	reserved atomic.Bool // see UseReservedNames

	// Set once, by the reader with initialize or reconnect, with Host.mu held. Others read them
	// with Host.mu held.
	client  *client
	version ahp.Version
	name    string // of the peer, see names.go; until then its principal's
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

// Connect is [Host.ConnectFrom] for a peer without an address.
func (h *Host) Connect(p authz.Principal, door string) (*Conn, error) {
	return h.ConnectFrom(p, door, authz.NewSource(nowhere{}, door))
}

// nowhere is the address of a peer in the same process.
type nowhere struct{}

func (nowhere) Network() string { return "" }
func (nowhere) String() string  { return "" }

// ConnectFrom returns a Conn for a peer that has proven to be p; source is how the audit log names
// the peer. It returns an error if p has expired, ErrClosed, or a [*admit.QuotaError]. The Conn
// must be closed.
func (h *Host) ConnectFrom(
	p authz.Principal, door string, source authz.Source,
) (*Conn, error) {
	now := h.now()
	if err := p.Valid(now); err != nil {
		return nil, err
	}
	c := &Conn{
		host: h, principal: p, door: door, source: source, name: nameOf(p),
		sub: h.store.NewSubscriber(false), since: now,
	}
	c.sub.ReadAsks(heldReader(p))
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, ErrClosed
	}
	places, limit := h.connectionPlaces(p, door)
	if err := places.Take(p, limit); err != nil {
		return nil, err
	}
	h.conns[c] = struct{}{}
	c.pace = h.paceLocked(p)
	c.addRootLocked()
	if door == DoorSSH {
		h.sshClientLocked(p).ssh++
	}
	if !p.Expires.IsZero() {
		expired := func() { c.End(fmt.Errorf("%s has expired", p.Name)) }
		c.expiry = time.AfterFunc(p.Expires.Sub(now), expired)
	}
	return c, nil
}

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
	return c.door != DoorSSH || c.principal.Token != ""
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

// Close ends the connection. Its clientId stays bound to the principal for a while. It may be
// called again.
func (c *Conn) Close() {
	c.cancel(errClosed)
	c.lookAway()
	h := c.host
	then := func() {}
	defer func() { then() }()
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, open := h.conns[c]; !open {
		return
	}
	delete(h.conns, c)
	places, _ := h.connectionPlaces(c.principal, c.door)
	places.Leave(c.principal)
	if c.expiry != nil {
		c.expiry.Stop()
	}
	synced := c.sub.Close()
	c.removeRoot()
	if c.client != nil && c.client.conn == c {
		c.client.conn = nil
		c.client.left = h.now()
		c.client.synced = synced
		h.noteClient(c.client)
		leave, id := h.leaveLocked(c), c.client.id
		then = func() {
			leave()
			h.awaitClient(id)
			for _, t := range h.all() {
				t.keyboard.withdrawRequests()
			}
		}
	}
	if c.door == DoorSSH {
		cl := h.sshClientLocked(c.principal)
		cl.ssh--
		cl.left = h.now()
	}
}

var errClosed = errors.New("the connection was closed")

// connected reports whether a principal, given by its ID, has a connection that has not ended.
func (h *Host) connected(principal string) bool {
	return slices.ContainsFunc(h.connections(), func(c *Conn) bool {
		return c.principal.ID == principal && c.ctx.Err() == nil
	})
}

// Proof follows what proves who a peer is, also after the peer's connection has ended. When the
// proof is withdrawn, it calls end once, from any goroutine or before it returns, unless release
// has been called before. It must not call the Host.
type Proof = func(end func(error)) (release func())

// Prove sets the connection's proof, before the connection is used. When an owner's proof is
// withdrawn, terminals that wait for the owner end, and so do connections from inside the owner's
// terminals: see [Host.CreatorOf]. Two kinds of connections have no proof: those of the unix
// socket, whose peers stay who they are, and forwarded ones, whose terminals wait for no owner.
func (c *Conn) Prove(p Proof) {
	c.host.mu.Lock()
	defer c.host.mu.Unlock()
	c.proof = p
}
