package rpc

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"termhost/ahp/host"
)

func TestMessagesBeyondTheRateAreReadLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := rateLimit{rate: 10}
		start := time.Now()
		for i := range 35 {
			if err := p.wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			// A second's worth at once, then one every tenth of a second.
			want := max(0, time.Duration(i-9)*100*time.Millisecond)
			if got := time.Since(start); got != want {
				t.Errorf("message %d is read after %v, want %v", i, got, want)
			}
		}
		time.Sleep(time.Hour)
		start = time.Now()
		for range 10 {
			p.wait(t.Context())
		}
		if got := time.Since(start); got != 0 {
			t.Errorf("after an hour of rest ten messages took %v", got)
		}
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(gone)
		if err := p.wait(ctx); !errors.Is(err, gone) {
			t.Errorf("a peer that is gone: %v", err)
		}
		free := rateLimit{rate: -1}
		for range 100_000 {
			free.wait(t.Context())
		}
		if got := time.Since(start); got != 0 {
			t.Errorf("without a limit it took %v", got)
		}
	})
}

// A program that prints byte by byte does not exceed the rate.
func TestOutputCountsLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := rateLimit{rate: 10}
		start := time.Now()
		const seconds = 10
		for range seconds * 10 * host.MessageParts {
			if err := p.wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			p.discount()
		}
		// A second's worth at once. Before its discount each counts like any other.
		const want = (seconds - 1) * time.Second
		if got := time.Since(start); got < want-time.Second/10 || got > want+time.Second/10 {
			t.Errorf("%d outputs took %v", seconds*10*host.MessageParts, got)
		}
		free := rateLimit{rate: -1}
		free.wait(t.Context())
		free.discount()
	})
}
