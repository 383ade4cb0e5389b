package host

import (
	"context"
	"fmt"
	"sync"
	"time"

	"termhost/ahp"
)

// rateLimit bounds how fast a clientId may send what its client-executed terminals show: output,
// command lines and titles. It is a bucket that fills at the configured rate. Whoever takes more
// out of it than is there gets it, but nothing more is read from them until it has filled up again.
// It outlives connections, so that nobody gets a full bucket by coming back.
type rateLimit struct {
	mu   sync.Mutex // no other lock is taken while it is held
	left float64    // bytes in the bucket; below zero: what is still owed
	at   time.Time  // when left was true; zero: the bucket has never been used and is full
	told bool       // the owner has been told, since the bucket was last full
}

// rateLimitBurst is how many seconds' worth of output the bucket holds: what a build prints in one
// go passes at once.
const rateLimitBurst = 4

// chargeAction charges for what an action shows to others. notice is for the answer to it; "":
// there is none.
func (l *rateLimit) chargeAction(a ahp.Action, rate int, now time.Time) (notice string) {
	switch a := a.(type) {
	case ahp.TerminalOutput: // even if it is refused: it had to be read
		return l.chargeOutput(len(a.Data), rate, now)
	case ahp.TerminalCommandExecuted:
		l.charge(len(a.CommandID)+len(a.CommandLine), rate, now)
	case ahp.TerminalCommandFinished:
		l.charge(len(a.CommandID), rate, now)
	case ahp.TerminalTitleChanged:
		l.charge(len(a.Title), rate, now)
	}
	return ""
}

// chargeOutput charges for n bytes of output. notice is what the owner is to be told; "": nothing.
func (l *rateLimit) chargeOutput(n, rate int, now time.Time) (notice string) {
	l.charge(n, rate, now)
	l.mu.Lock()
	defer l.mu.Unlock()
	if rate <= 0 || l.left >= 0 || l.told {
		return ""
	}
	l.told = true
	return fmt.Sprintf("the output comes faster than this host takes it for long "+
		"(terminal.client_output_rate, %d bytes a second) and is read more slowly now", rate)
}

// charge takes n bytes out of the bucket.
func (l *rateLimit) charge(n, rate int, now time.Time) {
	if rate <= 0 || n == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fillLocked(rate, now)
	l.left -= float64(n)
}

// fillLocked puts in what has come since it was called last.
func (l *rateLimit) fillLocked(rate int, now time.Time) {
	full := float64(rate) * rateLimitBurst
	if l.at.IsZero() {
		l.left = full
	} else {
		l.left += now.Sub(l.at).Seconds() * float64(rate)
	}
	l.at = now
	if l.left >= full {
		l.left, l.told = full, false
	}
}

// delay returns for how long nothing more is to be read: until nothing is owed.
func (l *rateLimit) delay(rate int, now time.Time) time.Duration {
	if rate <= 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fillLocked(rate, now)
	if l.left >= 0 {
		return 0
	}
	return time.Duration(-l.left / float64(rate) * float64(time.Second))
}

// Pause waits for d, or returns ctx's cause if that ends first. If d is not positive it does not
// wait.
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

// WaitOutput returns when the connection's reader may read on: at once, unless its peer sends what
// client-executed terminals show faster than the configuration allows. An error is ctx's cause.
func (c *Conn) WaitOutput(ctx context.Context) error {
	if c.client == nil {
		return nil
	}
	return Pause(ctx, c.client.output.delay(c.host.cfg().ClientOutputRate, c.host.now()))
}
