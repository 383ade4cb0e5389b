package store

import (
	"container/heap"
	"time"
)

// Item is what a Subscriber reads next. Exactly one of Entry, Post and Lagged is set.
type Item struct {
	Entry *Entry
	Post  Post
	// Large: the Post appends at least the state of a terminal.
	Large bool
	// Lagged is set for a subscriber that fell off this channel's log, if it is raw or wants
	// screens. Before it pulls again, it must draw the state anew and call [Subscriber.Skip],
	// [Subscriber.Follow] or, if it is not raw, [Subscriber.Redraw].
	Lagged *Channel
}

// Subscriber is one connection's reader of the store. It has a cursor on the log of each
// channel that it subscribed to, and an outbox. One goroutine pulls; the other methods may
// be called concurrently.
type Subscriber struct {
	store  *Store
	raw    bool
	signal chan struct{} // 1 deep: there is something to pull
	room   chan struct{} // 1 deep: the outbox may have room again

	// Guarded by store.mu.
	client  string             // the peer's clientId, or ""
	cursors map[string]*cursor // by the channel's URI
	ready   readyCursors
	taken   []*cursor // that the last Pull read from
	outbox  outbox
	closed  bool
	writing bool         // the last Pull returned something to write
	stalled bool         // see Stall
	aside   []outboxItem // what was passed on, until Flow

	late   *time.Timer // notifies about output that waits
	lateAt time.Time   // when; zero: it is not set

	clipboards bool // see WantClipboards
	asked      bool // see WantAsked
	asks       bool // see WantAsks
	pictures   bool // see WantPictures
	screens    bool // see WantScreens

	reads AsksReader // see ReadAsks

	// pulled and written are the serverSeqs of the last item that Pull returned, and of the last
	// one known to be written.
	pulled, written uint64

	// synced maps a channel's URI to the serverSeq of its last snapshot or resynchronisation. A
	// client that has seen this or a later one knows the channel's state. After a reconnect, a
	// channel without an entry must be resynchronised.
	synced map[string]uint64
}

// NewSubscriber returns a Subscriber without subscriptions. A raw one, for SSH viewers, draws the
// state anew instead of being resynchronised by actions, and needs no encodings. The Subscriber
// must be closed.
func (s *Store) NewSubscriber(raw bool) *Subscriber {
	return &Subscriber{
		store:   s,
		raw:     raw,
		signal:  make(chan struct{}, 1),
		room:    make(chan struct{}, 1),
		cursors: map[string]*cursor{},
		synced:  map[string]uint64{},
	}
}

// Identify sets the peer's clientId. The output of a terminal that it owns reaches it as echoes.
func (sub *Subscriber) Identify(clientID string) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	sub.client = clientID
}

// syncLocked records that the client knows c's state once it has seen seq.
func (sub *Subscriber) syncLocked(c *Channel, seq uint64) {
	sub.synced[c.uri] = seq
	c.trail.synced(sub.client, seq)
}

// mayReadLocked reports whether e is for this reader.
func (sub *Subscriber) mayReadLocked(e *Entry) bool {
	return e.audience == everybody || (e.audience == ownerOnly) == (e.owner == sub.client)
}

// Signal returns a Go channel that receives when there is something to pull. Wait for it only after
// a [Subscriber.Pull] that returned nothing.
func (sub *Subscriber) Signal() <-chan struct{} { return sub.signal }

// Subscribed reports whether the subscriber reads c, or will when its [Subscription] is started.
func (sub *Subscriber) Subscribed(c *Channel) bool {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	return sub.cursorOnLocked(c) != nil
}

// Channels returns the channels for which Subscribed is true, in no order.
func (sub *Subscriber) Channels() []*Channel {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*Channel, 0, len(sub.cursors))
	for _, cur := range sub.cursors {
		list = append(list, cur.ch)
	}
	return list
}

// Channel returns the one of them that has a normalized URI, or nil.
func (sub *Subscriber) Channel(uri string) *Channel {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if cur := sub.cursors[uri]; cur != nil {
		return cur.ch
	}
	return nil
}

// Count returns how many channels these are.
func (sub *Subscriber) Count() int {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(sub.cursors)
}

