package store

import (
	"slices"

	"termhost/ahp"
)

// Asks says that the list of what agents want to type into a terminal has changed. The list is
// looked up when the message is written. Subscribers that want it read it as an action among the
// others. It is not an action of AHP, changes no state that others see, and is in no log.
type Asks struct{}

// Type returns the action's name inside the host. It has none on the wire.
func (Asks) Type() string { return ahp.MethodAsks }

// AsksReader is which asks a subscriber may read. The zero value reads none.
type AsksReader struct {
	All bool
	// Asker: those of the principal of this ID; "": of nobody.
	Asker string
}

// May reports whether an ask may be read.
func (r AsksReader) May(a ahp.TerminalAsk) bool {
	return r.All || r.Asker != "" && a.Asker == r.Asker
}

// Of returns those of a list that may be read; nil: none. The list is not modified.
func (r AsksReader) Of(list []ahp.TerminalAsk) []ahp.TerminalAsk {
	if r.All || len(list) == 0 {
		return list
	}
	var own []ahp.TerminalAsk
	for _, a := range list {
		if r.May(a) {
			own = append(own, a)
		}
	}
	return own
}

// ReadAsks sets which asks the subscriber may read. Call it before anything is subscribed to.
func (sub *Subscriber) ReadAsks(r AsksReader) {
	sub.store.mu.Lock()
	defer sub.store.mu.Unlock()
	sub.reads = r
}

// WantAsks subscribes to every [Asks] about the subscriber's channels that it may read.
func (sub *Subscriber) WantAsks() {
	sub.store.mu.Lock()
	defer sub.store.mu.Unlock()
	sub.asks = true
}

// SetAsks replaces the asks of a terminal's state, and tells the subscribers for whom anything
// changes. The list must not be modified afterwards.
func (c *Channel) SetAsks(list []ahp.TerminalAsk) {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.closed {
		return
	}
	was := c.state.Asks
	c.state.Asks = list
	for _, cur := range c.cursors {
		if r := cur.sub.reads; !slices.EqualFunc(r.Of(was), r.Of(list), sameAsk) {
			cur.sub.tellAsksLocked(c)
		}
	}
}

// sameAsk compares what can differ: an ask's other fields never change.
func sameAsk(a, b ahp.TerminalAsk) bool { return a.Ask == b.Ask && a.All == b.All }

// Asks returns those of a terminal's asks that r may read, and whether there are others. The list
// must not be modified.
func (c *Channel) Asks(r AsksReader) (list []ahp.TerminalAsk, more bool) {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	list = r.Of(c.state.Asks)
	return list, len(list) < len(c.state.Asks)
}

// TellAsks sends an [Asks] to a subscriber that has begun to read c, if it wants them and may read
// one. again: its client may know of earlier ones, so it is also told that there are none.
func (sub *Subscriber) TellAsks(c *Channel, again bool) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.isRoot() || sub.reads == (AsksReader{}) {
		return
	}
	if again || len(sub.reads.Of(c.state.Asks)) > 0 {
		sub.tellAsksLocked(c)
	}
}

// tellAsksLocked replaces the unread one.
func (sub *Subscriber) tellAsksLocked(c *Channel) {
	if !sub.asks {
		return
	}
	sub.outbox.drop(c, func(a ahp.Action) bool {
		_, ok := a.(Asks)
		return ok
	})
	sub.pushAnswerLocked(&Entry{seq: sub.store.nextLocked(), channel: c.uri, action: Asks{}})
}
