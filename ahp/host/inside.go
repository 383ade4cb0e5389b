package host

import (
	"net"
	"net/netip"
	"sync"

	"termhost/authz"
)

// Inside reports whether the peer of a TCP connection is a process inside one of the host's
// terminals, or one that such a terminal has left running. Every peer of this machine counts as
// such unless a process outside of all terminals is found that has its socket. local is the host's
// address and remote the peer's. Doors call it once for a connection, when the peer has shown
// credentials. Any program in a terminal may use a key that its user may read, so such a peer may
// be an agent: see
// [authz.Principal]'s Inside.
//
// A connection that the host forwards for a peer inside counts as inside: see [Host.Relay]. Inside
// does not detect a process outside that passes bytes on for one inside: a person's master
// connection of ssh (ControlMaster), a proxy, what cron or a service manager starts.
func (h *Host) Inside(local, remote net.Addr) bool {
	inside, _ := h.Within(local, remote)
	return inside
}

// Within is Inside, and returns the marker of the terminal as well; "": it is not known.
func (h *Host) Within(local, remote net.Addr) (inside bool, marker string) {
	l, ok := local.(*net.TCPAddr)
	r, is := remote.(*net.TCPAddr)
	if !ok || !is {
		return false, ""
	}
	if marker, is := h.relays.has(r); is {
		return true, marker
	}
	marker, err := h.pool.FindPeer(l, r)
	if err != nil { // the peer may have caused it
		h.log.Warn("a peer of this machine counts as a process inside a terminal",
			"remote", remote.String(), "err", err)
	}
	return err != nil || marker != "", marker
}

// Counts returns whom p counts as, who comes from inside the terminal of a marker with credentials
// of its own; "": it is inside, and the terminal is not known. An agent's programs may read its
// user's keys, but none of these makes them more than the agent, nor does hiding from what terminal
// they come: see [authz.Principal.StartedBy].
func (h *Host) Counts(p authz.Principal, marker string) authz.Principal {
	return p.StartedBy(h.creators.of(marker).principal)
}

// relays has the connections that the host has opened for peers inside, by their local addresses.
type relays struct {
	mu    sync.Mutex                // no other lock is taken while it is held
	conns map[netip.AddrPort]string // with the peers' markers
}

// Relay registers c, a connection that the host has opened to forward what a peer inside sends,
// before anything is written to it. If c leads to a door of the host, its peer there counts as
// inside until over is called. within is the marker of its terminal. Relay handles TCP connections
// only.
func (h *Host) Relay(c net.Conn, within string) (over func()) {
	local, ok := c.LocalAddr().(*net.TCPAddr)
	if !ok {
		return func() {}
	}
	rs, at := &h.relays, unmapped(local)
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.conns == nil {
		rs.conns = map[netip.AddrPort]string{}
	}
	rs.conns[at] = within
	return func() {
		rs.mu.Lock()
		defer rs.mu.Unlock()
		delete(rs.conns, at)
	}
}

// has reports whether a peer's address is that of a registered connection, and whose.
func (rs *relays) has(peer *net.TCPAddr) (marker string, is bool) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	marker, is = rs.conns[unmapped(peer)]
	return marker, is
}

// unmapped returns an address in the form that both ends of a connection agree on, even if one of
// them listens for IPv4 and IPv6 at once.
func unmapped(a *net.TCPAddr) netip.AddrPort {
	at := a.AddrPort()
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}
