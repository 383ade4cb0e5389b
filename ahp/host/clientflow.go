package host

import (
	"context"
	"fmt"
	"sync"
	"time"

	"termhost/ahp"
)

// flow is how fast a clientId may send what its client-executed terminals show,
// output, command lines and titles: a bucket that fills at the configured rate. Who
// draws more than is there is served, and then read later. It outlives connections,
// so that nobody gets a full bucket by coming back.
type flow struct {
	mu   sync.Mutex // a leaf
	left float64    // bytes; below zero: it has to wait
	at   time.Time  // when left was true; zero: the bucket is full
	told bool       // the owner knows; until the bucket is full again
}

// flowBurst is how many seconds' worth of output the bucket holds: what a build
// prints in one go passes at once.
const flowBurst = 4

// take draws n bytes of output. notice is what the owner is to be told; "": nothing.
func (f *flow) take(n, rate int, now time.Time) (notice string) {
	f.draw(n, rate, now)
	f.mu.Lock()
	defer f.mu.Unlock()
	if rate <= 0 || f.left >= 0 || f.told {
		return ""
	}
	f.told = true
	return fmt.Sprintf("the output comes faster than this host takes it for long (terminal.client_output_rate, %d bytes a second) and is read more slowly now", rate)
}

// draw draws n bytes of something whose answer has no room for a notice.
func (f *flow) draw(n, rate int, now time.Time) {
	if rate <= 0 || n == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fillLocked(rate, now)
	f.left -= float64(n)
}

// weight returns how many bytes of an action other than output are shown to others,
// as long as the sender likes.
func weight(a ahp.Action) int {
	switch a := a.(type) {
	case ahp.TerminalCommandExecuted:
		return len(a.CommandID) + len(a.CommandLine)
	case ahp.TerminalCommandFinished:
		return len(a.CommandID)
	case ahp.TerminalTitleChanged:
		return len(a.Title)
	}
	return 0
}

func (f *flow) fillLocked(rate int, now time.Time) {
	full := float64(rate) * flowBurst
	if f.at.IsZero() {
		f.left = full
	} else {
		f.left += now.Sub(f.at).Seconds() * float64(rate)
	}
	f.at = now
	if f.left >= full {
		f.left, f.told = full, false
	}
}

// delay returns how long nothing more is to be read; at most a message's worth.
func (f *flow) delay(rate int, now time.Time) time.Duration {
	if rate <= 0 {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fillLocked(rate, now)
	if f.left >= 0 {
		return 0
	}
	return time.Duration(-f.left / float64(rate) * float64(time.Second))
}

// wait returns when more may be read, or with ctx's cause.
func (f *flow) wait(ctx context.Context, rate int, now func() time.Time) error {
	return Pause(ctx, f.delay(rate, now()))
}

// Pause waits for d, or returns ctx's cause if that ends first. A d that is not
// positive is no wait.
func Pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// WaitOutput returns when the connection's reader may read on: at once, unless
// its peer sends what client-executed terminals show faster than the configuration
// allows. An error is ctx's cause.
func (c *Conn) WaitOutput(ctx context.Context) error {
	if c.client == nil {
		return nil
	}
	return c.client.flow.wait(ctx, c.host.cfg.ClientOutputRate, c.host.now)
}
