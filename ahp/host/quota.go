package host

import (
	"termhost/authz"
	"termhost/authz/admit"
	"termhost/ptypool"
)

// The connections, terminals and programs of one account, which are those of a key, its tokens and
// its guests together, are bounded, and some of what there may be in all is kept for admins. An
// admin may use all, unless its [[principal]] says otherwise: see [admit.Places].

const (
	// defaultConnections is how many connections of a kind a door lets in unless it says otherwise.
	defaultConnections = 1000
	// maxTransfers bounds the programs that serve files, of all keys together. Each has 2 MB for
	// itself while it is idle.
	maxTransfers = 128
)

// connectionPlaces returns where a connection by a door is counted, and the limit for p. SSH
// connections are counted apart from the peers of AHP. The doors bound those of all accounts.
func (h *Host) connectionPlaces(
	p authz.Principal, door authz.Door,
) (*admit.Places, admit.Limit) {
	places, what, most := &h.peers, "WebSockets", h.cfg().MaxWebSockets
	if door.Person {
		places, what, most = &h.logins, "SSH connections", h.cfg().MaxConnections
	}
	if most <= 0 {
		most = defaultConnections
	}
	return places, admit.Limit{What: what, Each: admit.Share(most), Own: p.Limits.Connections}
}

// terminalLimit returns how many terminals, or other programs like them, there may be for p. The
// pool bounds the terminals of all accounts.
func (h *Host) terminalLimit(p authz.Principal, what string) admit.Limit {
	most := h.cfg().MaxTerminals
	if most <= 0 {
		most = ptypool.DefaultMaxTerminals
	}
	return admit.Limit{What: what, Most: most, Each: admit.Share(most), Own: p.Limits.Terminals}
}

// mayCreateLocked refuses a terminal that is one too many for its creator.
func (h *Host) mayCreateLocked(p authz.Principal) error {
	var running admit.Taken
	for _, t := range h.names {
		if !t.exitedNow() {
			running.Count(p, t.origin.creator)
		}
	}
	return running.Room(p, h.terminalLimit(p, "terminals"))
}

// processPlaces returns where a program on pipes is counted that needs a verb, and the limit for p:
// there may be as many commands as terminals.
func (h *Host) processPlaces(p authz.Principal, what authz.Verb) (*admit.Places, admit.Limit) {
	if what == authz.Files {
		return &h.transfers, admit.Limit{What: "file transfers", Most: maxTransfers, Bound: true,
			Each: admit.Share(maxTransfers)}
	}
	return &h.commands, h.terminalLimit(p, "commands")
}

// AccountSubscriptions returns how many channels the connections of c's account follow together.
func (c *Conn) AccountSubscriptions() int {
	h := c.host
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for other := range h.conns {
		if other.principal.Account() == c.principal.Account() {
			n += other.sub.Count()
		}
	}
	return n
}
