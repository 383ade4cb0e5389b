package admit

import (
	"sync"
	"time"
)

// What a source earns, as with sshd's PerSourcePenalties. It adds up while it runs.
const (
	DroppedPenalty = 1 * time.Second  // it stood in the way of others who wanted to log in
	NoAuthPenalty  = 1 * time.Second  // it went away without trying to log in
	AuthPenalty    = 5 * time.Second  // its keys or its token are not good
	TimeoutPenalty = 10 * time.Second // it let the handshake time out
)

const (
	// MinPenalty is what a source must have earned to be refused until that has passed: two
	// failures are a person's mistake.
	MinPenalty = 15 * time.Second
	// maxPenalty is the longest that a source waits.
	maxPenalty = 10 * time.Minute
	// maxPenalized bounds the sources that are remembered, 100 bytes each.
	maxPenalized = 10_000
)

// Penalties are what sources have earned by failing to log in. A source that many people share is
// never refused, and one without an address earns nothing. The methods may be called concurrently.
type Penalties struct {
	now func() time.Time

	mu      sync.Mutex // nothing is locked under it
	off     bool
	sources map[Source]earned
}

// earned is what a source has earned.
type earned struct {
	until   time.Time
	refused bool // it is enough to be refused until then
}

// NewPenalties returns Penalties that nobody has earned yet. now is time.Now outside tests.
func NewPenalties(now func() time.Time) *Penalties {
	return &Penalties{now: now, sources: map[Source]earned{}}
}

// SetOff has the Penalties forget everything and take nothing down, or take it down again.
func (p *Penalties) SetOff(off bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.off = off; off {
		clear(p.sources)
	}
}

// Refused reports whether a source has to wait.
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

// Owes returns for how long what a source has earned will run.
func (p *Penalties) Owes(source Source) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(p.sources[source].until.Sub(p.now()), 0)
}

// Add has the source wait for d, in addition to what it has earned before.
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

// Forgive forgets what a source has earned.
func (p *Penalties) Forgive(source Source) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sources, source)
}

// forgetLocked makes room. What has passed goes; if there is nothing, any source does.
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
