// Package penalty has sources of failed logins wait, as sshd's PerSourcePenalties does. What a
// source has earned adds up while it runs. One that has earned Min is refused until that has
// passed. Loopback addresses are never refused: they stand for everybody who uses this machine, is
// forwarded through it, or comes by a proxy on it.
package penalty

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// What a source earns.
const (
	NoAuth  = 1 * time.Second  // it went away without trying to log in
	Auth    = 5 * time.Second  // its keys or its token are not good
	Timeout = 10 * time.Second // it let the handshake time out
)

const (
	// Min is what a source must have earned to be refused: two failures are a person's mistake.
	Min = 15 * time.Second
	// most is the longest that a source waits.
	most = 10 * time.Minute
	// maxSources bounds the sources that are remembered, 100 bytes each.
	maxSources = 10_000
	// sourceBits6 is the part of an IPv6 address that is one source: what a provider gives to one
	// customer (RFC 6177).
	sourceBits6 = 64
)

// SourceOf returns what counts as one source; the zero Addr for a peer without an IP address.
func SourceOf(remote net.Addr) netip.Addr {
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

// Book has what sources have earned. Its methods may be called concurrently.
type Book struct {
	now func() time.Time

	mu      sync.Mutex // nothing is locked under it
	off     bool
	sources map[netip.Addr]earned
}

// earned is what a source has earned.
type earned struct {
	until   time.Time
	refused bool // it is enough to be refused until then
}

// NewBook returns an empty Book. now is time.Now outside tests.
func NewBook(now func() time.Time) *Book {
	return &Book{now: now, sources: map[netip.Addr]earned{}}
}

// SetOff has the Book forget everything and take nothing down, or take it down again.
func (b *Book) SetOff(off bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.off = off; off {
		clear(b.sources)
	}
}

// Refused reports whether a source has to wait.
func (b *Book) Refused(source netip.Addr) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, ok := b.sources[source]
	if ok && !b.now().Before(e.until) {
		delete(b.sources, source)
		return false
	}
	return e.refused && !source.IsLoopback()
}

// Owes returns for how long what a source has earned will run.
func (b *Book) Owes(source netip.Addr) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(b.sources[source].until.Sub(b.now()), 0)
}

// Add has the source wait for d, in addition to what it has earned before.
func (b *Book) Add(source netip.Addr, d time.Duration) {
	if d == 0 || !source.IsValid() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.off {
		return
	}
	now := b.now()
	e, known := b.sources[source]
	if e.until.Before(now) {
		e = earned{until: now}
	}
	e.until = e.until.Add(d)
	if limit := now.Add(most); e.until.After(limit) {
		e.until = limit
	}
	e.refused = e.refused || e.until.Sub(now) >= Min
	if !known && len(b.sources) >= maxSources {
		b.forgetLocked(now)
	}
	b.sources[source] = e
}

// Forgive forgets what a source has earned.
func (b *Book) Forgive(source netip.Addr) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.sources, source)
}

// forgetLocked makes room. What has passed goes; if there is nothing, any source does.
func (b *Book) forgetLocked(now time.Time) {
	var victim netip.Addr
	for source, e := range b.sources {
		victim = source
		if !now.Before(e.until) {
			delete(b.sources, source)
		}
	}
	if len(b.sources) >= maxSources {
		delete(b.sources, victim)
	}
}
