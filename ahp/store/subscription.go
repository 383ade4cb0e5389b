package store

import (
	"errors"
	"slices"
)

// ErrGone says that the channel has been removed, or that the subscriber has been closed.
var ErrGone = errors.New("store: the channel is gone")

// Subscription is a subscription to one or more channels whose snapshots have not been sent
// to the peer yet.
//
// The snapshots are taken and the cursors start when the connection's writer reaches the answer
// that carries them. So an answer that waits for a slow peer keeps no output in memory, however
// many of them there are, and the peer is sent the newest state.
type Subscription struct {
	sub     *Subscriber
	cursors []*cursor

	// Guarded by store.mu.
	taken bool    // the views are taken
	seq   uint64  // of the views
	views []View  // until the subscription is started
	ends  []int64 // the end of each cursor's log when its view was taken
	held  int     // upper bound of the bytes that views taken early keep in memory
}

// largeState is the size of a terminal's content, in bytes, from which on its snapshot counts as
// large: many times other answers.
const largeState = 128 << 10

// Subscribe subscribes to c, or again if it is subscribed to, and posts the answer, which answer
// appends to dst. Until the answer is written the cursor does not start; one that was reading
// continues. It returns [ErrGone] if c has been removed or sub closed.
func (sub *Subscriber) Subscribe(c *Channel, answer func(dst []byte, v View) []byte) error {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.closed || sub.closed {
		return ErrGone
	}
	sn := &Subscription{sub: sub}
	sub.postLocked(func(dst []byte) []byte {
		views, _ := sn.Start()
		return answer(dst, views[0])
	}, 0, c.content.size() >= largeState)
	sn.addLocked(c)
	return nil
}

// SubscribeAll subscribes to channels for a connection that reads nothing yet, and skips removed
// ones. The answer must be posted before, wait for SubscribeAll, and call [Subscription.Start];
// until then, nothing is read.
func (sub *Subscriber) SubscribeAll(channels []*Channel) *Subscription {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	sn := &Subscription{sub: sub}
	for _, c := range channels {
		if !c.closed && !sub.closed {
			sn.addLocked(c)
		}
	}
	return sn
}

// addLocked adds a channel to the subscription.
func (sn *Subscription) addLocked(c *Channel) {
	cur := sn.sub.openLocked(c)
	cur.starts, cur.since = append(cur.starts, sn), c.log.end()
	sn.cursors = append(sn.cursors, cur)
}

// Start returns the states of the channels, all at the serverSeq seq, and starts the cursors there:
// of these channels, exactly the actions with a higher serverSeq are read from now on. Call it
// once, while the answer is being written.
//
// Actions of other channels that are still to be read may have a lower serverSeq than seq.
func (sn *Subscription) Start() (views []View, seq uint64) {
	s := sn.sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	sn.takeLocked()
	for i, cur := range sn.cursors {
		if sn.sub.cursorOnLocked(cur.ch) != cur {
			continue // it was unsubscribed from
		}
		if n := slices.Index(cur.starts, sn); n >= 0 {
			cur.starts = slices.Delete(cur.starts, n, n+1)
		}
		cur.unreadyLocked() // its key may become lower
		cur.startLocked(sn.ends[i])
		cur.wakeLocked()
		sn.sub.synced[cur.ch.uri] = sn.seq
	}
	views, sn.views = sn.views, nil
	sn.sub.outbox.held -= sn.held
	sn.held = 0
	sn.sub.tellRoomLocked()
	return views, sn.seq
}

// takeLocked takes the views unless they are taken. They get a serverSeq: a client that has seen
// this or a later one has received them.
func (sn *Subscription) takeLocked() {
	if sn.taken {
		return
	}
	sn.taken = true
	s := sn.sub.store
	if len(sn.cursors) > 0 {
		s.nextLocked()
	}
	sn.seq = s.seq
	for _, cur := range sn.cursors {
		sn.views = append(sn.views, cur.ch.viewLocked(sn.sub))
		sn.ends = append(sn.ends, cur.ch.log.end())
	}
}

// takeEarlyLocked takes the cursor's views before the writer reaches the answers. It is called when
// the reader's client is about to get the echo of an action on the channel: if the snapshot were
// newer than the echo that follows it, the echo would undo later changes in the client's copy.
func (cur *cursor) takeEarlyLocked() {
	first := len(cur.starts)
	for first > 0 && !cur.starts[first-1].taken {
		first--
	}
	var last *Subscription
	for _, sn := range cur.starts[first:] {
		if last != nil && len(sn.cursors) == 1 {
			sn.shareLocked(last)
		} else {
			sn.takeLocked()
			sn.holdLocked()
		}
		if len(sn.cursors) == 1 {
			last = sn
		}
	}
}

// holdLocked counts the memory that the views keep until the subscription is started.
func (sn *Subscription) holdLocked() {
	for _, cur := range sn.cursors {
		sn.held += cur.ch.content.size()
	}
	sn.sub.outbox.held += sn.held
}

// shareLocked takes the view of an earlier subscription to the same channel, and takes over the
// count of its memory.
func (sn *Subscription) shareLocked(earlier *Subscription) {
	sn.taken, sn.seq, sn.views, sn.ends = true, earlier.seq, earlier.views, earlier.ends
	sn.held, earlier.held = earlier.held, 0
}

// takeViewsBeforeLocked is called before e is applied to c. It takes the views that must not
// contain e.
func (c *Channel) takeViewsBeforeLocked(e *Entry) {
	if e.origin == nil && e.owner == "" {
		return
	}
	for _, cur := range c.cursors {
		if len(cur.starts) > 0 && cur.sub.concernsLocked(e) {
			cur.takeEarlyLocked()
		}
	}
}

// concernsLocked reports whether the reader's client dispatched e, or the output that e is a part
// of.
func (sub *Subscriber) concernsLocked(e *Entry) bool {
	switch {
	case sub.raw:
		return false
	case e.owner != "" && e.owner == sub.client:
		return true
	}
	return e.origin != nil && e.origin.ClientID == sub.client
}
