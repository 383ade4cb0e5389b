package viewer

import (
	"math"
	"time"
)

// lineMeter measures what the peer's line carries. It counts on a peer that answers a request when
// it has got all that was sent before: what the host's socket takes says little, because there are
// proxies with large buffers.
type lineMeter struct {
	// carries sends so many bytes that mean nothing, and returns when they have arrived, or false
	// if the peer is lost.
	carries func(bytes int) bool
}

const (
	// firstProbe is how many bytes are sent at first, on a line of which nothing is known. Each
	// further probe is up to probeGrowth times as large.
	firstProbe  = 8 << 10
	probeGrowth = 4
	// slowProbe is how long a probe takes at least on a line that is slow for it. A quick line on a
	// busy machine takes that long by chance only, so it must happen twice.
	slowProbe = 300 * time.Millisecond
	// enoughProbed is the part of what is to be sent that shows that the line carries it all.
	enoughProbed = 8
)

// within returns how many of size bytes the line carries within about t from now on.
func (m *lineMeter) within(t time.Duration, size int) int {
	begun := time.Now()
	left := func(bytes int, took time.Duration) int {
		const least = 4 << 10
		rest := max(t-time.Since(begun), 0)
		return min(max(int(float64(bytes)*float64(rest)/float64(took)), least), size)
	}
	m.trip(0) // until the screen has arrived
	empty := min(m.trip(0), m.trip(0))
	sent := 0
	for probe := firstProbe; sent < size/enoughProbed; {
		took := m.trip(probe) - empty
		if took >= slowProbe {
			took = min(took, m.trip(probe)-empty)
		}
		if took >= slowProbe {
			return left(probe, took)
		}
		sent += probe
		probe = min(probeGrowth*probe, probesFor(probe, took))
	}
	return size
}

// probesFor returns how many bytes take a little longer than slowProbe if so many took so long.
func probesFor(bytes int, took time.Duration) int {
	if took <= 0 {
		return math.MaxInt
	}
	return max(bytes, int(min(1.5*float64(bytes)*float64(slowProbe)/float64(took), math.MaxInt32)))
}

// trip returns how long bytes take to the peer, and its answer back, without the time in which the
// machine was too busy to run the host.
func (m *lineMeter) trip(bytes int) time.Duration {
	const tick = 5 * time.Millisecond
	done, late := make(chan struct{}), make(chan time.Duration)
	go func() {
		var sum time.Duration
		ticker := time.NewTimer(tick)
		defer ticker.Stop()
		for due := time.Now().Add(tick); ; due = time.Now().Add(tick) {
			select {
			case <-ticker.C:
				sum += max(time.Since(due), 0)
				ticker.Reset(tick)
			case <-done:
				late <- sum
				return
			}
		}
	}()
	begun := time.Now()
	m.carries(bytes)
	took := time.Since(begun)
	close(done)
	return max(took-<-late, 0)
}
