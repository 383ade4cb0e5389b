package host

import (
	"sync"
	"sync/atomic"

	"termhost/ahp/store"
)

// brake lets readers that must not lose anything hold the pty's reader back.
// There are none but for the creator of `run`, whose output a pipe may take.
type brake struct {
	on atomic.Int32

	mu      sync.Mutex
	cond    *sync.Cond
	readers map[*Attach]struct{}
	off     bool // the terminal is being ended: nobody holds it back
}

func (b *brake) add(a *Attach) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.readers == nil {
		b.readers = map[*Attach]struct{}{}
		b.cond = sync.NewCond(&b.mu)
	}
	b.readers[a] = struct{}{}
	b.on.Store(int32(len(b.readers)))
}

func (b *brake) remove(a *Attach) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.readers, a)
	b.on.Store(int32(len(b.readers)))
	if b.cond != nil {
		b.cond.Broadcast()
	}
}

// release lets the reader go on for good, to the terminal's end.
func (b *brake) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.off = true
	if b.cond != nil {
		b.cond.Broadcast()
	}
}

// progressed says that a reader has written something.
func (b *brake) progressed() {
	if b.on.Load() > 0 {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.cond.Broadcast()
	}
}

// wait returns when no reader lags by more than half of its channel's log.
func (b *brake) wait(c *store.Channel) {
	if b.on.Load() == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.off && b.farBehindLocked(c) {
		b.cond.Wait()
	}
}

func (b *brake) farBehindLocked(c *store.Channel) bool {
	for a := range b.readers {
		if a.sub.Lag(c) > c.LogBytes()/2 {
			return true
		}
	}
	return false
}
