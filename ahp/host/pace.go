package host

import (
	"context"
	"sync"
	"time"

	"termhost/authz"
)

// A peer costs time with each byte and each frame that it sends, whatever becomes of them. So the
// connections of one account are read at a pace, together: beyond it they are read later. Admins
// have none.

const (
	// paceBytes is how many bytes a second are read from one account, on average: what an agent
	// sends takes some hundred, and decoding them a tenth of a core. As many may come at once.
	paceBytes = 8 << 20
	// paceMessages is how many messages and control frames; requests_per_second bounds each
	// connection besides.
	paceMessages = 4000
	// maxLarge is how many answers with the states of terminals, of some MiB each, are being
	// written to an account's connections at once. A peer that takes nothing keeps its place until
	// its connection counts as stalled.
	maxLarge = 4
	// maxReadings is how many logs and recordings are being read for an account at once, each of
	// which takes as much memory as it is large, and more where its lines are counted.
	maxReadings = 2
	// readingTime is how long a reader waits for others to end.
	readingTime = 10 * time.Second
	// paceMemory is how long the pace of an account without connections is remembered, so that
	// nobody gets a full bucket by coming back. By then it is full again.
	paceMemory = 10 * time.Second
)

// Pace is that of one account. Its methods may be called concurrently.
type Pace struct {
	large    chan struct{} // holds one for each large answer that is being written
	readings chan struct{} // holds one for each log or recording that is being read

	mu              sync.Mutex // no other lock is taken while it is held
	at              time.Time  // when what follows was true
	bytes, messages float64    // what may come at once; below zero: what is still owed
}

// owe charges for what has come and returns for how long nothing more is to be read.
func (p *Pace) owe(bytes, messages float64, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	passed := now.Sub(p.at).Seconds()
	p.at = now
	p.bytes = min(p.bytes+passed*paceBytes, paceBytes) - bytes
	p.messages = min(p.messages+passed*paceMessages, paceMessages) - messages
	late := max(-p.bytes/paceBytes, -p.messages/paceMessages)
	return time.Duration(late * float64(time.Second))
}

// Pace charges the connection's account for bytes and messages that have come, and waits as long as
// nothing more is to be read from it. An error is ctx's cause.
func (c *Conn) Pace(ctx context.Context, bytes int, messages float64) error {
	if c.pace == nil {
		return nil
	}
	return Pause(ctx, c.pace.owe(float64(bytes), messages, time.Now()))
}

// WaitLarge returns when the connection may write an answer that is large; release must be called
// when that is written. An error is ctx's cause.
func (c *Conn) WaitLarge(ctx context.Context) (release func(), err error) {
	if c.pace == nil {
		return func() {}, nil
	}
	select {
	case c.pace.large <- struct{}{}:
		return func() { <-c.pace.large }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// WaitReading returns when the connection may read a log or a recording; release must be called
// when nothing of it is in memory any more, and may be called again. It waits for other readers of
// the account for readingTime. An error is a [*QuotaError] or ctx's cause.
func (c *Conn) WaitReading(ctx context.Context) (release func(), err error) {
	if c.pace == nil {
		return func() {}, nil
	}
	late := time.NewTimer(readingTime)
	defer late.Stop()
	select {
	case c.pace.readings <- struct{}{}:
		return sync.OnceFunc(func() { <-c.pace.readings }), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-late.C:
		return nil, &QuotaError{"logs and recordings that are being read", maxReadings, true}
	}
}

// paceLocked returns the pace of p's account; nil: it has none.
func (h *Host) paceLocked(p authz.Principal) *Pace {
	if p.Role == authz.Admin {
		return nil
	}
	pace := h.paces[p.Account()]
	if pace == nil {
		pace = &Pace{large: make(chan struct{}, maxLarge),
			readings: make(chan struct{}, maxReadings), at: time.Now(),
			bytes: paceBytes, messages: paceMessages}
		h.paces[p.Account()] = pace
	}
	return pace
}

// forgetPacesLocked forgets those of accounts without connections.
func (h *Host) forgetPacesLocked() {
	used := map[string]bool{}
	for c := range h.conns {
		used[c.principal.Account()] = true
	}
	for account, p := range h.paces {
		p.mu.Lock()
		old := time.Since(p.at) >= paceMemory
		p.mu.Unlock()
		if old && !used[account] {
			delete(h.paces, account)
		}
	}
}
