package host

import (
	"sync"
	"sync/atomic"
	"time"

	"termhost/authz"
)

// watchers are the principals that look at terminals, and are called when one wants them: in
// windows, of which the one used last gets the notifications, or by other connections.
type watchers struct {
	mu     sync.Mutex                 // a leaf
	by     map[string]*watcher        // by principals' IDs
	others map[chan struct{}]struct{} // see [Host.Unseen]
	conns  map[*Conn]struct{}         // whose peers tell what is looked at: see [Conn.Looking]
	told   atomic.Uint64              // how often tell was called
}

// join adds a window, and calls it.
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

// leave removes a window.
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

// tell calls everybody, because what a terminal wants has changed. Any lock may be held.
func (p *watchers) tell() {
	p.told.Add(1)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.by {
		for a := range o.windows {
			a.call()
		}
	}
	p.tellConnsLocked()
	for c := range p.others {
		select {
		case c <- struct{}{}:
		default:
		}
	}
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

// used makes the viewer's window the one that was used last.
func (a *Attach) used() {
	if o := a.watcher; o != nil && o.active.Load() != a {
		o.active.Store(a)
	}
}

// call has the viewer look at which terminals want its person.
func (a *Attach) call() {
	select {
	case a.calls <- struct{}{}:
	default:
	}
}

// Calls receives a value at first, and whenever [Host.Wanting] may have changed for the viewer's
// principal. A viewer without a window receives none.
func (a *Attach) Calls() <-chan struct{} { return a.calls }

// follow has a connection called from now on.
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

// tellConns calls the connections whose peers tell what is looked at, because a keyboard may have
// become unused, or is used. Any lock may be held.
func (p *watchers) tellConns() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tellConnsLocked()
}

func (p *watchers) tellConnsLocked() {
	for c := range p.conns {
		select {
		case c.looking.calls <- struct{}{}:
		default:
		}
	}
}
