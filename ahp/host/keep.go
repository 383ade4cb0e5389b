package host

import (
	"slices"
	"time"
)

// markInterval is how often the serverSeq's mark is looked after: see seqReserve.
const markInterval = time.Minute

// keeper is the host's one goroutine. It forgets exited terminals that are too
// many or too old, and moves the serverSeq's mark ahead.
type keeper struct {
	wake chan struct{} // 1 deep: a terminal has exited
	stop chan struct{} // closed: end
	done chan struct{} // closed when it has ended
}

func (k *keeper) begin(h *Host) {
	k.wake, k.stop, k.done = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	go h.housekeep()
}

// exited has the keeper look soon. It may be called under any lock.
func (k *keeper) exited() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// end stops the keeper and waits for that.
func (k *keeper) end() {
	close(k.stop)
	<-k.done
}

func (h *Host) housekeep() {
	defer close(h.keep.done)
	timer := time.NewTimer(markInterval)
	defer timer.Stop()
	for {
		next := markInterval
		if due := h.sweepExited(); due > 0 {
			next = min(next, due)
		}
		if err := h.mark.extend(h.store.Seq()); err != nil {
			h.log.Warn("serverSeq may fall if the clock is set back", "err", err)
		}
		timer.Reset(next)
		select {
		case <-h.keep.wake:
		case <-timer.C:
		case <-h.keep.stop:
			return
		}
	}
}

// sweepExited forgets the exited terminals that are too many or too old, and
// returns after what time the next one will be; 0: none will by itself.
func (h *Host) sweepExited() (next time.Duration) {
	now := h.now()
	h.mu.Lock()
	var exited, due []*Terminal
	for _, t := range h.order {
		if t.exitedNow() {
			exited = append(exited, t)
		}
	}
	slices.SortStableFunc(exited, func(a, b *Terminal) int { return a.exitedAt.Compare(b.exitedAt) })
	for i, t := range exited {
		left := h.cfg.ExitedTTL - now.Sub(t.exitedAt)
		switch {
		case len(exited)-i > h.cfg.MaxExited, h.cfg.ExitedTTL > 0 && left <= 0:
			due = append(due, t)
		case h.cfg.ExitedTTL > 0 && next == 0:
			next = left
		}
	}
	h.mu.Unlock()
	for _, t := range due {
		h.forget(t)
	}
	return next
}
