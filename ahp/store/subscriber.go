package store

import (
	"context"
	"math"
	"slices"

	"termhost/ahp"
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
	// must draw the state anew, after [Subscriber.Skip].
	Lagged *Channel
}

// Subscriber is one connection's place in the logs it reads. One goroutine
// pulls; the other methods may be called concurrently.
type Subscriber struct {
	store  *Store
	raw    bool
	signal chan struct{} // 1 deep: there is something to pull
	room   chan struct{} // 1 deep: own has become short again

	// Guarded by store.mu.
	links  map[*Channel]*link
	ready  []*link // the links with something to read, in no order
	taken  []*link // the links that the last Pull read from
	own    []ownItem
	closed bool
	// writing says that the last Pull gave something to write.
	writing bool
	// synced says for each channel which serverSeq ended the last snapshot or
	// resynchronisation sent here.
	synced map[string]uint64
}

// link is a Subscriber's position in one channel's log.
type link struct {
	sub   *Subscriber
	ch    *Channel
	pos   int64 // of the next entry to read
	done  int64 // entries before this one have been written
	ready bool  // it is in sub.ready
}

// lagging is the position of a link that must be resynchronised.
const lagging = -1

// ownItem is an entry of the connection's own log. seq is its place: that of
// its entry, or of the last entry before its post.
type ownItem struct {
	seq   uint64
	entry *Entry
	post  Post
}

// ownLimit is how many items a connection's own log may hold before its door
// should stop reading requests: each is an answer to one.
const ownLimit = 1024

// NewSubscriber returns a Subscriber without subscriptions. A raw one is not
// resynchronised by actions but told to.
func (s *Store) NewSubscriber(raw bool) *Subscriber {
	return &Subscriber{store: s, raw: raw, signal: make(chan struct{}, 1), room: make(chan struct{}, 1),
		links: map[*Channel]*link{}, synced: map[string]uint64{}}
}

// Signal returns the channel that is sent to when there is something to pull.
func (sub *Subscriber) Signal() <-chan struct{} { return sub.signal }

// Subscribe starts reading c's log at its end, from the start if it was read
// before, and returns the state there.
func (sub *Subscriber) Subscribe(c *Channel) (View, error) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.closed || sub.closed {
		return View{}, ErrGone
	}
	l := sub.linkLocked(c)
	l.pos = c.log.end()
	l.done = l.pos
	sub.synced[c.uri] = s.seq
	return c.viewLocked(), nil
}

// Follow starts reading c's log at its end. The caller knows the state there.
func (sub *Subscriber) Follow(c *Channel) error {
	_, err := sub.Subscribe(c)
	return err
}

// Skip continues at the end of c's log.
func (sub *Subscriber) Skip(c *Channel) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := sub.links[c]; l != nil {
		l.pos = c.log.end()
		l.done = l.pos
	}
}

// Unsubscribe stops reading c's log.
func (sub *Subscriber) Unsubscribe(c *Channel) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := sub.links[c]; l != nil {
		l.dropLocked()
	}
}

// Subscribed reports whether c is being read.
func (sub *Subscriber) Subscribed(c *Channel) bool {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	return sub.links[c] != nil
}

// Channels returns what is being read.
func (sub *Subscriber) Channels() []*Channel {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*Channel, 0, len(sub.links))
	for c := range sub.links {
		list = append(list, c)
	}
	return list
}

// Lag returns how many bytes of c's log have not been pulled yet; a reader that
// fell off it lags by all of it.
func (sub *Subscriber) Lag(c *Channel) int {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	l := sub.links[c]
	if l == nil {
		return 0
	}
	n := 0
	for _, e := range c.log.entries[max(l.done, c.log.base)-c.log.base:] {
		n += len(dataOf(e.action))
	}
	return n
}

func dataOf(a ahp.Action) []byte {
	d, _ := a.(ahp.TerminalData)
	return d.Data
}

// Answer adds an entry that only this subscriber sees: an acknowledgement, or
// with a reason a rejection. It takes a serverSeq of its own.
func (sub *Subscriber) Answer(channel string, a ahp.Action, origin *ahp.Origin, rejection string) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	sub.answerLocked(channel, a, origin, rejection)
}

func (sub *Subscriber) answerLocked(channel string, a ahp.Action, origin *ahp.Origin, rejection string) {
	e := &Entry{seq: sub.store.nextLocked(), channel: channel, action: a, origin: origin, rejection: rejection}
	sub.pushLocked(ownItem{seq: e.seq, entry: e})
}

// Post adds a message of the connection's own after everything that has
// happened so far.
func (sub *Subscriber) Post(p Post) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	sub.pushLocked(ownItem{seq: s.seq, post: p})
}

func (sub *Subscriber) pushLocked(it ownItem) {
	if !sub.closed {
		sub.own = append(sub.own, it)
		sub.notify()
	}
}

