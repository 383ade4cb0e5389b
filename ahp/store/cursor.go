package store

import (
	"container/heap"
	"math"
	"slices"
	"time"

	"termhost/ahp"
)

// cursor is a Subscriber's place in one channel's log. pos and done are indexes into the
// log, which count its entries from the channel's first one on:
//
//	 dropped  |  written  |  given to the writer  |   to be read   |
//	. . . . . | e   e   e | e   e   e   e   e   e | e   e   e   e  |
//	          ^           ^                       ^                ^
//	        base         done                    pos              end
//	                                              |
//	                                              key: the serverSeq of this entry
//
// The cursors of a connection take turns by key, lowest first, so that it reads the
// entries of all its channels in the order of serverSeq. Appends move end; trimming the
// log moves base.
//
// Where base has moved past pos, the cursor fell off its log and must be resynchronised:
//
//	 . . . . . . . . . . . . . . | e   e   e   e   e   e   e   e   e |
//	           ^     ^           ^                                   ^
//	         done   pos         base                                end
//
//	fellAt: the store's serverSeq when this was found, which is the key as well
//
// The actions that rebuild the state get serverSeqs of their own, above fellAt. So the
// cursor waits until everything up to fellAt has been read, and for nothing later: a busy
// channel does not hold it up.
type cursor struct {
	sub  *Subscriber
	ch   *Channel
	pos  int64 // of the next entry to read; or fallen, or unstarted
	done int64 // entries before this one have been written

	// starts are the subscriptions that are still to start the cursor, oldest first; if it has been
	// reading, it starts anew. See [Subscription.Start].
	starts []*Subscription
	// since is the end of the log when the cursor was last subscribed to or made fallen. If the
	// cursor falls off the log, its client gets answers in place of the echoes from this index on.
	// Earlier ones have been answered, or are part of the snapshot.
	since int64

	// key orders the cursor in sub.ready. It is an earlier result of keyLocked, which never
	// decreases.
	key   uint64
	index int // in sub.ready, or notReady
	// fellAt is 0 unless the cursor was found to have fallen off the log.
	fellAt uint64
	delay  delay
	// held: unless NotHeld, it is not in sub.ready. See [Subscriber.Hold].
	held    Holding
	stalled bool // nor then: see [Subscriber.Stall]
}

const (
	notReady = -1

	// fallen is the pos of a cursor that must be resynchronised before it reads.
	fallen = -1
	// unstarted is the pos of a cursor whose subscription has not started it.
	unstarted = -2
)

// startLocked moves the cursor to an index of its log, or makes it fallen or unstarted.
func (cur *cursor) startLocked(at int64) {
	cur.pos, cur.done = at, at
	cur.fellAt = 0
	cur.ch.lookAnewLocked()
	if !cur.sub.raw {
		cur.ch.releaseLocked()
	}
}

// startAtEndLocked moves the cursor to the end of its log.
func (cur *cursor) startAtEndLocked() { cur.startLocked(cur.ch.log.end()) }

// fallLocked has the cursor resynchronised before it reads anything.
func (cur *cursor) fallLocked() {
	cur.startLocked(fallen)
	cur.since = cur.ch.log.end()
	cur.ch.trail.synced(cur.sub.client, 0)
	cur.wakeLocked()
}

// wakeLocked is called when there may be something to read that does not wait.
func (cur *cursor) wakeLocked() {
	cur.delay.over = true
	if cur.readyLocked() {
		cur.sub.notify()
	}
}

// readyLocked puts the cursor into sub.ready, unless it is there, and reports whether it is then.
func (cur *cursor) readyLocked() bool {
	if cur.index == notReady {
		if cur.pos == unstarted || cur.held != NotHeld || cur.stalled {
			return false
		}
		cur.key = cur.keyLocked()
		heap.Push(&cur.sub.ready, cur)
	}
	return true
}

// laggingLocked reports whether the cursor fell off its log, or is fallen or unstarted. No cursor
// falls off the root's log: its newest entry has the whole list.
func (cur *cursor) laggingLocked() bool {
	if cur.pos < cur.ch.log.base && cur.ch.isRoot() && cur.pos != unstarted {
		cur.pos = cur.ch.log.base
		cur.done = max(cur.done, cur.pos)
	}
	return cur.pos < cur.ch.log.base
}

// pendingLocked reports whether there is anything to read. It skips entries that are not for
// this reader.
func (cur *cursor) pendingLocked() bool {
	log := &cur.ch.log
	done := cur.done
	for cur.pos >= log.base && cur.pos < log.end() && !cur.sub.mayReadLocked(log.at(cur.pos)) {
		if cur.done == cur.pos {
			cur.done++ // everything before it has been written
		}
		cur.pos++
	}
	if cur.done != done && !cur.sub.raw {
		cur.ch.releaseLocked()
	}
	return cur.pos < log.end()
}

