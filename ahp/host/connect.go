package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"termhost/authz"
)

// Connect is [Host.ConnectFrom] for a peer without an address.
func (h *Host) Connect(p authz.Principal, door string) (*Conn, error) {
	return h.ConnectFrom(p, door, authz.NewSource(nowhere{}, door))
}

// nowhere is the address of a peer in the same process.
type nowhere struct{}

func (nowhere) Network() string { return "" }

func (nowhere) String() string { return "" }

// ConnectFrom returns a Conn for a peer that has proven to be p; source is how the audit log names
// the peer. It returns an error if p has expired, ErrClosed, or a [*admit.QuotaError]. The Conn
// must be closed.
func (h *Host) ConnectFrom(
	p authz.Principal, door string, source authz.Source,
) (*Conn, error) {
	return h.connect(p, door, source, func(*Conn) {})
}

// connect is ConnectFrom. become is called when the connection has its place, and may change its
// principal; Host.mu is held.
func (h *Host) connect(
	p authz.Principal, name string, source authz.Source, become func(*Conn),
) (*Conn, error) {
	door, ok := authz.DoorNamed(name)
	if !ok {
		return nil, fmt.Errorf("host: %q is no door", name)
	}
	now := h.now()
	if err := p.Valid(now); err != nil {
		return nil, err
	}
	c := &Conn{
		host: h, principal: p, door: door, source: source,
		sub: h.store.NewSubscriber(false), since: now,
	}
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
	become(c)
	p = c.principal
	c.name = nameOf(p)
	c.sub.ReadAsks(c.audience().held)
	h.conns[c] = struct{}{}
	c.pace = h.paceLocked(p)
	c.addRootLocked()
	if door.Person {
		h.sshClientLocked(p).ssh++
		h.watchers.tellConns()
	}
	if !p.Expires.IsZero() {
		expired := func() { c.End(fmt.Errorf("%s has expired", p.Name)) }
		c.expiry = time.AfterFunc(p.Expires.Sub(now), expired)
	}
	return c, nil
}

// Prove sets the connection's proof, before the connection is used. When an owner's proof is
// withdrawn, terminals that wait for the owner end, and so do connections from inside the owner's
// terminals: see [Host.CreatorOf]. Two kinds of connections have no proof: those of the unix
// socket, whose peers stay who they are, and forwarded ones, whose terminals wait for no owner.
func (c *Conn) Prove(p Proof) {
	c.host.mu.Lock()
	defer c.host.mu.Unlock()
	c.proof = p
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
			h.withdrawRequests()
			h.watchers.tellConns()
		}
	}
	if c.door.Person || c.mcp != nil {
		cl := h.sshClientLocked(c.principal)
		cl.ssh--
		cl.left = h.now()
		h.watchers.tellConns()
	}
}

var errClosed = errors.New("the connection was closed")
