package host

import (
	"sync/atomic"
	"time"
)

const (
	// outputMemory is how much memory, in bytes, all terminals together may take for what they
	// have printed: their logs, contents and scrollbacks. With what waits to be collected as
	// garbage it is about twice as much.
	outputMemory = 24 << 20
	// recountAfter is after how much output, in bytes, it is counted anew what a terminal takes.
	// Each piece of output counts pieceMemory bytes more.
	recountAfter = 64 << 10
	pieceMemory  = 256
	// leastSpill is from how much memory on, in bytes, a terminal gives some of it back.
	leastSpill = 128 << 10
	// freeAfter is how long it is quiet before the memory that was given back is returned to the
	// system, which takes some ten milliseconds.
	freeAfter = time.Second
)

// memory bounds what the output of all terminals takes in memory. When it is too much, those that
// nobody watches, and of these the largest first, shorten their logs, and move their contents and
// scrollbacks into files: see [spills]. Nothing that anybody reads changes by that. Where output
// comes faster than that, a terminal that prints does the same with its own.
type memory struct {
	limit int64        // outputMemory, but in tests
	total atomic.Int64 // what is taken, in bytes
	// bound is the total at which terminals give memory back. It is above the limit where they
	// have too little that they can give.
	bound atomic.Int64

	wake chan struct{} // of capacity 1: the total is above the bound
	stop chan struct{} // closed to end the goroutine
	done chan struct{} // closed when it has ended

	failing atomic.Bool // nothing can be spilled, which was told
}

// begin starts the goroutine, which is boundMemory.
func (m *memory) begin(boundMemory func()) {
	m.limit = outputMemory
	m.bound.Store(m.limit)
	m.wake, m.stop, m.done = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	go boundMemory()
}

// end stops the goroutine and waits until it has ended.
func (m *memory) end() {
	close(m.stop)
	<-m.done
}
