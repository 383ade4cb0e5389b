package host

import (
	"sync"
	"sync/atomic"
	"time"
)

// listInterval is how much time there is at least between two of the root's lists: a list is as
// long as there are terminals, so it must not be sent with every new title.
const listInterval = 100 * time.Millisecond

// listPublisher publishes the root's list: at once if it was quiet for a while, and at most every
// listInterval. It may be used with any lock held but the store's.
type listPublisher struct {
	publish func()
	changes atomic.Uint64 // how often something has changed

	mu      sync.Mutex // held while the store's lock is taken, by publish and by what is in after
	last    time.Time
	timer   *time.Timer // of the list that is due; nil: none is
	after   []func()    // to be called once the next list is published
	stopped bool
}

// changed says that the list is not any more as it was published last.
func (p *listPublisher) changed() { p.changedThen(nil) }

// changedThen is changed, and has then called once the list is published. then may take the store's
// lock and no other.
func (p *listPublisher) changedThen(then func()) {
	p.changes.Add(1)
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

// flush publishes the list if it is due.
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

// stop publishes the list if it is due. From then on each change is published at once.
func (p *listPublisher) stop() {
	p.flush()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
}
