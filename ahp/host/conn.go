package host

import (
	"context"
	"errors"
	"fmt"
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
// pulls from Subscriber. Once its context has ended, every verb refuses: nothing that its peer
// still says counts.
type Conn struct {
	host      *Host
	principal authz.Principal
	door      string
	source    authz.Source
	sub       *store.Subscriber
	root      *store.Channel // what it sees as the root
	ctx       context.Context
	cancel    context.CancelCauseFunc
	expiry    *time.Timer
	proof     Proof // see Prove; nil: none
	pace      *Pace // of its account; nil: none
	looking   looking
	since     time.Time

	// Set once, with initialize or reconnect, by the reader, which holds Host.mu then. Others read
	// them with Host.mu held.
	client  *client
	version ahp.Version
	name    string // how the peer is called; until then, as its principal: see names.go
}

// ErrClosed refuses connections and terminals, and ends connections, while the host shuts down.
var ErrClosed = errors.New("the host is shutting down")

// Connect is [Host.ConnectFrom] for a peer without an address.
func (h *Host) Connect(p authz.Principal, door string) (*Conn, error) {
	return h.ConnectFrom(p, door, authz.NewSource(nowhere{}, door))
}

// nowhere is the address of a peer in the same process.
type nowhere struct{}

func (nowhere) Network() string { return "" }
func (nowhere) String() string  { return "" }

// ConnectFrom makes a Conn for a peer that has proven to be p; source is what the audit log has of
// it. It returns an error if p is nothing any more, because it has expired, ErrClosed, or a
// [*admit.QuotaError]. The Conn must be closed.
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
	c.sub.ReadAsks(asksReader(p))
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

// agent reports whether what the connection types counts as an agent's rather than a person's. A
// person comes by the SSH door, with a key or, on this machine, as its user. All peers of AHP and
// ACP are agents, and so are tokens, but for a page, which a person has opened. A process inside
// one of the host's terminals may be anybody's, and counts as one, too.
func (c *Conn) agent() bool {
	if c.principal.IsPage() || c.principal.Inside {
		return c.principal.Inside
	}
	return c.door != DoorSSH || c.principal.Token != ""
}

// Context ends when the connection must be closed. Its cause may be shown to the peer.
func (c *Conn) Context() context.Context { return c.ctx }

// Subscriber returns where the connection's writer pulls from.
func (c *Conn) Subscriber() *store.Subscriber { return c.sub }

// Shape returns how the negotiated version looks on the wire.
func (c *Conn) Shape() ahp.Shape { return c.version.Shape() }

// Initialized reports whether initialize or reconnect has succeeded.
func (c *Conn) Initialized() bool { return c.client != nil }

// End has the connection closed, and nothing that its peer still says counts. The cause is shown to
// the peer; that of the first call counts.
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
