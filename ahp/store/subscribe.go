package store

import (
	"slices"

	"termhost/ahp"
)

// Subscribe starts reading c's log at its end, anew if it was read before, and
// returns the state there. It takes a serverSeq, the view's: whoever has seen
// that or a later one has got the view.
//
// What follows may be pulled at once. So that it cannot overtake the answer that
// carries the view, the answer is posted first and, when it is pulled, waits for
// the view: see [Subscriber.Pull].
func (sub *Subscriber) Subscribe(c *Channel) (View, error) {
	views, _ := sub.SubscribeAll([]*Channel{c})
	if len(views) == 0 {
		return View{}, ErrGone
	}
	return views[0], nil
}

// SubscribeAll subscribes to several channels at one moment: all views are of the
// serverSeq that is returned. Channels that are gone are left out.
func (sub *Subscriber) SubscribeAll(channels []*Channel) (views []View, seq uint64) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if sub.closed {
		return nil, s.seq
	}
	channels = slices.DeleteFunc(slices.Clone(channels), func(c *Channel) bool { return c.closed })
	if len(channels) > 0 {
		s.nextLocked()
	}
	for _, c := range channels {
		sub.linkLocked(c).restartLocked()
		sub.synced[c.uri] = s.seq
		views = append(views, c.viewLocked())
	}
	return views, s.seq
}

// Follow starts reading c's log at its end. The caller knows the state there.
func (sub *Subscriber) Follow(c *Channel) error {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.closed || sub.closed {
		return ErrGone
	}
	sub.linkLocked(c).restartLocked()
	return nil
}

// Inherit goes on with what an earlier connection of the same reader read: each
// of the channels that is not read here yet is resynchronised, since nothing is
// known of what the reader has of it. It is called where the answer that lets the
// reader in is being written: see [Subscriber.Subscribe].
func (sub *Subscriber) Inherit(channels []*Channel) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range channels {
		if c.closed || sub.closed || sub.linkToLocked(c) != nil {
			continue
		}
		l := sub.linkLocked(c)
		l.restartLocked()
		l.pos, l.since = fallen, l.pos
		l.wakeLocked()
	}
}

// linkToLocked returns the link to c, or nil.
func (sub *Subscriber) linkToLocked(c *Channel) *link {
	if l := sub.links[c.uri]; l != nil && l.ch == c {
		return l
	}
	return nil
}

// linkLocked returns the link to c, made if there is none. An earlier channel of
// the same URI is not read on: what it still had to tell is not of this one.
func (sub *Subscriber) linkLocked(c *Channel) *link {
	l := sub.links[c.uri]
	if l != nil && l.ch != c {
		l.dropLocked()
		l = nil
	}
	if l == nil {
		l = &link{sub: sub, ch: c, index: notReady}
		sub.links[c.uri] = l
		c.links = append(c.links, l)
		if !sub.raw {
			c.encoders++
		}
	}
	return l
}

// Skip continues at the end of c's log.
func (sub *Subscriber) Skip(c *Channel) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := sub.linkToLocked(c); l != nil {
		l.restartLocked()
	}
}

// Unsubscribe stops reading c's log.
func (sub *Subscriber) Unsubscribe(c *Channel) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := sub.linkToLocked(c); l != nil {
		delete(sub.synced, c.uri)
		l.dropLocked()
	}
}

// Answer adds an entry that only this subscriber sees: an acknowledgement, or
// with a reason a rejection. It takes a serverSeq of its own. a must not be
// modified afterwards.
func (sub *Subscriber) Answer(channel string, a ahp.Action, origin *ahp.Origin, rejection string) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	sub.pushLocked(&Entry{seq: s.nextLocked(), channel: channel, action: a, origin: origin, rejection: rejection})
}

// Post adds a message of the connection's own after everything that has
// happened so far.
func (sub *Subscriber) Post(p Post) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if !sub.closed {
		sub.own = append(sub.own, ownItem{seq: s.seq, item: Item{Post: p}})
		sub.notify()
	}
}

func (sub *Subscriber) pushLocked(e *Entry) {
	if !sub.closed {
		sub.own = append(sub.own, ownItem{seq: e.seq, item: Item{Entry: e}})
		sub.notify()
	}
}
