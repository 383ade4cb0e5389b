package store

import (
	"container/heap"
	"context"
)

// Post is a message of a connection's own, such as a response, that must keep
// its place among the actions. It appends the message to dst; it is called by
// the connection's writer, once.
type Post func(dst []byte) []byte

// Item is what a Subscriber reads next: exactly one of the fields is set.
type Item struct {
	Entry *Entry
	Post  Post
	// Lagged is set for a raw subscriber that fell off this channel's log: it
	// must draw the state anew and go on with [Subscriber.Skip] or
	// [Subscriber.Follow] before it pulls again.
	Lagged *Channel
}

// Subscriber is one connection's place in the logs it reads. One goroutine
// pulls; the other methods may be called concurrently.
type Subscriber struct {
	store  *Store
	raw    bool
	signal chan struct{} // 1 deep: there is something to pull
	room   chan struct{} // 1 deep: own may have become short again

	// Guarded by store.mu.
	client  string           // whose clientId reads here; "": nobody's
	links   map[string]*link // by the channel's URI
	ready   readyLinks
	taken   []*link // the links that the last Pull read from
	own     []ownItem
	closed  bool
	writing bool // the last Pull gave something to write
	// pulled is the place of the last item given out, written that of the last
	// one known to be written: serverSeqs.
	pulled, written uint64
	// synced says for each channel up to which serverSeq what has been sent
	// here must have arrived for the reader's state to be known: that of its
	// last snapshot or resynchronisation. A channel that is not in it must be
	// resynchronised.
	synced map[string]uint64
}

// ownItem is an entry of the connection's own log. seq is its place: that of
// its entry, or of the last entry before its post. They never fall.
type ownItem struct {
	seq  uint64
	item Item
}

// ownLimit is how many items a connection's own log may hold before its door
// should stop reading requests: each is an answer to one.
const ownLimit = 1024

// NewSubscriber returns a Subscriber without subscriptions. A raw one is not
// resynchronised by actions but told to, and needs no encodings. It must be
// closed.
func (s *Store) NewSubscriber(raw bool) *Subscriber {
	return &Subscriber{store: s, raw: raw, signal: make(chan struct{}, 1), room: make(chan struct{}, 1),
		links: map[string]*link{}, synced: map[string]uint64{}}
}

// Identify says whose clientId reads here, which decides what is shown of the
// output of a terminal that it owns.
func (sub *Subscriber) Identify(clientID string) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	sub.client = clientID
}

// mayReadLocked reports whether e is for this reader.
func (sub *Subscriber) mayReadLocked(e *Entry) bool {
	return e.audience == everybody || (e.audience == ownerOnly) == (e.owner == sub.client)
}

// Signal returns the channel that is sent to when there is something to pull.
// To wait for it is right only after a [Subscriber.Pull] that gave nothing.
func (sub *Subscriber) Signal() <-chan struct{} { return sub.signal }

// Subscribed reports whether c is being read.
func (sub *Subscriber) Subscribed(c *Channel) bool {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	return sub.linkToLocked(c) != nil
}

// Channels returns what is being read, in no order.
func (sub *Subscriber) Channels() []*Channel {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*Channel, 0, len(sub.links))
	for _, l := range sub.links {
		list = append(list, l.ch)
	}
	return list
}

// Lag returns how much of c's log has not been written yet, in the measure of
// [Channel.LogBytes]: what the output takes and what each entry weighs besides.
// A reader that fell off the log lags by all of it.
func (sub *Subscriber) Lag(c *Channel) int {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	l := sub.linkToLocked(c)
	if l == nil {
		return 0
	}
	return int(c.log.behind(l.done))
}

// Pending reports whether there is anything that has not been written yet.
func (sub *Subscriber) Pending() bool {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	return sub.writing || len(sub.own) > 0 || sub.nextLocked() != nil
}

// WaitRoom returns when the connection's own log is short enough to take more,
// or the subscriber is closed, or with ctx's cause.
func (sub *Subscriber) WaitRoom(ctx context.Context) error {
	for {
		sub.store.mu.Lock()
		full := len(sub.own) >= ownLimit
		sub.store.mu.Unlock()
		if !full {
			sub.tellRoom() // there may be another one waiting
			return nil
		}
		select {
		case <-sub.room:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (sub *Subscriber) tellRoom() {
	select {
	case sub.room <- struct{}{}:
	default:
	}
}

// Close ends all subscriptions and returns what a later [Subscriber.Reconnect]
// needs to know.
func (sub *Subscriber) Close() (synced map[string]uint64) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	sub.closed = true
	for uri, l := range sub.links {
		if l.laggingLocked() {
			// What it missed may be older than what it last saw elsewhere: nothing
			// that it can have seen says that it knows the state.
			sub.synced[uri] = s.seq + 1
		}
		l.dropLocked()
	}
	sub.own, sub.taken = nil, nil
	sub.tellRoom()
	return sub.synced
}

// Pull appends what comes next to dst, in the order of serverSeq, until there
// is no more or the items hold about limit bytes of output. A [Post] or a
// lagged channel is the last of the items: while it is being written, what it is
// about may be settled, such as a subscription that it answers, and what is
// pulled later comes after that. To call Pull is to say that what it
// returned before has been written.
func (sub *Subscriber) Pull(dst []Item, limit int) []Item {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range sub.taken {
		l.writtenLocked()
	}
	clear(sub.taken)
	sub.taken = sub.taken[:0]
	sub.written = sub.pulled
	given := len(dst)
	dst = sub.pullLocked(dst, limit)
	sub.writing = len(dst) > given
	return dst
}

func (sub *Subscriber) pullLocked(dst []Item, limit int) []Item {
	for limit > 0 {
		l := sub.nextLocked()
		var n int
		switch {
		case l == nil && len(sub.own) == 0:
			return dst
		case l == nil || len(sub.own) > 0 && sub.own[0].seq < l.key:
			var it Item
			it, n = sub.takeOwnLocked()
			dst = append(dst, it)
			if it.Post != nil {
				return dst
			}
		case !l.laggingLocked():
			below := sub.ready.second()
			if len(sub.own) > 0 {
				below = min(below, sub.own[0].seq+1)
			}
			dst, n = l.takeLocked(dst, below, limit)
		case sub.raw:
			l.restartLocked()
			return append(dst, Item{Lagged: l.ch})
		default:
			l.resyncLocked()
		}
		limit -= n
	}
	return dst
}

// nextLocked returns the link whose turn it is, with its key up to date, or nil
// if none has anything. A link that has read a removed channel to the end is
// dropped.
func (sub *Subscriber) nextLocked() *link {
	for len(sub.ready) > 0 {
		l := sub.ready[0]
		if !l.pendingLocked() {
			heap.Pop(&sub.ready)
			if l.ch.closed {
				l.dropLocked()
			}
			continue
		}
		if key := l.keyLocked(); key != l.key {
			l.key = key
			heap.Fix(&sub.ready, 0)
			continue
		}
		return l
	}
	return nil
}

func (sub *Subscriber) takeOwnLocked() (it Item, weight int) {
	const answer = 256 // about what an answer weighs
	it = sub.own[0].item
	sub.pulled = sub.own[0].seq
	sub.own[0] = ownItem{}
	sub.own = sub.own[1:]
	if len(sub.own) == ownLimit/2 {
		sub.tellRoom()
	}
	if it.Entry != nil {
		return it, answer + payload(it.Entry.action)
	}
	return it, answer
}

func (sub *Subscriber) notify() {
	select {
	case sub.signal <- struct{}{}:
	default:
	}
}
