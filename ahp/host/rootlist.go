package host

import (
	"sync"
	"time"
)

// listInterval is how often the root's list is sent at most: its size grows
// with the number of terminals, so it must not be sent with every title.
const listInterval = 100 * time.Millisecond

// listPublisher sends the root's list at once when it was quiet, and at most
// every listInterval. It may be used under any lock but the store's.
type listPublisher struct {
	publish func()

	mu      sync.Mutex
	last    time.Time
	timer   *time.Timer // nil: none is due
	stopped bool
}

// changed says that the list differs from the one last published.
func (p *listPublisher) changed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil || p.stopped {
		return
	}
	if wait := listInterval - time.Since(p.last); wait > 0 {
		p.timer = time.AfterFunc(wait, p.flush)
		return
	}
	p.sendLocked()
}

// flush publishes a list that is due.
func (p *listPublisher) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.sendLocked()
	}
}

func (p *listPublisher) sendLocked() {
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	p.last = time.Now()
	p.publish()
}

// stop publishes what is due and nothing afterwards.
func (p *listPublisher) stop() {
	p.flush()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
}