// keyLocked returns the cursor's present key: the serverSeq of what it reads next.
func (cur *cursor) keyLocked() uint64 {
	switch {
	case cur.laggingLocked():
		if cur.fellAt == 0 {
			cur.fellAt = cur.ch.store.seq
		}
		return cur.fellAt
	case cur.pendingLocked():
		return cur.ch.log.at(cur.pos).seq
	}
	return cur.ch.store.seq
}

// postponeLocked makes a cursor that fell off its log wait until the present outbox has been read.
func (cur *cursor) postponeLocked() {
	cur.fellAt = cur.ch.store.seq + 1
	cur.key = cur.fellAt
	heap.Fix(&cur.sub.ready, cur.index)
}

// parkLocked makes a cursor that fell off its log wait for its subscription, whose snapshot
// replaces what it has not read.
func (cur *cursor) parkLocked() {
	cur.unreadyLocked()
	cur.startLocked(unstarted)
}

// unreadyLocked removes the cursor from sub.ready.
func (cur *cursor) unreadyLocked() {
	if cur.index != notReady {
		heap.Remove(&cur.sub.ready, cur.index)
	}
}

// takeLocked reads at least one entry, and more while their serverSeq is below the given one and
// they weigh less than limit bytes.
func (cur *cursor) takeLocked(dst []Item, below uint64, limit int) (items []Item, taken int) {
	log := &cur.ch.log
	cur.sub.taken = append(cur.sub.taken, cur)
	for first := true; first || cur.pendingLocked() && taken < limit; first = false {
		e := log.at(cur.pos)
		if !first && e.seq >= below {
			break
		}
		if !cur.sub.raw && cur.ch.encoders > 1 && e.audience != ownerOnly {
			log.share(cur.pos)
		}
		dst = append(dst, Item{Entry: e})
		taken += e.weight
		cur.sub.pulled = e.seq
		cur.pos++
		if _, resized := e.action.(ahp.TerminalResized); resized && cur.sub.screens {
			cur.fallBehindLocked()
			break
		}
	}
	if cur.delay.most > 0 {
		cur.delay.read, cur.delay.over = time.Now(), cur.pos < log.end()
	}
	return dst, taken
}

// writtenLocked records that everything that was taken has been written.
func (cur *cursor) writtenLocked() {
	if cur.done == cur.pos || cur.pos == unstarted || cur.held == HeldUnsent {
		return // it was taken from twice, or moved since, or is not written yet
	}
	from := cur.done
	cur.done = cur.pos
	if cur.sub.raw {
		return
	}
	cur.ch.log.recount(from, cur.pos)
	cur.ch.log.trim(cur.ch.store.logBytes, cur.ch.lostLocked)
	cur.ch.releaseLocked()
}

// dropLocked ends the cursor.
func (cur *cursor) dropLocked() {
	delete(cur.sub.cursors, cur.ch.uri)
	if i := slices.Index(cur.ch.cursors, cur); i >= 0 {
		cur.ch.cursors = slices.Delete(cur.ch.cursors, i, i+1)
		cur.ch.lookAnewLocked()
	}
	cur.ch.typist.CompareAndSwap(cur.sub, nil)
	cur.unreadyLocked()
	if !cur.sub.raw {
		cur.ch.encoders--
		cur.ch.releaseLocked()
	}
}

// readyCursors is a heap, ordered by key, of the cursors that may have something to read.
type readyCursors []*cursor

func (r readyCursors) Len() int           { return len(r) }
func (r readyCursors) Less(i, j int) bool { return r[i].key < r[j].key }

func (r readyCursors) Swap(i, j int) {
	r[i], r[j] = r[j], r[i]
	r[i].index, r[j].index = i, j
}

// Push is for package heap.
func (r *readyCursors) Push(x any) {
	cur := x.(*cursor)
	cur.index = len(*r)
	*r = append(*r, cur)
}

// Pop is for package heap.
func (r *readyCursors) Pop() any {
	last := len(*r) - 1
	cur := (*r)[last]
	(*r)[last] = nil
	*r = (*r)[:last]
	cur.index = notReady
	return cur
}

// second returns the lowest key of all cursors but the first.
func (r readyCursors) second() uint64 {
	key := uint64(math.MaxUint64)
	for _, cur := range r[min(1, len(r)):min(3, len(r))] {
		key = min(key, cur.key)
	}
	return key
}
