package host

import (
	"sync"

	"termhost/ahp"
	"termhost/ahp/store"
)

// FleetList is the root's list of one principal in a fleet: this host's terminals, and behind them
// those of other hosts. Its methods may be called concurrently.
type FleetList struct {
	root      *store.Channel
	publisher listPublisher

	mu        sync.Mutex // a leaf
	elsewhere []ahp.TerminalInfo
}

// SetFleet sets the host's name in its fleet, which its terminals have in their _meta; "": it is in
// none any more.
func (h *Host) SetFleet(name string) {
	h.store.SetHost(name)
	h.list.changed()
}

// FleetName returns the host's name in its fleet; "": it is in none.
func (c *Conn) FleetName() string { return c.host.store.Host() }

// OwnURI returns the URI that a terminal of this host has if a peer names it by the host's name in
// its fleet, as ahp-terminal://box2/NAME on box2. Other references stay as they are, and so does
// one to a terminal that really has such a URI.
func (h *Host) OwnURI(ref string) string {
	on, uri, ok := ahp.SplitFleetURI(ref)
	if !ok || on != h.store.Host() {
		return ref
	}
	if name, _ := ahp.NormalizeChannel(ref); h.lookup(name) != nil {
		return ref
	}
	return uri
}

// ChannelURI returns the one spelling that this host uses for a channel, as
// [ahp.NormalizeChannel] does, and for its own terminals as [Host.OwnURI] does.
func (c *Conn) ChannelURI(ref string) (string, bool) {
	return ahp.NormalizeChannel(c.host.OwnURI(ref))
}

// NewFleetList returns a list without terminals of other hosts. It must be closed.
func (h *Host) NewFleetList() *FleetList {
	l := &FleetList{root: h.store.AddFleetRoot()}
	l.publisher.publish = func() {
		l.mu.Lock()
		list := l.elsewhere
		l.mu.Unlock()
		l.root.SetElsewhere(list)
	}
	return l
}

// Set replaces the terminals of other hosts. list must not be modified afterwards. It is published
// as the host's own terminals are.
func (l *FleetList) Set(list []ahp.TerminalInfo) {
	l.mu.Lock()
	l.elsewhere = list
	l.mu.Unlock()
	l.publisher.changed()
}

// Flush publishes what was set last, if that is due.
func (l *FleetList) Flush() { l.publisher.flush() }

// Close ends the list. No connection may follow it any more.
func (l *FleetList) Close() {
	l.publisher.stop()
	l.root.Remove()
}

// FollowFleet has the connection's root be a list of its principal; nil: that of the host alone. If
// the peer follows the root, it gets the whole list. The root of a guest or of a link stays.
func (c *Conn) FollowFleet(l *FleetList) {
	if c.principal.Bounded() {
		return
	}
	root := c.host.store.Root()
	if l != nil {
		root = l.root
	}
	c.root.Store(root)
	c.sub.MoveRoot(root)
}

// settleRoot moves a subscription that has begun while [Conn.FollowFleet] was called.
func (c *Conn) settleRoot() { c.sub.MoveRoot(c.root.Load()) }
