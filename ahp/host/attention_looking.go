package host

import (
	"slices"
	"time"
)

// Looking sets which terminals the connection's person looks at. Those that do not exist for the
// principal are left out. After the first time, which returns true, Calls has values.
func (c *Conn) Looking(uris []string) (first bool) {
	var at []*Terminal
	for _, ref := range uris {
		uri, ok := c.ChannelURI(ref)
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

// WantingChanges returns a channel that receives a value when [Conn.Wanting] may have changed, and
// a function that ends that.
func (c *Conn) WantingChanges() (calls <-chan struct{}, end func()) {
	return c.host.UnseenChanges()
}

// notifyPause is the least time between two notifications of a person: what happens meanwhile is
// told together.
const notifyPause = 5 * time.Second

// News returns the terminals of list of which this viewer, and no other, must notify its person
// now, with what is new of each. If there are none, after is the time after which to ask again; 0:
// at the next call.
func (a *Attach) News(list []Wanted) (fresh []Wanted, after time.Duration) {
	h, o := a.conn.host, a.watcher
	if o == nil {
		return nil, 0
	}
	h.watchers.mu.Lock()
	defer h.watchers.mu.Unlock()
	latest := o.told
	for _, w := range list {
		if n, ok := w.newer(o.told); ok {
			fresh = append(fresh, n)
		}
		if w.At.After(latest) {
			latest = w.At
		}
	}
	now := h.now()
	if len(fresh) == 0 || !o.active.CompareAndSwap(nil, a) && o.active.Load() != a {
		return nil, 0
	}
	if wait := notifyPause - now.Sub(o.notified); wait > 0 {
		return nil, wait
	}
	o.told, o.notified = latest, now
	return fresh, 0
}

// Wanting returns the terminals that want the connection's person, the longest first, of those that
// its principal sees. It returns *authz.Denied if that may not list, or an [*EndedError].
func (c *Conn) Wanting() ([]Wanted, error) {
	if err := c.Ended(); err != nil {
		return nil, err
	}
	order, err := c.Terminals()
	var list []Wanted
	for _, t := range order {
		t.term.Lock()
		if w, ok := t.attention.wants(c.principal); ok {
			list = append(list, w)
		}
		t.term.Unlock()
	}
	slices.SortStableFunc(list, func(a, b Wanted) int { return a.Since.Compare(b.Since) })
	return list, err
}
