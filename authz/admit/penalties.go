package admit

import (
	"sync"
	"time"
)

// The penalties of a source, as sshd's PerSourcePenalties. They add up.
const (
	DroppedPenalty = 1 * time.Second  // it was dropped because others wanted to log in
	NoAuthPenalty  = 1 * time.Second  // it disconnected without trying to log in
	AuthPenalty    = 5 * time.Second  // its keys or its token were refused
	TimeoutPenalty = 10 * time.Second // its handshake timed out
)

const (
	// MinPenalty is the penalty from which on a source is refused, until it has passed: two
	// failures are a person's mistake.
	MinPenalty = 15 * time.Second
	// maxPenalty bounds a source's penalty.
	maxPenalty = 10 * time.Minute
	// maxPenalized bounds the sources that are remembered, 100 bytes each.
	maxPenalized = 10_000
)

// Penalties are the penalties of sources whose logins have failed. A shared source is never
// refused, and one without an address gets none. The methods may be called concurrently.
type Penalties struct {
	now func() time.Time

	mu      sync.Mutex // nothing is locked under it
	off     bool
	sources map[Source]earned
}

// earned is the penalty of a source.
type earned struct {
	until   time.Time
	refused bool // it has reached MinPenalty
}

// NewPenalties returns Penalties without any. now is time.Now outside tests.
func NewPenalties(now func() time.Time) *Penalties {
	return &Penalties{now: now, sources: map[Source]earned{}}
}

// SetOff turns the Penalties off, which clears them, or on again.
func (p *Penalties) SetOff(off bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.off = off; off {
		clear(p.sources)
	}
}

// Refused reports whether the source is refused now.
func (p *Penalties) Refused(source Source) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ok := p.sources[source]
	if ok && !p.now().Before(e.until) {
		delete(p.sources, source)
		return false
	}
	return e.refused && !source.shared()
}

// Owes returns how long the source's penalty still lasts.
func (p *Penalties) Owes(source Source) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(p.sources[source].until.Sub(p.now()), 0)
}

// Add adds d to the source's penalty.
func (p *Penalties) Add(source Source, d time.Duration) {
	if d == 0 || !source.addr.IsValid() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.off {
		return
	}
	now := p.now()
	e, known := p.sources[source]
	if e.until.Before(now) {
		e = earned{until: now}
	}
	e.until = e.until.Add(d)
	if limit := now.Add(maxPenalty); e.until.After(limit) {
		e.until = limit
	}
	e.refused = e.refused || e.until.Sub(now) >= MinPenalty
	if !known && len(p.sources) >= maxPenalized {
		p.forgetLocked(now)
	}
	p.sources[source] = e
}

// Forgive clears the source's penalty.
func (p *Penalties) Forgive(source Source) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sources, source)
}

// forgetLocked makes room: it deletes expired penalties, or if there are none, any one.
func (p *Penalties) forgetLocked(now time.Time) {
	var victim Source
	for source, e := range p.sources {
		victim = source
		if !now.Before(e.until) {
			delete(p.sources, source)
		}
	}
	if len(p.sources) >= maxPenalized {
		delete(p.sources, victim)
	}
}
