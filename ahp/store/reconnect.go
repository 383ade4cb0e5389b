package store

import (
	"cmp"
	"slices"
)

// ReplayLimit is how much the answer to a reconnect may carry, in bytes: what
// is beyond is resynchronised live after it.
const ReplayLimit = 8 << 20

// Reconnect subscribes to the given channels as if sub had never been away
// since lastSeen, and returns what it missed in the order of serverSeq. synced
// is what [Subscriber.Close] of its earlier self returned. A nil channel and
// one that is gone are passed over.
//
// A channel is rebuilt rather than replayed where it cannot be known what
// state the reader has of it: where the log is too short, where a snapshot
// sent after lastSeen may or may not have arrived, and where its earlier self
// did not read it to the last.
//
// The answer that carries the entries is posted first: see
// [Subscriber.Subscribe].
func (sub *Subscriber) Reconnect(channels []*Channel, lastSeen uint64, synced map[string]uint64) []*Entry {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if sub.closed {
		return nil
	}
	var replay []*Entry
	now, room := s.seq, ReplayLimit
	seen := make(map[*Channel]bool, len(channels))
	for _, c := range channels {
		if c == nil || c.closed || seen[c] {
			continue
		}
		seen[c] = true
		l := sub.linkLocked(c)
		l.restartLocked()
		var list []*Entry
		if lastSeen <= now { // else it saw another history, which a crash undid
			list = sub.missedLocked(c, lastSeen, synced)
		}
		if list == nil && c.content.size() <= room {
			list = append(sub.answeredLocked(c, lastSeen), c.rebuildLocked()...)
			sub.synced[c.uri] = s.seq
		}
		size := 0
		for _, e := range list {
			size += e.weight
		}
		if list == nil || size > room {
			l.pos, l.since = fallen, l.pos
			l.wakeLocked()
			continue
		}
		room -= size
		replay = append(replay, list...)
	}
	slices.SortFunc(replay, func(a, b *Entry) int { return cmp.Compare(a.seq, b.seq) })
	return replay
}

// missedLocked returns what c's log holds after lastSeen, not nil, if that is
// all that the reader missed; else nil.
func (sub *Subscriber) missedLocked(c *Channel, lastSeen uint64, synced map[string]uint64) []*Entry {
	at, ok := synced[c.uri]
	if !ok || at <= c.born || at > lastSeen || c.log.dropped > lastSeen {
		return nil
	}
	sub.synced[c.uri] = at
	i, _ := slices.BinarySearchFunc(c.log.entries, lastSeen+1, func(e *Entry, seq uint64) int { return cmp.Compare(e.seq, seq) })
	missed := []*Entry{}
	for _, e := range c.log.entries[i:] {
		if sub.mayReadLocked(e) {
			missed = append(missed, e)
		}
	}
	return missed
}