// WaitRoom returns when the connection's own log is short enough to take more,
// or with ctx's cause.
func (sub *Subscriber) WaitRoom(ctx context.Context) error {
	for {
		sub.store.mu.Lock()
		full := len(sub.own) >= ownLimit
		sub.store.mu.Unlock()
		if !full {
			return nil
		}
		select {
		case <-sub.room:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Close ends all subscriptions and returns what a later [Subscriber.Reconnect]
// needs to know.
func (sub *Subscriber) Close() (synced map[string]uint64) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	sub.closed = true
	for _, l := range sub.links {
		l.dropLocked()
	}
	sub.own = nil
	return sub.synced
}

// Pull appends what comes next to dst, in the order of serverSeq, until there
// is no more or the items hold about limit bytes of output. To call it is to
// say that what it returned before has been written.
func (sub *Subscriber) Pull(dst []Item, limit int) []Item {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range sub.taken {
		l.writtenLocked()
	}
	sub.taken = sub.taken[:0]
	given := len(dst)
	defer func() { sub.writing = len(dst) > given }()
	for limit > 0 {
		l, below := sub.nextLocked()
		if l == nil && len(sub.own) == 0 {
			break
		}
		var n int
		switch {
		case l == nil || len(sub.own) > 0 && sub.own[0].seq < l.keyLocked():
			dst, n = sub.takeOwnLocked(dst)
		case l.laggingLocked():
			dst, n = l.resyncLocked(dst)
			if sub.raw && !l.ch.isRoot() {
				return dst
			}
		default:
			dst, n = l.takeLocked(dst, below, limit)
		}
		limit -= n
	}
	return dst
}

// nextLocked returns the link whose next entry is the oldest, and the serverSeq
// below which it may be read on. It returns nil if no link has anything.
func (sub *Subscriber) nextLocked() (best *link, below uint64) {
	below = math.MaxUint64
	for i := 0; i < len(sub.ready); {
		l := sub.ready[i]
		if !l.pendingLocked() {
			last := len(sub.ready) - 1
			sub.ready[i] = sub.ready[last]
			sub.ready = sub.ready[:last]
			l.ready = false
			if l.ch.closed {
				l.dropLocked()
			}
			continue
		}
		switch {
		case best == nil:
			best = l
		case l.keyLocked() < best.keyLocked():
			below = min(below, best.keyLocked())
			best = l
		default:
			below = min(below, l.keyLocked())
		}
		i++
	}
	if len(sub.own) > 0 {
		below = min(below, sub.own[0].seq+1)
	}
	return best, below
}

func (sub *Subscriber) takeOwnLocked(dst []Item) ([]Item, int) {
	const answer = 256 // about what an answer weighs
	it := sub.own[0]
	sub.own[0] = ownItem{}
	sub.own = sub.own[1:]
	if len(sub.own) == ownLimit/2 {
		select {
		case sub.room <- struct{}{}:
		default:
		}
	}
	if it.entry != nil {
		return append(dst, Item{Entry: it.entry}), answer + dataLen(it.entry.action)
	}
	return append(dst, Item{Post: it.post}), answer
}

func (sub *Subscriber) notify() {
	select {
	case sub.signal <- struct{}{}:
	default:
	}
}

func (sub *Subscriber) linkLocked(c *Channel) *link {
	l := sub.links[c]
	if l == nil {
		l = &link{sub: sub, ch: c}
		sub.links[c] = l
		c.links = append(c.links, l)
	}
	return l
}

func (l *link) wake() {
	if !l.ready {
		l.ready = true
		l.sub.ready = append(l.sub.ready, l)
	}
	l.sub.notify()
}

func (l *link) laggingLocked() bool { return l.pos < l.ch.log.base }

func (l *link) pendingLocked() bool { return l.pos < l.ch.log.end() }

// keyLocked is the serverSeq of what comes next. A lagging link comes last:
// what it will be sent has no number yet.
func (l *link) keyLocked() uint64 {
	if l.laggingLocked() {
		return math.MaxUint64
	}
	return l.ch.log.at(l.pos).seq
}

// takeLocked reads entries with a serverSeq below the given one.
func (l *link) takeLocked(dst []Item, below uint64, limit int) ([]Item, int) {
	n := 0
	l.sub.taken = append(l.sub.taken, l)
	for l.pendingLocked() && n < limit {
		e := l.ch.log.at(l.pos)
		if e.seq >= below {
			break
		}
		if !l.sub.raw {
			l.ch.log.count(e)
		}
		dst = append(dst, Item{Entry: e})
		n += e.weight()
		l.pos++
	}
	return dst, n
}

// writtenLocked notes that everything pulled so far has been written, and drops
// the encodings that nobody needs any more.
func (l *link) writtenLocked() {
	if l.done == l.pos {
		return // taken twice, or begun anew since
	}
	l.done = l.pos
	if l.sub.raw {
		return
	}
	oldest := l.ch.log.end()
	for _, other := range l.ch.links {
		if !other.sub.raw && other.done >= l.ch.log.base {
			oldest = min(oldest, other.done)
		}
	}
	l.ch.log.dropEncoded(oldest)
}

func (l *link) dropLocked() {
	delete(l.sub.links, l.ch)
	if i := slices.Index(l.ch.links, l); i >= 0 {
		l.ch.links = slices.Delete(l.ch.links, i, i+1)
	}
	if i := slices.Index(l.sub.ready, l); i >= 0 {
		l.sub.ready = slices.Delete(l.sub.ready, i, i+1)
	}
}

// Pending reports whether there is anything that has not been written yet.
func (sub *Subscriber) Pending() bool {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if sub.writing || len(sub.own) > 0 {
		return true
	}
	for _, l := range sub.ready {
		if l.pendingLocked() {
			return true
		}
	}
	return false
}
