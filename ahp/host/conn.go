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
// time; its writer pulls from Subscriber. Once its context has ended, every verb
// refuses: nothing that its peer still says counts.
type Conn struct {
	host      *Host
	principal authz.Principal
	door      string
	sub       *store.Subscriber
	ctx       context.Context
	cancel    context.CancelCauseFunc
	expiry    *time.Timer
	track     Proof // see Prove; nil: none

	// Set once, by the reader with initialize or reconnect, under Host.mu.
	client  *client
	version ahp.Version
}

// ErrClosed refuses connections and terminals, and ends connections, while the
// host goes down.
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
	if door == DoorSSH {
		h.sshClientLocked(p).ssh++
	}
	if !p.Expires.IsZero() {
		c.expiry = time.AfterFunc(p.Expires.Sub(now), func() { c.End(fmt.Errorf("%s has expired", p.Name)) })
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

// End has the transport closed and refuses what its peer still says. The cause
// is shown to the peer; the first one counts.
func (c *Conn) End(cause error) { c.cancel(cause) }

// ended is the refusal of a connection whose context has ended.
func (c *Conn) ended() *ahp.Error {
	return ahp.NewError(ahp.CodeNotPermitted, context.Cause(c.ctx).Error(), "rule", "the connection has ended")
}

// Close gives the seat up. The clientId stays bound to the principal for a
// while. It may be called again.
func (c *Conn) Close() {
	c.cancel(errClosed)
	h := c.host
	then := func() {}
	defer func() { then() }()
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, open := h.conns[c]; !open {
		return
	}
	delete(h.conns, c)
	if c.expiry != nil {
		c.expiry.Stop()
	}
	synced := c.sub.Close()
	if c.client != nil && c.client.conn == c {
		c.client.conn = nil
		c.client.left = h.now()
		c.client.synced = synced
		then = h.leaveLocked(c)
	}
	if c.door == DoorSSH {
		cl := h.sshClientLocked(c.principal)
		cl.ssh--
		cl.left = h.now()
	}
}

var errClosed = errors.New("the connection was closed")
