package sshd

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"termhost/ahp/host"
	"termhost/authz"
	"termhost/authz/penalty"
)

// Startups bounds the connections that have not authenticated yet, as sshd's MaxStartups does: up
// to Start there is room for a new one; from there on Rate percent of the new ones are one too
// many, rising to all of them at Full. Unlike sshd, the host then drops not the new one but the one
// that has been silent for longest: an attacker's connections wait, an honest one gets on.
type Startups struct{ Start, Rate, Full int }

const (
	// startupsPerSource bounds the connections of one source that have not authenticated: more
	// than any person opens at once. Everybody on this machine, or forwarded through it, shares
	// its loopback addresses, for which there is no such bound.
	startupsPerSource = 10
	// ageWeight is how many seconds of its age make a startup as bad as one of silence: a byte now
	// and then does not keep it from being dropped.
	ageWeight = 8
)

// gate decides which connections may begin the handshake. Its methods may be called concurrently.
type gate struct {
	now  func() time.Time
	rand func(int) int

	mu        sync.Mutex // nothing is locked under it but penalties
	startups  Startups
	max       int
	total     int                     // connections that have authenticated
	pending   map[*admission]struct{} // those that have not
	sources   map[netip.Addr]int      // how many of these each source has
	penalties *penalty.Book
}

func newGate(cfg *Config) *gate {
	g := &gate{
		now:       cfg.Now,
		rand:      cfg.Rand,
		pending:   map[*admission]struct{}{},
		sources:   map[netip.Addr]int{},
		penalties: penalty.NewBook(cfg.Now),
	}
	g.configure(cfg)
	return g
}

// configure puts other limits in force. Without penalties, those that were earned are forgotten.
func (g *gate) configure(cfg *Config) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.startups, g.max = cfg.MaxStartups, cfg.MaxConnections
	g.penalties.SetOff(cfg.NoPenalties)
}

// admission is that of one connection. Its methods may be called concurrently.
type admission struct {
	gate   *gate
	source netip.Addr
	proven bool // another door had the peer prove who it is before it came
	since  time.Time
	heard  atomic.Int64 // when something came from the peer, as Unix nanoseconds

	// Guarded by gate.mu.
	drop    func() // closes the connection; it does not wait. nil: not known yet
	counted bool   // in gate.total
}

// admit lets a connection in, or says why not. A peer that is proven, a user of this machine by its
// uid, has nothing to guess: it counts neither as a startup nor for a source. If there are too many
// startups, another one is dropped.
func (g *gate) admit(remote net.Addr, proven bool) (a *admission, refusal string) {
	a = &admission{gate: g, proven: proven, since: g.now()}
	if proven {
		return a, ""
	}
	a.source = penalty.SourceOf(remote)
	a.heard.Store(a.since.UnixNano())
	g.mu.Lock()
	var victim *admission
	switch {
	case g.penalties.Refused(a.source):
		g.mu.Unlock()
		return nil, "too many failed logins from this address; wait a little"
	case !a.source.IsLoopback() && g.sources[a.source] >= startupsPerSource:
		victim = g.worstLocked(func(p *admission) bool { return p.source == a.source })
	case g.fullLocked():
		victim = g.worstLocked(func(*admission) bool { return true })
	}
	drop := func() {}
	if victim != nil {
		victim.settleLocked()
		drop = victim.drop
	}
	g.pending[a] = struct{}{}
	g.sources[a.source]++
	g.mu.Unlock()
	drop()
	return a, ""
}

// fullLocked decides whether one more startup is one too many.
func (g *gate) fullLocked() bool {
	s, n := g.startups, len(g.pending)
	switch {
	case n < s.Start:
		return false
	case n >= s.Full:
		return true
	}
	percent := s.Rate + (100-s.Rate)*(n-s.Start)/(s.Full-s.Start)
	return g.rand(100) < percent
}

// worstLocked returns the startup among some that has been silent for longest, or nil.
func (g *gate) worstLocked(among func(*admission) bool) (worst *admission) {
	now, longest := g.now(), time.Duration(-1)
	for p := range g.pending {
		if p.drop == nil || !among(p) {
			continue
		}
		bad := max(now.Sub(time.Unix(0, p.heard.Load())), now.Sub(p.since)/ageWeight)
		if bad > longest {
			worst, longest = p, bad
		}
	}
	return worst
}

// onDrop says how the connection is closed if there is no room for it any more.
func (a *admission) onDrop(drop func()) {
	a.gate.mu.Lock()
	defer a.gate.mu.Unlock()
	a.drop = drop
}

// hear notes that something has come from the peer.
func (a *admission) hear() { a.heard.Store(a.gate.now().UnixNano()) }

// authenticated says that the peer has proven to have a role, and reports whether there is room for
// it.
func (a *admission) authenticated(role authz.Role) bool {
	g := a.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	a.settleLocked()
	if !a.proven {
		g.penalties.Forgive(a.source)
	}
	if g.total >= host.Open(g.max, role) {
		return false
	}
	g.total++
	a.counted = true
	return true
}

// penalize has the source wait for d, in addition to what it has earned before.
func (a *admission) penalize(d time.Duration) {
	if !a.proven {
		a.gate.penalties.Add(a.source, d)
	}
}

// leave gives the place up.
func (a *admission) leave() {
	a.gate.mu.Lock()
	defer a.gate.mu.Unlock()
	a.settleLocked()
	if a.counted {
		a.counted = false
		a.gate.total--
	}
}

// settleLocked ends the connection's time as a startup.
func (a *admission) settleLocked() {
	g := a.gate
	if _, pending := g.pending[a]; !pending {
		return
	}
	delete(g.pending, a)
	if g.sources[a.source]--; g.sources[a.source] == 0 {
		delete(g.sources, a.source)
	}
}
