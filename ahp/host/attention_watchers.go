package host

import (
	"sync"
	"sync/atomic"
	"time"

	"termhost/authz"
)

// watchers are the principals that look at terminals in windows, where one notification at a time
// goes to each, whichever of its windows that is, or by other connections.
type watchers struct {
	mu    sync.Mutex // a leaf
	by    map[string]*watcher
	conns map[*Conn]struct{} // those whose peers tell what is looked at: see [Conn.Looking]
}

// watcher is one of them.
type watcher struct {
	active atomic.Pointer[Attach] // the window that was used last; nil: it is closed

	// Guarded by people.mu.
	windows  map[*Attach]struct{}
	told     time.Time // what the terminals have wanted up to then is known
	notified time.Time // when there was the last notification
}

// join adds a window, which is called at once.
func (p *watchers) join(a *Attach, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by == nil {
		p.by = map[string]*watcher{}
	}
	id := a.conn.principal.ID
	if p.by[id] == nil {
		p.by[id] = &watcher{windows: map[*Attach]struct{}{}, told: now}
	}
	a.watcher = p.by[id]
	a.watcher.windows[a] = struct{}{}
	a.watcher.active.Store(a)
	a.call()
}

// leave removes it.
func (p *watchers) leave(a *Attach) {
	if a.watcher == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	o := a.watcher
	delete(o.windows, a)
	o.active.CompareAndSwap(a, nil)
	if id := a.conn.principal.ID; len(o.windows) == 0 && p.by[id] == o {
		delete(p.by, id)
	}
}

// tell tells all that a terminal wants somebody more, or less. Any lock may be held.
func (p *watchers) tell() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.by {
		for a := range o.windows {
			a.call()
		}
	}
	p.tellConnsLocked()
}

// here reports whether a person looks at some terminal, in a window or by another connection. Any
// lock may be held.
func (p *watchers) here(person string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range p.by {
		if authz.Person(id) == person {
			return true
		}
	}
	for c := range p.conns {
		if authz.Person(c.principal.ID) == person {
			return true
		}
	}
	return false
}

// used notes that the viewer's window is the one that is used.
func (a *Attach) used() {
	if o := a.watcher; o != nil && o.active.Load() != a {
		o.active.Store(a)
	}
}

// call has the viewer look at what wants its person.
func (a *Attach) call() {
	select {
	case a.calls <- struct{}{}:
	default:
	}
}

// Calls gets a value at first, and whenever what wants the viewer's person may have changed: see
// [Conn.Wanting]. Nothing is sent to a viewer without a window.
func (a *Attach) Calls() <-chan struct{} { return a.calls }

// News returns those of list that the viewer's person is to be notified of now, at this viewer and
// no other. With none, after says when to ask again; 0: when there is another call.
func (a *Attach) News(list []Wanted) (fresh []Wanted, after time.Duration) {
	h, o := a.conn.host, a.watcher
	if o == nil {
		return nil, 0
	}
	h.watchers.mu.Lock()
	defer h.watchers.mu.Unlock()
	latest := o.told
	for _, w := range list {
		if w.At.After(o.told) {
			fresh = append(fresh, w)
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

// follow has a connection called from now on, and at once.
func (p *watchers) follow(c *Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		p.conns = map[*Conn]struct{}{}
	}
	p.conns[c] = struct{}{}
}

func (p *watchers) unfollow(c *Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

func (p *watchers) tellConnsLocked() {
	for c := range p.conns {
		select {
		case c.looking.calls <- struct{}{}:
		default:
		}
	}
}
