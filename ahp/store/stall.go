package store

import "slices"

// A peer may take no output for a while, and yet has to get its answers and the root's actions. So
// the subscriber stalls: these then come before output that has waited for longer. A channel whose
// output they have overtaken is resynchronised afterwards, and so the serverSeqs that the peer
// reads still rise.

// Stall has the subscriber read no output until [Subscriber.Flow], and reports whether there is
// anything else to read: answers, the root's actions, or what channels have for which own returns
// true by their URI. They have flow control of their own, and are read on. If there is nothing
// else, and the subscriber reads output now, it goes on to do so.
//
// It is for the goroutine that pulls, when all that it has pulled is written.
func (sub *Subscriber) Stall(own func(uri string) bool) bool {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	other := slices.ContainsFunc(sub.outbox.items, func(it outboxItem) bool { return it.answer })
	for uri, cur := range sub.cursors {
		if (cur.ch.isRoot() || own(uri)) && cur.index != notReady && cur.pendingLocked() {
			other = true
		}
	}
	if sub.closed || !other && !sub.stalled {
		return false
	}
	sub.stalled = true
	for uri, cur := range sub.cursors {
		switch {
		case cur.ch.isRoot():
		case !own(uri):
			cur.stalled = true
			cur.unreadyLocked()
		case cur.stalled: // it has it since
			cur.stalled = false
			cur.wakeLocked()
		}
	}
	sub.setAsideLocked()
	return other
}

// setAsideLocked takes output out of the outbox.
func (sub *Subscriber) setAsideLocked() {
	var rebuilt []*cursor
	for _, it := range sub.outbox.items {
		if it.passedOn != nil {
			sub.aside = append(sub.aside, it)
		} else if !it.answer {
			cur := sub.cursors[it.item.Entry.channel] // nil: its channel is gone
			if cur != nil && cur.stalled && !slices.Contains(rebuilt, cur) {
				rebuilt = append(rebuilt, cur)
			}
		}
	}
	sub.outbox.items = slices.DeleteFunc(sub.outbox.items,
		func(it outboxItem) bool { return it.passedOn != nil })
	for _, cur := range rebuilt {
		cur.fallAnewLocked()
	}
}

// Flow has the subscriber read output again after [Subscriber.Stall].
func (sub *Subscriber) Flow() {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if !sub.stalled {
		return
	}
	sub.stalled = false
	for _, cur := range sub.cursors {
		if !cur.stalled {
			continue
		}
		overtaken := cur.overtakenLocked()
		cur.stalled = false
		if overtaken {
			cur.fallAnewLocked()
		}
		cur.wakeLocked()
	}
	for _, it := range sub.aside {
		sub.passOnLocked(it)
	}
	sub.aside = nil
}

// overtakenLocked reports whether the peer has read something that came after what the cursor,
// which is stalled, reads next.
func (cur *cursor) overtakenLocked() bool {
	return cur.stalled && !cur.laggingLocked() && cur.pendingLocked() &&
		cur.ch.log.at(cur.pos).seq <= cur.sub.pulled
}
