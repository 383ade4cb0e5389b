package host

import (
	"slices"
	"time"

	"termhost/authz/admit"
)

// highWaterInterval is how often the high-water mark is moved ahead, if need be.
const highWaterInterval = time.Minute

// tidy is the janitor's goroutine.
func (h *Host) tidy() {
	defer close(h.janitor.done)
	timer := time.NewTimer(highWaterInterval)
	defer timer.Stop()
	defer h.janitor.deleteRubbish()
	for {
		h.spares.Fill(h.logPlace().OnDisk())
		h.janitor.deleteRubbish()
		next := highWaterInterval
		if due := h.forgetExited(); due > 0 {
			next = min(next, due)
		}
		h.forgetAbsent()
		h.shortenNotes()
		if again := h.retryJournals(); h.tendRecorders() || again {
			next = min(next, journalRetry)
		}
		h.trimRecordings()
		h.drops.Expire(h.now())
		if err := h.highWater.Extend(h.store.Seq()); err != nil {
			h.log.Warn("serverSeq may fall if the clock is set back", "err", err)
		}
		timer.Reset(next)
		if !h.awaitTidying(timer.C) {
			return
		}
	}
}

// awaitTidying makes spares until it is time to tidy. It returns false when the janitor must end.
func (h *Host) awaitTidying(due <-chan time.Time) bool {
	for {
		select {
		case <-h.janitor.made:
			h.spares.Fill(h.logPlace().OnDisk())
		case <-h.janitor.wake:
			return true
		case <-due:
			return true
		case <-h.janitor.stop:
			return false
		}
	}
}

// forgetExited forgets the exited terminals that are too old, and of those that are too many the
// oldest of the account that has most. next is in what time another one will be too old; 0: none
// will.
func (h *Host) forgetExited() (next time.Duration) {
	now := h.now()
	h.mu.Lock()
	var exited, due []*Terminal
	for _, t := range h.order {
		if t.exitedNow() {
			exited = append(exited, t)
		}
	}
	slices.SortStableFunc(exited, func(a, b *Terminal) int {
		return a.life.exitedAt.Compare(b.life.exitedAt)
	})
	if ttl := h.cfg().ExitedTTL; ttl > 0 {
		for len(exited) > 0 && now.Sub(exited[0].life.exitedAt) >= ttl {
			due, exited = append(due, exited[0]), exited[1:]
		}
	}
	account := func(t *Terminal) string { return t.origin.creator.Account() }
	for len(exited) > h.cfg().MaxExited {
		i := admit.OldestOfLargest(exited, account, func(*Terminal) int64 { return 1 })
		due, exited = append(due, exited[i]), slices.Delete(exited, i, i+1)
	}
	if ttl := h.cfg().ExitedTTL; ttl > 0 && len(exited) > 0 {
		next = ttl - now.Sub(exited[0].life.exitedAt)
	}
	h.mu.Unlock()
	for _, t := range due {
		h.forget(t, "")
	}
	return next
}
