package host

import (
	"slices"
	"sync"

	"termhost/ahp"
)

// looking is what the person behind a connection looks at, if the peer tells.
type looking struct {
	mu    sync.Mutex // held before any Term's lock
	at    []*Terminal
	over  bool          // the connection has ended
	calls chan struct{} // of capacity 1; nil: the peer has not told yet
}

// Looking sets which terminals the connection's person looks at. Those that do not exist for the
// principal are left out. After the first time, which returns true, Calls has values.
func (c *Conn) Looking(uris []string) (first bool) {
	var at []*Terminal
	for _, ref := range uris {
		uri, ok := ahp.NormalizeChannel(ref)
		t := c.host.lookupFor(c.principal, uri)
		if ok && t != nil && !slices.Contains(at, t) {
			at = append(at, t)
		}
	}
	g := &c.looking
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return false
	}
	if first = g.calls == nil; first {
		g.calls = make(chan struct{}, 1)
		c.host.watchers.follow(c)
	}
	c.turnLocked(at)
	return first
}

// turnLocked has the person look at other terminals.
func (c *Conn) turnLocked(at []*Terminal) {
	was := c.looking.at
	c.looking.at = at
	for _, t := range was {
		if !slices.Contains(at, t) {
			t.term.Lock()
			t.attention.viewEnds(c.principal)
			t.term.Unlock()
		}
	}
	for _, t := range at {
		if !slices.Contains(was, t) {
			t.term.Lock()
			t.attention.viewBegins(c.principal)
			t.term.Unlock()
		}
	}
	c.host.watchers.tell()
}

// lookAway is called when the connection ends.
func (c *Conn) lookAway() {
	g := &c.looking
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
	if g.calls == nil {
		return
	}
	c.host.watchers.unfollow(c)
	c.turnLocked(nil)
}

// Calls receives a value when [Conn.Wanting] may have changed. Looking must have been called.
func (c *Conn) Calls() <-chan struct{} { return c.looking.calls }
