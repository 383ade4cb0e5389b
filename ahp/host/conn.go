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

// Conn is one transport of one principal. Its reader calls the verbs, one at a
// time; its writer pulls from Subscriber.
type Conn struct {
	host      *Host
	principal authz.Principal
	door      string
	sub       *store.Subscriber
	ctx       context.Context
	cancel    context.CancelCauseFunc
	expiry    *time.Timer

	// Set once, by the reader with initialize or reconnect, under Host.mu.
	client  *client
	version ahp.Version
}

// ErrClosed says that the host takes no more connections.
var ErrClosed = errors.New("the host is shutting down")

// Connect seats a transport that has proven to be p's. It returns an error if p
// is nobody any more. The Conn must be closed.
func (h *Host) Connect(p authz.Principal, door string) (*Conn, error) {
	now := h.now()
	if err := p.Valid(now); err != nil {
		return nil, err
	}
	c := &Conn{host: h, principal: p, door: door, sub: h.store.NewSubscriber(false)}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, ErrClosed
	}
	h.conns[c] = struct{}{}
	if !p.Expires.IsZero() {
		c.expiry = time.AfterFunc(p.Expires.Sub(now), func() { c.end(fmt.Errorf("%s has expired", p.Name)) })
	}
	return c, nil
}

// Principal returns whose connection this is.
func (c *Conn) Principal() authz.Principal { return c.principal }

// Context ends when the connection must be closed; its cause may be shown to
// the peer.
func (c *Conn) Context() context.Context { return c.ctx }

// Subscriber returns where the connection's writer pulls from.
func (c *Conn) Subscriber() *store.Subscriber { return c.sub }

// Shape returns the wire shape of the negotiated version.
func (c *Conn) Shape() ahp.Shape { return c.version.Shape() }

// Initialized reports whether initialize or reconnect has succeeded.
func (c *Conn) Initialized() bool { return c.client != nil }

// end has the transport closed for the given reason.
func (c *Conn) end(cause error) { c.cancel(cause) }

// Close gives the seat up. The clientId stays bound to the principal for a while.
func (c *Conn) Close() {
	c.cancel(errors.New("the connection was closed"))
	h := c.host
	h.mu.Lock()
	if c.expiry != nil {
		c.expiry.Stop()
	}
	delete(h.conns, c)
	synced := c.sub.Close()
	if c.client != nil && c.client.conn == c {
		c.client.conn = nil
		c.client.left = h.now()
		c.client.synced = synced
	}
	h.mu.Unlock()
}

// Revalidate asks still for every connected principal and ends the connections
// of those for which it returns an error, which their peers are shown.
func (h *Host) Revalidate(still func(authz.Principal) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.conns {
		if err := still(c.principal); err != nil {
			h.log.Info("connection ended", "principal", c.principal.Name, "door", c.door, "reason", err)
			c.end(err)
		}
	}
}

// CreatorOfSession returns the principal whose terminal runs the process session
// sid, for a peer of the unix socket that is one of our terminals' own.
func (h *Host) CreatorOfSession(sid int) (authz.Principal, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.order {
		if t.term.Pid() == sid {
			return t.creator, true
		}
	}
	return authz.Principal{}, false
}
