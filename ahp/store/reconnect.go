package store

import (
	"cmp"
	"slices"
)

// ReplayLimit bounds the answer to a reconnect, in bytes. Channels that do not fit are
// resynchronised after it.
const ReplayLimit = 8 << 20

// Reconnect subscribes to channels for a client that was connected before and has seen everything
// up to lastSeen. It returns what the client has missed, in the order of serverSeq. synced is the
// result of the earlier connection's [Subscriber.Close]; nil: that was to an earlier process, and
// the channels' trails know. It skips nil and removed channels.
//
// A channel is rebuilt instead of replayed if the client's state of it is unknown: the log is too
// short, a snapshot that was sent after lastSeen may or may not have arrived, or the earlier
// connection had fallen off the log.
//
// The answer that carries the entries must be posted before, and wait for Reconnect: what is pulled
// later then follows the entries. They stay in memory until the answer is written, once per
// connection.
func (sub *Subscriber) Reconnect(channels []*Channel, lastSeen uint64,
	synced map[string]uint64) []*Entry {
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
		cur := sub.openLocked(c)
		cur.startAtEndLocked()
		var list []*Entry
		if lastSeen <= now { // else a crash has lost what the client saw
			list = sub.missedLocked(c, lastSeen, synced)
		}
		if sub.screens && !c.isRoot() && (list == nil || weightOf(list) > screenReplay) {
			replay = append(replay, sub.answeredLocked(c, lastSeen)...)
			cur.fallLocked()
			continue
		}
		if list == nil && c.content.size() <= room {
			list = append(sub.answeredLocked(c, lastSeen), c.rebuildLocked()...)
			sub.syncLocked(c, s.seq)
		}
		size := weightOf(list)
		if list == nil || size > room {
			cur.fallLocked()
			continue
		}
		room -= size
		replay = append(replay, list...)
	}
	slices.SortFunc(replay, func(a, b *Entry) int { return cmp.Compare(a.seq, b.seq) })
	return replay
}

// Seen says that a client that was connected before has seen everything of a channel up to the
// serverSeq Seq.
type Seen struct {
	Channel *Channel
	Seq     uint64
}

// Resumed is how a client goes on with a channel: with what it has missed, or with a snapshot. It
// is zero for a channel that is gone.
type Resumed struct {
	Channel  *Channel
	Snapshot bool     // it is one of [Subscription.Start]'s views, which have the order of these
	Missed   []*Entry // in the order of serverSeq; nil if there is a snapshot
}

// Resume is [Subscriber.Reconnect] for a client that says of each channel what it has seen of it.
// Where Reconnect would rebuild a channel, or resynchronise it later, the client gets a snapshot.
// The result has an element for each of seen, whose channels are nil, which counts as gone, or
// differ.
//
// The answer that carries all this must be posted before, wait for Resume, and call
// [Subscription.Start]; until then, nothing is read.
func (sub *Subscriber) Resume(seen []Seen, synced map[string]uint64) ([]Resumed, *Subscription) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	list, sn := make([]Resumed, len(seen)), &Subscription{sub: sub}
	if sub.closed {
		return list, sn
	}
	now, room := s.seq, ReplayLimit
	for i, was := range seen {
		c := was.Channel
		if c == nil || c.closed {
			continue
		}
		var missed []*Entry
		if was.Seq <= now { // else a crash has lost what the client saw
			missed = sub.missedLocked(c, was.Seq, synced)
		}
		size := weightOf(missed)
		if missed == nil || size > room {
			c.trail.synced(sub.client, 0)
			sn.addLocked(c)
			list[i] = Resumed{Channel: c, Snapshot: true}
			continue
		}
		room -= size
		sub.openLocked(c).startAtEndLocked()
		list[i] = Resumed{Channel: c, Missed: missed}
	}
	return list, sn
}

// missedLocked returns the entries after lastSeen of c's log if they are all that the client has
// missed, else nil.
func (sub *Subscriber) missedLocked(c *Channel, lastSeen uint64,
	synced map[string]uint64) []*Entry {
	at, ok := synced[c.uri]
	if synced == nil {
		at, ok = c.trail.syncedOf(sub.client)
	}
	if !ok || at <= c.born || at > lastSeen || c.log.dropped > lastSeen {
		return nil
	}
	sub.syncLocked(c, at)
	missed := []*Entry{}
	for _, e := range c.log.after(lastSeen) {
		if sub.mayReadLocked(e) {
			missed = append(missed, e)
		}
	}
	return missed
}

func weightOf(list []*Entry) (sum int) {
	for _, e := range list {
		sum += e.weight
	}
	return sum
}
