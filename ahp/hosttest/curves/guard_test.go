package curves_test

import (
	"runtime"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest/slowtest"
)

// The worlds that the guards compare. They are large enough that what grows with them stands out
// from what varies anyway, and small enough to be made in a moment.
var (
	alone           = size{1, 1, 32 << 10}
	manyTerminals   = size{300, 1, 32 << 10}
	manySubscribers = size{1, 200, 32 << 10}
	muchScrollback  = size{1, 1, 2 << 20}
)

// cost is what an operation takes once, whatever the machine.
type cost struct {
	allocs, bytes int // on the heap, of the whole process
	sent          int // to a peer, in bytes
}

// counter counts allocations while it is not stopped. It is a timer.
type counter struct {
	cost
	begun runtime.MemStats
}

func (c *counter) StartTimer() { runtime.ReadMemStats(&c.begun) }

func (c *counter) StopTimer() {
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	c.allocs += int(now.Mallocs - c.begun.Mallocs)
	c.bytes += int(now.TotalAlloc - c.begun.TotalAlloc)
}

// costs returns what each operation costs in a world: the least of so many times, because other
// work in between, such as a collection of garbage or the list that is due, only adds to it.
func costs(t *testing.T, sz size, times int) map[string]cost {
	t.Helper()
	// What is kept on disk would take longest.
	w := newWorld(t, sz, func(c *host.Config) { c.StateDir = "" })
	all := map[string]cost{}
	// They take turns: what comes in between may last for some milliseconds.
	last := len(operations) - 1
	for _, turn := range [][]operation{operations[:last], operations[last:]} {
		for range times {
			for _, op := range turn {
				var c counter
				c.StartTimer()
				c.sent = op.once(w, &c)
				c.StopTimer()
				if least, ok := all[op.name]; ok {
					c.allocs, c.bytes = min(c.allocs, least.allocs), min(c.bytes, least.bytes)
				}
				all[op.name] = c.cost
			}
		}
	}
	return all
}

// within fails the test if an operation allocates more than it may.
func within(t *testing.T, name string, is, most cost) {
	t.Helper()
	if is.allocs > most.allocs || is.bytes > most.bytes {
		t.Errorf("%s: %d allocations of %d bytes, at most %d of %d are expected",
			name, is.allocs, is.bytes, most.allocs, most.bytes)
	}
}

// plus returns c with more allocations and bytes.
func (c cost) plus(allocs, bytes int) cost { return cost{c.allocs + allocs, c.bytes + bytes, c.sent} }

// varies returns by how much an operation's cost differs from run to run: nearly nothing, but of a
// program's start what its goroutines and those of the one before do meanwhile.
func varies(name string) (allocs, bytes int) {
	if name == "create" {
		return 60, 8 << 10
	}
	return 8, 2 << 10
}

// Peers are sent no more among many terminals, with many subscribers and beside much scrollback
// than among few, but for the list and the scrollback themselves.
func TestWhatIsSentStaysFlat(t *testing.T) {
	one := costs(t, alone, 1)
	same := func(t *testing.T, many map[string]cost, names ...string) {
		t.Helper()
		for _, name := range names {
			if many[name].sent != one[name].sent {
				t.Errorf("%s: %d bytes are sent, want %d", name, many[name].sent, one[name].sent)
			}
		}
	}
	t.Run("terminals", func(t *testing.T) {
		many := costs(t, manyTerminals, 1)
		same(t, many, "snapshot", "subscribe", "reconnect", "catch up")
		const more = 299
		if sent := many["root"].sent - one["root"].sent; sent > more*250 {
			t.Errorf("the root's list has %d bytes for each terminal", sent/more)
		}
	})
	t.Run("subscribers", func(t *testing.T) {
		same(t, costs(t, manySubscribers, 1), "snapshot", "subscribe", "root", "reconnect", "catch up")
	})
	t.Run("scrollback", func(t *testing.T) {
		much := costs(t, muchScrollback, 1)
		same(t, much, "root", "reconnect")
		for _, name := range []string{"snapshot", "subscribe", "catch up"} {
			if sent := much[name].sent; sent > muchScrollback.scrollback*5/4 {
				t.Errorf("%s: %d bytes are sent of %d", name, sent, muchScrollback.scrollback)
			}
		}
	})
}

// TestMeasuresCosts guards what an operation allocates among more terminals, with more subscribers
// and beside more scrollback than one needs.
func TestMeasuresCosts(t *testing.T) {
	slowtest.Measures(t)
	const times = 10
	one := costs(t, alone, times)
	flat := func(t *testing.T, many map[string]cost, names ...string) {
		t.Helper()
		for _, name := range names {
			within(t, name, many[name], one[name].plus(varies(name)))
		}
	}

	t.Run("terminals", func(t *testing.T) {
		many := costs(t, manyTerminals, times)
		flat(t, many, "append", "snapshot", "subscribe", "reconnect", "catch up", "create")
		// A list is as long as there are terminals. It is made in one piece.
		const more, page = 299, 8 << 10
		within(t, "list", many["list"], one["list"].plus(8, more*720+page))
		within(t, "root", many["root"], one["root"].plus(8, more*512))
	})
	t.Run("subscribers", func(t *testing.T) {
		many := costs(t, manySubscribers, times)
		flat(t, many, "snapshot", "subscribe", "list", "root", "reconnect", "catch up", "create")
		// What is sent to all is encoded once, and copied into buffers that are there.
		within(t, "append", many["append"], one["append"].plus(199/4, 16<<10))
	})
	t.Run("scrollback", func(t *testing.T) {
		much := costs(t, muchScrollback, times)
		flat(t, much, "append", "list", "root", "reconnect", "create")
		// A snapshot is as long as the scrollback, and no more is allocated for it than is sent.
		for _, name := range []string{"snapshot", "subscribe", "catch up"} {
			c := much[name]
			within(t, name, c, cost{allocs: one[name].allocs + 64, bytes: c.sent*5/4 + 64<<10})
		}
	})
}
