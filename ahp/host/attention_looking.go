package host

import (
	"slices"
	"sync"

	"termhost/ahp"
)

// looking is what the person behind a connection looks at, where its peer tells.
type looking struct {
	mu    sync.Mutex // held before any Term's lock
	at    []*Terminal
	over  bool          // the connection has ended
	calls chan struct{} // 1 deep; nil: the peer has not told yet
}

// Looking notes what the connection's person looks at from now on, instead of what they looked at
// before. Terminals that do not exist for them are left out. From the first time on the connection
// is called: first is true then.
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

// Calls gets a value when what wants the connection's person may have changed: see [Conn.Wanting].
// Looking must have been called.
func (c *Conn) Calls() <-chan struct{} { return c.looking.calls }
