package store

import (
	"slices"

	"termhost/ahp"
)

// elsewhere are the terminals of other hosts in a root's list.
type elsewhere struct{ terminals []ahp.TerminalInfo }

// SetHost sets the host's name in its fleet, which every terminal then has in its _meta; "": it is
// in none. The next [Store.PublishTerminals] shows it in the root's list.
func (s *Store) SetHost(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.host = name
}

// Host returns what SetHost has set.
func (s *Store) Host() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.host
}

// AddFleetRoot returns another root channel, whose list has terminals of other hosts behind those
// of this one: see [Channel.SetElsewhere]. It gets an action only when the list changes.
// [Channel.Remove] ends it.
func (s *Store) AddFleetRoot() *Channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &Channel{
		store: s, uri: ahp.RootURI, rootState: &ahp.RootState{}, born: s.nextLocked(),
		elsewhere: &elsewhere{},
	}
	c.log.dropped = c.born
	c.rootState.Terminals = s.infosLocked(s.listed)
	s.roots = append(s.roots, c)
	return c
}

// SetElsewhere replaces the terminals of other hosts in the list of a root that AddFleetRoot has
// returned, and publishes the list. list must not be modified afterwards.
func (c *Channel) SetElsewhere(list []ahp.TerminalInfo) {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if !c.closed {
		c.elsewhere.terminals = slices.Clip(list)
		c.publishLocked()
	}
}

// MoveRoot has the subscriber read another root channel, if it reads one: the peer gets that one's
// whole list.
func (sub *Subscriber) MoveRoot(to *Channel) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	cur := sub.cursors[to.uri]
	if cur == nil || cur.ch == to || to.closed || sub.closed {
		return
	}
	cur.takeEarlyLocked() // a snapshot of the former comes before the list
	cur = sub.openLocked(to)
	cur.since = to.log.end()
	cur.resyncLocked(to.rebuildLocked)
}

// PassOn adds a message of another host behind everything that has happened so far. It takes a
// serverSeq, with which p is called. The caller bounds what is passed on and not written.
func (sub *Subscriber) PassOn(p func(dst []byte, seq uint64) []byte, large bool) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	it := outboxItem{item: Item{Large: large}, passedOn: p}
	switch {
	case sub.closed:
	case sub.stalled:
		sub.aside = append(sub.aside, it)
	default:
		sub.passOnLocked(it)
	}
}

// passOnLocked gives what is passed on its place.
func (sub *Subscriber) passOnLocked(it outboxItem) {
	seq := sub.store.nextLocked()
	it.seq = seq
	it.item.Post = func(dst []byte) []byte { return it.passedOn(dst, seq) }
	sub.pushLocked(it)
}
