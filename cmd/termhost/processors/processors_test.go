package processors

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// output is a Meter that a test sets.
type output struct {
	printed atomic.Uint64
	much    chan struct{}
}

func (o *output) Printed() uint64       { return o.printed.Load() }
func (o *output) Much() <-chan struct{} { return o.much }

// during has a governor measure a load for some seconds, ten times a second. share is that of one
// processor's time.
func (g *governor) during(seconds, share, bytes float64) {
	for i := 0; i < int(seconds*10); i++ {
		l := g.last
		l.at = l.at.Add(time.Second / 10)
		l.cpu += time.Duration(share * float64(time.Second) / 10)
		l.printed += uint64(bytes / 10)
		g.next(l)
	}
}

func TestTheLoadDecidesHowManyProcessorsAreUsed(t *testing.T) {
	const mb = 1e6
	for _, test := range []struct {
		name string
		load func(g *governor)
		all  bool
	}{
		{"a start", func(g *governor) {}, false},
		{"people type", func(g *governor) { g.during(3, 0.3, 0.1*mb) }, false},
		{"a calculation", func(g *governor) { g.during(0.2, 0.9, 0) }, true},
		{"a flood", func(g *governor) { g.during(0.2, 0.5, 40*mb) }, true},
		{"a flood has ended", func(g *governor) { g.during(3, 0.5, 40*mb); g.during(0.2, 0, 0) }, true},
		{"a flood ended long ago", func(g *governor) { g.during(3, 0.5, 40*mb); g.during(0.4, 0, 0) }, false},
		{"between the limits all stay", func(g *governor) { g.during(1, 0.9, 0); g.during(9, 0.5, 0) }, true},
		{"between the limits one stays", func(g *governor) { g.during(9, 0.5, 8*mb) }, false},
		{"no time has passed", func(g *governor) { g.next(g.last) }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := &governor{last: load{at: time.Now()}}
			if test.load(g); g.all != test.all {
				t.Errorf("uses all: %v", g.all)
			}
		})
	}
}

// adapt runs Adapt until the returned function is called.
func adapt(m Meter) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); Adapt(ctx, m) }()
	return func() { cancel(); <-done }
}

// await waits until as many processors are used.
func await(t *testing.T, n int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); runtime.GOMAXPROCS(0) != n; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d processors are used, not %d", runtime.GOMAXPROCS(0), n)
		}
		time.Sleep(time.Millisecond) // else the load would be that of this loop
	}
}

func TestOneProcessorIsUsedUntilThereIsMuchOutput(t *testing.T) {
	t.Setenv("GOMAXPROCS", "")
	most := runtime.GOMAXPROCS(0)
	if most == 1 {
		t.Skip("this machine has one processor")
	}
	m := &output{much: make(chan struct{}, 1)}
	end := adapt(m)
	defer end()
	await(t, 1)
	m.printed.Add(1 << 30)
	m.much <- struct{}{}
	await(t, most)
	await(t, 1)
	end()
	if n := runtime.GOMAXPROCS(0); n != most {
		t.Errorf("%d processors are used after the end, not %d", n, most)
	}
}

func TestTheUsersNumberOfProcessorsStays(t *testing.T) {
	t.Setenv("GOMAXPROCS", "2")
	Adapt(context.Background(), &output{}) // returns at once
}
