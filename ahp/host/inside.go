package host

import (
	"errors"
	"net"
	"net/netip"
	"sync"

	"termhost/ptypool"
)

// Inside reports whether the peer of a TCP connection between local, which is ours, and remote is a
// process inside one of the host's terminals, or one that such a terminal has left running. It is
// asked once for a connection, when the peer has shown credentials. Any program of a terminal may
// use a key that its user may read, so such a peer may be an agent: see
// [authz.Principal]'s Inside.
//
// What the host itself forwards for a peer inside is that peer's: see [Host.Relay]. A process
// outside that passes bytes on for one inside is not seen through: a master connection of ssh
// (ControlMaster) that a person has outside, a proxy, what cron or a service manager starts.
func (h *Host) Inside(local, remote net.Addr) bool {
	l, ok := local.(*net.TCPAddr)
	r, is := remote.(*net.TCPAddr)
	if !ok || !is {
		return false
	}
	if h.relays.has(r) {
		return true
	}
	marker, err := h.pool.FindPeer(l, r)
	switch {
	case errors.Is(err, ptypool.ErrSearch): // which the peer may have seen to
		h.log.Warn("a peer of this machine counts as a process inside a terminal",
			"remote", remote.String(), "err", err)
		return true
	case err != nil:
		h.log.Warn("a peer counts as a process outside of all terminals: nobody can tell",
			"remote", remote.String(), "err", err)
	}
	return marker != ""
}

// relays are the connections that the host has opened for peers inside, by their own addresses.
type relays struct {
	mu    sync.Mutex // a leaf
	conns map[netip.AddrPort]struct{}
}

// Relay says that c, a connection that the host has opened and nothing has been written to, is to
// carry what a peer inside sends. If it leads to a door of the host, the peer there counts as
// inside, until over is called. It knows TCP connections only.
func (h *Host) Relay(c net.Conn) (over func()) {
	local, ok := c.LocalAddr().(*net.TCPAddr)
	if !ok {
		return func() {}
	}
	rs, at := &h.relays, unmapped(local)
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.conns == nil {
		rs.conns = map[netip.AddrPort]struct{}{}
	}
	rs.conns[at] = struct{}{}
	return func() {
		rs.mu.Lock()
		defer rs.mu.Unlock()
		delete(rs.conns, at)
	}
}

// has reports whether a peer's address is that of such a connection.
func (rs *relays) has(peer *net.TCPAddr) bool {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	_, is := rs.conns[unmapped(peer)]
	return is
}

// unmapped returns an address as either end of a connection has it, also if one listens for IPv4
// and IPv6 at once.
func unmapped(a *net.TCPAddr) netip.AddrPort {
	at := a.AddrPort()
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}
