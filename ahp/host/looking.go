package host

import (
	"slices"
	"sync"

	"termhost/ahp"
)

// gaze is what the person behind a connection looks at, where its peer tells.
type gaze struct {
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
	g := &c.gaze
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return false
	}
	if first = g.calls == nil; first {
		g.calls = make(chan struct{}, 1)
		c.host.people.follow(c)
	}
	c.turnLocked(at)
	return first
}

// turnLocked has the person look at other terminals.
func (c *Conn) turnLocked(at []*Terminal) {
	was := c.gaze.at
	c.gaze.at = at
	for _, t := range was {
		if !slices.Contains(at, t) {
			t.term.Lock()
			t.attention.looksAway(c.principal)
			t.term.Unlock()
		}
	}
	for _, t := range at {
		if !slices.Contains(was, t) {
			t.term.Lock()
			t.attention.looks(c.principal)
			t.term.Unlock()
		}
	}
	c.host.people.tell()
}

// lookAway is called when the connection ends.
func (c *Conn) lookAway() {
	g := &c.gaze
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
	if g.calls == nil {
		return
	}
	c.host.people.unfollow(c)
	c.turnLocked(nil)
}

// Calls gets a value when what wants the connection's person may have changed: see [Host.Wanting].
// Looking must have been called.
func (c *Conn) Calls() <-chan struct{} { return c.gaze.calls }

// Wanting returns the terminals that want the connection's person, the longest first.
func (c *Conn) Wanting() []Wanted {
	list, err := c.host.Wanting(c.principal)
	if err != nil || c.ctx.Err() != nil {
		return nil
	}
	return list
}

// follow has a connection called from now on, and at once.
func (p *people) follow(c *Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		p.conns = map[*Conn]struct{}{}
	}
	p.conns[c] = struct{}{}
}

func (p *people) unfollow(c *Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

func (p *people) tellConnsLocked() {
	for c := range p.conns {
		select {
		case c.gaze.calls <- struct{}{}:
		default:
		}
	}
}
