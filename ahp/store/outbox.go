package store

import (
	"context"
	"slices"

	"termhost/ahp"
)

// Post is a message of one connection, such as a response, with a place among the actions. It
// appends the message to dst, and is called once, by the connection's writer.
type Post func(dst []byte) []byte

// outbox holds a connection's own messages until its writer takes them: answers to its peer, and
// the actions that rebuild a state. Each has a place among the entries of the channels.
type outbox struct {
	items []outboxItem

	// answers and held are the number of unwritten answers and the bytes they keep in memory. When
	// they reach their bounds, the connection's reader stops: see [Subscriber.WaitRoom].
	answers, held int
	blocked       bool // a reader waits for room

	rebuilding int // number of items that are not answers
}

// outboxItem is a message and its place, which is the serverSeq of its entry, or for a post
// the store's last serverSeq. Places never fall.
type outboxItem struct {
	seq    uint64
	item   Item
	answer bool // else one of the actions that rebuild a state
	held   int  // bytes that an answer keeps in memory
	// passedOn: neither; it counts nowhere. It makes the item's Post with the place. nil: it was
	// not passed on. See [Subscriber.PassOn].
	passedOn func(dst []byte, seq uint64) []byte
}

const (
	// maxAnswers bounds the unwritten answers; each is for one message of the peer.
	maxAnswers = 1024
	// maxHeld bounds the bytes that they keep in memory: as many as the content of a terminal has
	// by default. A single larger answer is accepted.
	maxHeld = 1 << 20
)

func (o *outbox) full() bool { return o.answers >= maxAnswers || o.held >= maxHeld }

// roomy reports whether half of the outbox is free, so that a reader which waited can continue for
// a while.
func (o *outbox) roomy() bool { return o.answers <= maxAnswers/2 && o.held <= maxHeld/2 }

// push adds a message behind all others.
func (o *outbox) push(it outboxItem) {
	o.items = append(o.items, it)
	switch {
	case it.passedOn != nil:
	case it.answer:
		o.answers++
		o.held += it.held
	default:
		o.rebuilding++
	}
}

// pop takes the first message out.
func (o *outbox) pop() outboxItem {
	it := o.items[0]
	o.items[0] = outboxItem{}
	o.items = o.items[1:]
	o.forget(it)
	return it
}

// forget subtracts a removed message from the sums.
func (o *outbox) forget(it outboxItem) {
	switch {
	case it.passedOn != nil:
	case it.answer:
		o.answers--
		o.held -= it.held
	default:
		o.rebuilding--
	}
}

// dropRebuild removes the actions that rebuild a channel's state, which the peer no longer follows.
// Answers stay.
func (o *outbox) dropRebuild(uri string) {
	o.items = slices.DeleteFunc(o.items, func(it outboxItem) bool {
		if it.answer || it.passedOn != nil || it.item.Entry.channel != uri {
			return false
		}
		o.forget(it)
		return true
	})
}

// Answer adds an entry that only this subscriber reads: a rejection, or if rejection is "", an
// acknowledgement. It takes a serverSeq. a must not be modified afterwards.
func (sub *Subscriber) Answer(channel string, a ahp.Action, origin *ahp.Origin,
	rejection string) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if cur := sub.cursors[channel]; cur != nil {
		cur.takeEarlyLocked()
	}
	e := &Entry{channel: channel, action: a, origin: origin, rejection: rejection}
	e.seq = s.nextLocked()
	sub.pushAnswerLocked(e)
}

// Post adds a message behind everything that has happened so far. held is about how many bytes p
// keeps in memory until it is called.
func (sub *Subscriber) Post(p Post, held int) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	sub.postLocked(p, held, false)
}

// PostLarge is [Subscriber.Post] for an answer that may be large.
func (sub *Subscriber) PostLarge(p Post, held int) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	sub.postLocked(p, held, true)
}

func (sub *Subscriber) postLocked(p Post, held int, large bool) {
	sub.pushLocked(outboxItem{seq: sub.store.seq, item: Item{Post: p, Large: large}, held: held,
		answer: true})
}

// pushAnswerLocked adds an answer to the peer.
func (sub *Subscriber) pushAnswerLocked(e *Entry) {
	sub.pushLocked(outboxItem{seq: e.seq, item: Item{Entry: e}, held: e.weigh(), answer: true})
}

func (sub *Subscriber) pushLocked(it outboxItem) {
	if !sub.closed {
		sub.outbox.push(it)
		sub.notify()
	}
}

// takeOutboxLocked takes the next message out of the outbox.
func (sub *Subscriber) takeOutboxLocked() (it Item, weight int) {
	const answer = 256 // about what an answer weighs
	next := sub.outbox.pop()
	sub.pulled = next.seq
	sub.tellRoomLocked()
	if next.item.Entry != nil {
		return next.item, answer + payload(next.item.Entry.action)
	}
	return next.item, answer
}

// WaitRoom returns when the outbox has room for more answers or the subscriber is closed, or with
// ctx's cause if that ends first. A connection's reader calls it before it reads.
func (sub *Subscriber) WaitRoom(ctx context.Context) error {
	for {
		sub.store.mu.Lock()
		full := sub.outbox.full()
		sub.outbox.blocked = full
		sub.store.mu.Unlock()
		if !full {
			sub.tellRoom() // another reader may wait
			return nil
		}
		select {
		case <-sub.room:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// tellRoomLocked is called when the outbox has become shorter.
func (sub *Subscriber) tellRoomLocked() {
	if sub.outbox.blocked && sub.outbox.roomy() {
		sub.outbox.blocked = false
		sub.tellRoom()
	}
}

func (sub *Subscriber) tellRoom() {
	select {
	case sub.room <- struct{}{}:
	default:
	}
}
