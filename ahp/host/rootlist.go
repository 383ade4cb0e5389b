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
	after   []func()    // to be called after the next list
	stopped bool
}

// changed says that the list differs from the one last published.
func (p *listPublisher) changed() { p.changedThen(nil) }

// changedThen is changed; then is called once that list is published. It may
// take the store's lock and no other.
func (p *listPublisher) changedThen(then func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if then != nil {
		p.after = append(p.after, then)
	}
	switch wait := listInterval - time.Since(p.last); {
	case p.timer != nil: // due already
	case wait > 0 && !p.stopped:
		p.timer = time.AfterFunc(wait, p.flush)
	default:
		p.sendLocked()
	}
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
	for _, then := range p.after {
		then()
	}
	p.after = nil
}

// stop publishes what is due. From then on nothing waits.
func (p *listPublisher) stop() {
	p.flush()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
}
