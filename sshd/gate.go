package sshd

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// Startups bounds the connections that have not authenticated yet, as sshd's
// MaxStartups does: below Start none is refused; from there on Rate percent of
// the new ones are, rising to all of them at Full.
type Startups struct{ Start, Rate, Full int }

const (
	// startupsPerSource bounds the connections of one source that have not
	// authenticated: more than any person opens at once.
	startupsPerSource = 10
	// sourceBits6 is the part of an IPv6 address that is one source: what a
	// provider gives to one customer (RFC 6177).
	sourceBits6 = 64
)

// Penalties, as sshd's PerSourcePenalties has them. They add up while they run;
// a source is refused once it has earned penaltyMin, until they have passed.
const (
	penaltyNoAuth  = 1 * time.Second  // went away without trying a key
	penaltyAuth    = 5 * time.Second  // tried keys and had none that fits
	penaltyTimeout = 10 * time.Second // let the handshake time out
	penaltyMin     = 15 * time.Second
	penaltyMax     = 10 * time.Minute
	// penaltyMinLoopback is penaltyMin for a loopback address, which is everybody
	// here: somebody who tries some wrong keys must not lock the others out.
	penaltyMinLoopback = 60 * time.Second
	// penaltyLoopback is how long a loopback address waits: it may be
	// everybody who uses this machine, or who is forwarded through it.
	penaltyLoopback = 5 * time.Second
	// maxPenalized bounds the sources that are remembered, 100 bytes each.
	maxPenalized = 10_000
)

// gate decides which connections may begin the handshake. Its methods may be
// called concurrently.
type gate struct {
	startups    Startups
	max         int
	noPenalties bool
	now         func() time.Time
	rand        func(int) int

	mu        sync.Mutex // a leaf
	total     int        // connections
	pending   int        // of them, not authenticated
	sources   map[netip.Addr]int
	penalties map[netip.Addr]penalty
}

// penalty is what a source has earned.
type penalty struct {
	until   time.Time
	refused bool // it has earned enough to be refused until then
}

func newGate(cfg *Config) *gate {
	return &gate{startups: cfg.MaxStartups, max: cfg.MaxConnections, noPenalties: cfg.NoPenalties, now: cfg.Now,
		rand: cfg.Rand, sources: map[netip.Addr]int{}, penalties: map[netip.Addr]penalty{}}
}

// ticket is one connection's admission. All methods are called by the
// connection's own goroutine.
type ticket struct {
	gate    *gate
	source  netip.Addr
	known   bool // the peer has proven who it is before it came
	pending bool
}

// admit lets a connection in, or says why not. One whose peer is known, a user of
// this machine by its uid, has nothing to guess: it is no startup, and no source.
func (g *gate) admit(remote net.Addr, known bool) (t *ticket, refusal string) {
	source := sourceOf(remote)
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case known && g.total < g.max:
		g.total++
		return &ticket{gate: g, known: true}, ""
	case !known && g.refusedLocked(source):
		return nil, "too many failed logins from this address; wait a little"
	case g.total >= g.max:
		return nil, "too many connections; close some"
	case g.sources[source] >= startupsPerSource || g.dropLocked():
		return nil, "too many logins at once; try again"
	}
	g.total++
	g.pending++
	g.sources[source]++
	return &ticket{gate: g, source: source, pending: true}, ""
}

// dropLocked decides whether one more startup is one too many.
func (g *gate) dropLocked() bool {
	s := g.startups
	switch {
	case g.pending < s.Start:
		return false
	case g.pending >= s.Full:
		return true
	}
	percent := s.Rate + (100-s.Rate)*(g.pending-s.Start)/(s.Full-s.Start)
	return g.rand(100) < percent
}

func (g *gate) refusedLocked(source netip.Addr) bool {
	p, ok := g.penalties[source]
	if !ok {
		return false
	}
	if !g.now().Before(p.until) {
		delete(g.penalties, source)
		return false
	}
	return p.refused
}

// authenticated says that the peer has proven who it is.
func (t *ticket) authenticated() {
	t.gate.mu.Lock()
	defer t.gate.mu.Unlock()
	t.settleLocked()
	if !t.known {
		delete(t.gate.penalties, t.source)
	}
}

// penalize has the source wait for d, together with what it has earned before.
func (t *ticket) penalize(d time.Duration) {
	g := t.gate
	if g.noPenalties || t.known || d == 0 {
		return
	}
	now := g.now()
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.penalties[t.source]
	if p.until.Before(now) {
		p = penalty{until: now}
	}
	p.until = p.until.Add(d)
	if limit := now.Add(penaltyMax); p.until.After(limit) {
		p.until = limit
	}
	enough := penaltyMin
	if t.source.IsLoopback() {
		enough = penaltyMinLoopback
	}
	if p.refused || p.until.Sub(now) >= enough {
		p.refused = true
		if t.source.IsLoopback() {
			p.until = now.Add(penaltyLoopback)
		}
	}
	if _, known := g.penalties[t.source]; !known && len(g.penalties) >= maxPenalized {
		g.forgetLocked(now)
	}
	g.penalties[t.source] = p
}

// forgetLocked makes room: what has passed goes, or else any one.
func (g *gate) forgetLocked(now time.Time) {
	var victim netip.Addr
	for source, p := range g.penalties {
		victim = source
		if !now.Before(p.until) {
			delete(g.penalties, source)
		}
	}
	if len(g.penalties) >= maxPenalized {
		delete(g.penalties, victim)
	}
}

// leave gives the place up.
func (t *ticket) leave() {
	t.gate.mu.Lock()
	defer t.gate.mu.Unlock()
	t.settleLocked()
	t.gate.total--
}

func (t *ticket) settleLocked() {
	if !t.pending {
		return
	}
	t.pending = false
	g := t.gate
	g.pending--
	if g.sources[t.source]--; g.sources[t.source] == 0 {
		delete(g.sources, t.source)
	}
}

// sourceOf returns what counts as one source; the zero Addr for a peer without
// an IP address.
func sourceOf(remote net.Addr) netip.Addr {
	tcp, ok := remote.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	addr := tcp.AddrPort().Addr().Unmap().WithZone("")
	if addr.Is6() && !addr.IsLoopback() {
		if p, err := addr.Prefix(sourceBits6); err == nil {
			return p.Addr()
		}
	}
	return addr
}
