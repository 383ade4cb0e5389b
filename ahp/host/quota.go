package host

import (
	"fmt"

	"termhost/authz"
	"termhost/ptypool"
)

// Whoever has no say here must not be able to keep others out. So the connections and the terminals
// of one account, which are those of a key, its tokens and its guests together, are bounded, and
// some of what there may be in all is kept for admins. An admin may use all, unless its
// [[principal]] says otherwise.

const (
	// defaultConnections is how many connections of a kind a door lets in unless it says otherwise.
	defaultConnections = 1000
	// share is the part of all connections or terminals that one account may have, below an admin.
	share = 4
	// leastShare is how many it may have in any case, so that small limits are not made smaller.
	leastShare = 16
	// reserve is the part that is for admins only.
	reserve = 16
)

// QuotaError says that somebody has as many of something as one account may have.
type QuotaError struct {
	What  string // as it is counted, such as "terminals"
	Limit int
	// Own: it is the account's own limit. Otherwise others have the rest, but for what admins need.
	Own bool
}

func (e *QuotaError) Error() string {
	if !e.Own {
		return fmt.Sprintf("there are %d %s, and the rest is for admins", e.Limit, e.What)
	}
	return fmt.Sprintf("this key, with its tokens and guests, has %d %s already", e.Limit, e.What)
}

// Open returns how many of most connections or terminals principals of a role may take before they
// are refused: all, or what is left without the reserve.
func Open(most int, role authz.Role) int {
	if role < authz.Admin {
		return most - most/reserve
	}
	return most
}

// shareOf returns how many of most the account of p may have. set is what its [[principal]] says,
// or 0. all: it may have all that there may be.
func shareOf(most, set int, p authz.Principal) (limit int, all bool) {
	if set > 0 {
		return set, false
	}
	limit = max(leastShare, most/share)
	return limit, p.Role == authz.Admin || limit >= most
}

// counts reports whether what other has counts against the share of p: an admin's own use does not
// keep out its tokens and guests.
func counts(p, other authz.Principal, set int) bool {
	return other.Account() == p.Account() && (set > 0 || other.Role < authz.Admin)
}

// admitLocked refuses a connection that is one too many for its account. SSH connections are
// counted apart from the peers of AHP.
func (h *Host) admitLocked(p authz.Principal, door string) error {
	what, most := "WebSockets", h.cfg().MaxWebSockets
	if door == DoorSSH {
		what, most = "SSH connections", h.cfg().MaxConnections
	}
	if most <= 0 {
		most = defaultConnections
	}
	limit, all := shareOf(most, p.Limits.Connections, p)
	if all {
		return nil
	}
	mine := 0
	for c := range h.conns {
		same := (c.door == DoorSSH) == (door == DoorSSH)
		if same && counts(p, c.principal, p.Limits.Connections) {
			mine++
		}
	}
	if mine >= limit {
		return &QuotaError{what, limit, true}
	}
	return nil
}

// mayCreateLocked refuses a terminal that is one too many for its creator.
func (h *Host) mayCreateLocked(p authz.Principal) error {
	most := h.cfg().MaxTerminals
	if most <= 0 {
		most = ptypool.DefaultMaxTerminals
	}
	limit, all := shareOf(most, p.Limits.Terminals, p)
	mine, running := 0, 0
	for _, t := range h.names {
		if t.exitedNow() {
			continue
		}
		running++
		if counts(p, t.creator, p.Limits.Terminals) {
			mine++
		}
	}
	open := Open(most, p.Role)
	switch {
	case mine >= limit && !all:
		return &QuotaError{"terminals", limit, true}
	case running >= open && open < most:
		return &QuotaError{"terminals", open, false}
	}
	return nil
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
