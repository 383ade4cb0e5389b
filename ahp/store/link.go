package store

import (
	"container/heap"
	"math"
	"slices"
)

// link is a Subscriber's position in one channel's log.
type link struct {
	sub  *Subscriber
	ch   *Channel
	pos  int64 // of the next entry to read
	done int64 // entries before this one have been written
	// since is where a link that began fallen began: what was before it is answered by
	// Reconnect, or by nobody.
	since int64

	// key orders it in sub.ready. What [link.keyLocked] says may have risen
	// since it was set, never fallen.
	key   uint64
	index int // in sub.ready, or notReady
	// fellAt is the serverSeq at which it was found to have fallen off the log;
	// 0: it was not.
	fellAt uint64
}

const (
	notReady = -1
	// fallen is the position of a link that must be resynchronised.
	fallen = -1
)

// restartLocked makes the link go on at its log's end.
func (l *link) restartLocked() {
	l.pos = l.ch.log.end()
	l.done = l.pos
	l.fellAt = 0
	if !l.sub.raw {
		l.ch.releaseLocked()
	}
}

func (l *link) wakeLocked() {
	if l.index == notReady {
		l.key = l.keyLocked()
		heap.Push(&l.sub.ready, l)
	}
	l.sub.notify()
}

// laggingLocked reports whether the link fell off its log. Nobody falls off the
// root's: what is left there is the whole list, and to read that is enough.
func (l *link) laggingLocked() bool {
	if l.pos < l.ch.log.base && l.ch.isRoot() {
		l.pos = l.ch.log.base
		l.done = max(l.done, l.pos)
	}
	return l.pos < l.ch.log.base
}

// pendingLocked reports whether there is anything to read. What is not for this
// reader is passed over.
func (l *link) pendingLocked() bool {
	log := &l.ch.log
	done := l.done
	for l.pos >= log.base && l.pos < log.end() && !l.sub.mayReadLocked(log.at(l.pos)) {
		if l.done == l.pos {
			l.done++ // nothing that is not written yet is before it
		}
		l.pos++
	}
	if l.done != done && !l.sub.raw {
		l.ch.releaseLocked()
	}
	return l.pos < log.end()
}

// keyLocked is the serverSeq that says when it is the link's turn: that of the
// entry to read next. A link that fell off its log waits for everything that
// had happened when this was found: the resynchronisation gets numbers above
// it. It waits for nothing that came later, so a busy channel does not hold it
// up.
func (l *link) keyLocked() uint64 {
	switch {
	case l.laggingLocked():
		if l.fellAt == 0 {
			l.fellAt = l.ch.store.seq
		}
		return l.fellAt
	case l.pendingLocked():
		return l.ch.log.at(l.pos).seq
	}
	return l.ch.store.seq
}

// takeLocked reads entries with a serverSeq below the given one, at least one,
// until they weigh limit bytes.
func (l *link) takeLocked(dst []Item, below uint64, limit int) (items []Item, taken int) {
	log := &l.ch.log
	l.sub.taken = append(l.sub.taken, l)
	for first := true; first || l.pendingLocked() && taken < limit; first = false {
		e := log.at(l.pos)
		if !first && e.seq >= below {
			break
		}
		if !l.sub.raw && l.ch.encoders > 1 && e.audience != ownerOnly {
			log.share(l.pos)
		}
		dst = append(dst, Item{Entry: e})
		taken += e.weight
		l.sub.pulled = e.seq
		l.pos++
	}
	return dst, taken
}

// writtenLocked notes that everything pulled so far has been written.
func (l *link) writtenLocked() {
	if l.done == l.pos {
		return // taken twice, or begun anew since
	}
	from := l.done
	l.done = l.pos
	if l.sub.raw {
		return
	}
	l.ch.log.recount(from, l.pos)
	l.ch.log.trim(l.ch.store.logBytes, l.ch.lostLocked)
	l.ch.releaseLocked()
}

// dropLocked ends the link.
func (l *link) dropLocked() {
	delete(l.sub.links, l.ch.uri)
	if i := slices.Index(l.ch.links, l); i >= 0 {
		l.ch.links = slices.Delete(l.ch.links, i, i+1)
	}
	if l.index != notReady {
		heap.Remove(&l.sub.ready, l.index)
	}
	if !l.sub.raw {
		l.ch.encoders--
		l.ch.releaseLocked()
	}
}

// readyLinks is a heap of the links that may have something to read, by key.
type readyLinks []*link

func (r readyLinks) Len() int           { return len(r) }
func (r readyLinks) Less(i, j int) bool { return r[i].key < r[j].key }

func (r readyLinks) Swap(i, j int) {
	r[i], r[j] = r[j], r[i]
	r[i].index, r[j].index = i, j
}

// Push is for package heap.
func (r *readyLinks) Push(x any) {
	l := x.(*link)
	l.index = len(*r)
	*r = append(*r, l)
}

// Pop is for package heap.
func (r *readyLinks) Pop() any {
	last := len(*r) - 1
	l := (*r)[last]
	(*r)[last] = nil
	*r = (*r)[:last]
	l.index = notReady
	return l
}

// second returns a key that none of the links but the first is below.
func (r readyLinks) second() uint64 {
	key := uint64(math.MaxUint64)
	for _, l := range r[min(1, len(r)):min(3, len(r))] {
		key = min(key, l.key)
	}
	return key
}
