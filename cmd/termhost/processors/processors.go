// Package processors has the Go runtime use one processor while the process has little to do, and
// all of them otherwise.
//
// When a goroutine wakes another one and a processor of the runtime is idle (GOMAXPROCS), the
// runtime wakes a thread for that processor, which looks for work on another core for a while. A
// key and its echo pass through four goroutines, each of which wakes the next one and waits: the
// threads find nothing, but make two thirds of the context switches, and take the core away from
// the program that is to answer. With one processor, the goroutines of a key run one after the
// other on the thread that the kernel has woken.
//
// What is left of a key and its echo over SSH: the kernel wakes a thread twice, when the key has
// come and when the program has answered, as it does with sshd. The first time x/crypto's reader
// decrypts the packet and passes it to its mux by a channel, which passes it to the viewer's input
// loop by a condition variable, which writes to the pty. The second time the pty's reader feeds the
// screen and the log, and the viewer's loop encrypts and writes. Each time the runtime asks the
// poller once without waiting (epoll_pwait) before it sleeps in it, and the reader has tried in
// vain to read more, because the poller tells of what is new only. So a key takes two writes, three
// reads, a poll and five calls of epoll_pwait. Its write to the log comes 5 ms later, by a timer.
package processors

import (
	"context"
	"os"
	"runtime"
	"syscall"
	"time"

	"termhost/ptypool/ticks"
)

const (
	// interval is how often the load is measured while all processors are used, and idleInterval
	// while one is: each look costs two context switches.
	interval     = 100 * time.Millisecond
	idleInterval = time.Second
	// busyShare is how much of one processor's time makes a process busy: with less, goroutines
	// hardly wait for each other.
	busyShare = 0.75
	// busyBytes, per second, is how much output makes it busy with less time than that: to read
	// output, to draw it and to encrypt it at the same time is faster.
	busyBytes = 10_000_000
	// calm is how long the load must be less than half of that for one processor.
	calm = 300 * time.Millisecond
)

// Meter counts output.
type Meter interface {
	Printed() uint64       // so far, in bytes
	Much() <-chan struct{} // gets a value when there was much
}

// Adapt sets GOMAXPROCS to what the load needs until ctx ends, and to the runtime's default then. A
// number that the user has set, in the environment variable GOMAXPROCS, stays.
func Adapt(ctx context.Context, m Meter) {
	if os.Getenv("GOMAXPROCS") != "" {
		return
	}
	defer runtime.SetDefaultGOMAXPROCS()
	runtime.GOMAXPROCS(1)
	tick := time.NewTimer(ticks.Wait(idleInterval))
	defer tick.Stop()
	much := m.Much() // nil: all processors are used
	for g := (governor{last: measure(m)}); ; {
		select {
		case <-tick.C:
		case <-much:
		case <-ctx.Done():
			return
		}
		switch before := g.all; {
		case g.next(measure(m)) == before:
		case g.all:
			runtime.SetDefaultGOMAXPROCS()
			much = nil
		default:
			runtime.GOMAXPROCS(1)
			much = m.Much()
		}
		if g.all {
			tick.Reset(interval)
		} else {
			tick.Reset(ticks.Wait(idleInterval))
		}
	}
}

// load is what a process has done so far.
type load struct {
	at      time.Time
	cpu     time.Duration // of all threads
	printed uint64        // bytes
}

func measure(m Meter) load {
	var use syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &use) // it cannot fail
	cpu := time.Duration(use.Utime.Nano() + use.Stime.Nano())
	return load{at: time.Now(), cpu: cpu, printed: m.Printed()}
}

// governor decides how many processors are used.
type governor struct {
	all  bool // all of them, or one
	last load
	busy time.Time // when the load was last too much for one
}

// next takes the next measurement into account and returns g.all.
func (g *governor) next(l load) (all bool) {
	seconds := l.at.Sub(g.last.at).Seconds()
	if seconds <= 0 {
		return g.all
	}
	limit := 1.0
	if g.all {
		limit = 0.5
	}
	share := (l.cpu - g.last.cpu).Seconds() / seconds
	rate := float64(l.printed-g.last.printed) / seconds
	if share > busyShare*limit || rate > busyBytes*limit {
		g.all, g.busy = true, l.at
	} else if l.at.Sub(g.busy) >= calm {
		g.all = false
	}
	g.last = l
	return g.all
}
