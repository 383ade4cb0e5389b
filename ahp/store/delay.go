package store

import "time"

// A subscriber may let output wait for a time, to get it in fewer and larger pieces (AHP,
// SubscribeParams.delivery.maxLatencyMs). What comes after a longer silence is read at once; what
// follows is read when that time has passed since the last reading, or before: once there is much,
// or anything else to read. Nothing overtakes output that waits, so the order of serverSeq stays.

// delay is how long a cursor may let output wait.
type delay struct {
	most time.Duration // 0: it does not
	read time.Time     // when the cursor was last read from
	over bool          // there is something that does not wait
}

const (
	// maxDelay is the longest delay, whatever a subscriber allows: a person may be looking on.
	maxDelay = time.Second
	// delayedBytes is how much output does not wait any longer, in the unit of [Subscriber.Lag]: it
	// makes a large piece.
	delayedBytes = 64 << 10
)

// Delay lets output of a channel wait for at most d; 0: it does not wait. uri is as in
// [Subscriber.Hold].
func (sub *Subscriber) Delay(uri string, d time.Duration) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	cur := sub.cursors[uri]
	if cur == nil || cur.delay.most == 0 && d <= 0 {
		return
	}
	cur.delay = delay{most: min(max(d, 0), maxDelay)}
	sub.notify()
}

// wakeForLocked is wakeLocked for a new entry of the channel, which may be output that waits.
func (cur *cursor) wakeForLocked(e *Entry) {
	if cur.delay.most == 0 {
		cur.wakeLocked()
		return
	}
	if cur.sub.mayReadLocked(e) && e.Output() == 0 || cur.laggingLocked() ||
		cur.ch.log.behind(cur.pos) >= delayedBytes {
		cur.delay.over = true
	}
	if !cur.readyLocked() {
		return
	}
	if left := cur.delayLocked(time.Now()); left > 0 {
		cur.sub.notifyWithinLocked(left)
		return
	}
	cur.sub.notify()
}

// delayLocked returns for how long what there is to read may wait.
func (cur *cursor) delayLocked(now time.Time) time.Duration {
	if cur.delay.over || cur.laggingLocked() {
		return 0
	}
	return cur.delay.most - now.Sub(cur.delay.read)
}

// waitsLocked reports whether everything that there is to read may wait. Then the subscriber is
// notified in time.
func (sub *Subscriber) waitsLocked() bool {
	if len(sub.outbox.items) > 0 {
		return false
	}
	least := time.Duration(0) // nothing waits
	for _, cur := range sub.ready {
		if !cur.pendingLocked() {
			continue
		}
		left := time.Duration(0)
		if cur.delay.most > 0 {
			left = cur.delayLocked(time.Now())
		}
		if left <= 0 {
			return false
		}
		if least == 0 || left < least {
			least = left
		}
	}
	if least > 0 {
		sub.notifyWithinLocked(least)
	}
	return least > 0
}

// notifyWithinLocked notifies after d at the latest.
func (sub *Subscriber) notifyWithinLocked(d time.Duration) {
	at := time.Now().Add(d)
	switch {
	case sub.late == nil:
		sub.late = time.AfterFunc(d, sub.notify)
	case !sub.lateAt.IsZero() && !at.Before(sub.lateAt):
		return // it is set
	default:
		sub.late.Reset(d)
	}
	sub.lateAt = at
}