// Lag returns the weight of what has not been written yet of c's log, in the unit of
// [Channel.LogBytes]: bytes of output, and a constant per entry. A reader that fell off the log
// lags by all of it.
func (sub *Subscriber) Lag(c *Channel) int {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	cur := sub.cursorOnLocked(c)
	if cur == nil {
		return 0
	}
	return int(c.log.behind(cur.done))
}

// Pending reports whether there is anything that has not been written yet, but for channels that
// are held.
func (sub *Subscriber) Pending() bool {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	return sub.writing || len(sub.outbox.items) > 0 || sub.nextLocked() != nil
}

// Close ends all subscriptions and returns what a later [Subscriber.Reconnect] needs.
func (sub *Subscriber) Close() (synced map[string]uint64) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	sub.closed = true
	for uri, cur := range sub.cursors {
		if cur.laggingLocked() || cur.overtakenLocked() {
			// The client may have seen later actions of other channels than it missed here: no
			// serverSeq proves that it knows the state.
			sub.synced[uri] = s.seq + 1
			cur.ch.trail.synced(sub.client, 0)
		}
		cur.dropLocked()
	}
	sub.outbox, sub.taken, sub.aside = outbox{}, nil, nil
	if sub.late != nil {
		sub.late.Stop()
	}
	sub.tellRoom()
	return sub.synced
}

// Pull appends the next items to dst, in the order of serverSeq, until there are no more or they
// hold about limit bytes of output. A [Post] or a lagged channel is always the last item: writing
// it may start or move cursors, on which later items depend. If all that there is may wait, Pull
// leaves it: see [Subscriber.Delay]. A call of Pull means that the items of the one before have
// been written.
func (sub *Subscriber) Pull(dst []Item, limit int) []Item {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cur := range sub.taken {
		cur.writtenLocked()
	}
	clear(sub.taken)
	sub.taken = sub.taken[:0]
	sub.written = sub.pulled
	sub.lateAt = time.Time{}
	given := len(dst)
	if !sub.waitsLocked() {
		dst = sub.pullLocked(dst, limit)
	}
	sub.writing = len(dst) > given
	return dst
}

func (sub *Subscriber) pullLocked(dst []Item, limit int) []Item {
	for limit > 0 {
		cur, own := sub.nextLocked(), sub.outbox.items
		var n int
		switch {
		case cur == nil && len(own) == 0:
			return dst
		case cur == nil || len(own) > 0 && own[0].seq < cur.key:
			var it Item
			it, n = sub.takeOutboxLocked()
			dst = append(dst, it)
			if it.Post != nil {
				return dst
			}
		case !cur.laggingLocked():
			below := sub.ready.second()
			if len(own) > 0 {
				below = min(below, own[0].seq+1)
			}
			dst, n = cur.takeLocked(dst, below, limit)
		case sub.raw:
			cur.startAtEndLocked()
			return append(dst, Item{Lagged: cur.ch})
		case len(cur.starts) > 0:
			cur.parkLocked()
		case sub.screens && !cur.ch.isRoot():
			return append(dst, Item{Lagged: cur.ch})
		case sub.outbox.rebuilding > 0:
			cur.postponeLocked() // the outbox holds the state of one channel at most
		default:
			cur.resyncLocked(cur.ch.rebuildLocked)
		}
		limit -= n
	}
	return dst
}

// nextLocked returns the cursor whose turn it is, with its key up to date, or nil if there is
// nothing to read. It drops a cursor that has read a removed channel to the end.
func (sub *Subscriber) nextLocked() *cursor {
	for len(sub.ready) > 0 {
		cur := sub.ready[0]
		if !cur.pendingLocked() {
			heap.Pop(&sub.ready)
			if cur.ch.closed && len(cur.starts) == 0 {
				cur.dropLocked()
			}
			continue
		}
		if key := cur.keyLocked(); key != cur.key {
			cur.key = key
			heap.Fix(&sub.ready, 0)
			continue
		}
		return cur
	}
	return nil
}

// Wake wakes the goroutine that pulls although there may be nothing to pull.
func (sub *Subscriber) Wake() { sub.notify() }

// notify wakes the goroutine that pulls.
func (sub *Subscriber) notify() {
	select {
	case sub.signal <- struct{}{}:
	default:
	}
}
