package admit

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Rate limits how much may be taken, in any unit: PerSecond on average, and Burst at once. If
// PerSecond is not positive, there is no limit.
type Rate struct{ PerSecond, Burst int }

// Bucket is a token bucket that goes into debt: a request for more than it contains is granted, but
// the caller must wait until the debt is paid. The zero Bucket is full. Its methods may be called
// concurrently.
type Bucket struct {
	mu      sync.Mutex // held over the limiter's own
	rate    Rate
	limiter *rate.Limiter // nil: nothing has been taken
}

// Take takes n out and returns how long to wait before the next Take. The rate may differ between
// calls. A negative n is a refund.
func (b *Bucket) Take(r Rate, n int, now time.Time) (wait time.Duration) {
	if r.PerSecond <= 0 {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.limiter == nil:
		b.limiter = rate.NewLimiter(rate.Limit(r.PerSecond), r.Burst)
	case b.rate != r:
		b.limiter.SetLimitAt(now, rate.Limit(r.PerSecond))
		b.limiter.SetBurstAt(now, r.Burst)
	}
	b.rate = r
	if n > r.Burst { // a Limiter takes no more than its burst at once
		b.limiter.SetBurstAt(now, n)
		defer b.limiter.SetBurstAt(now, r.Burst)
	}
	return b.limiter.ReserveN(now, n).DelayFrom(now)
}

// Allow takes n out, and reports true, if nobody has to wait for it; else it takes nothing.
func (b *Bucket) Allow(r Rate, n int, now time.Time) bool {
	if b.Take(r, n, now) <= 0 {
		return true
	}
	b.Take(r, -n, now)
	return false
}

// Full reports whether the Bucket is back to the state of a new one.
func (b *Bucket) Full(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limiter == nil || b.limiter.TokensAt(now) >= float64(b.rate.Burst)
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
