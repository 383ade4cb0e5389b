package store

import (
	"slices"

	"termhost/ahp"
)

// AddRoot returns another root channel, for readers who see only the given terminals. Its list is
// the part of the root's list that they see. It gets an action only when that changes, which
// reveals nothing of the others. [Channel.Remove] ends it.
func (s *Store) AddRoot(within []*Channel) *Channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &Channel{
		store: s, uri: ahp.RootURI, rootState: &ahp.RootState{}, born: s.nextLocked(),
		within: within,
	}
	c.log.dropped = c.born
	c.rootState.Terminals = s.infosLocked(c.inListLocked())
	s.roots = append(s.roots, c)
	return c
}

// inListLocked returns the listed terminals that the channel's readers see.
func (c *Channel) inListLocked() (list []*Channel) {
	if c.elsewhere != nil {
		return c.store.listed
	}
	for _, t := range c.store.listed {
		if slices.Contains(c.within, t) {
			list = append(list, t)
		}
	}
	return list
}

// publishLocked appends root/terminalsChanged if that list has changed.
func (c *Channel) publishLocked() {
	list := c.store.infosLocked(c.inListLocked())
	if c.elsewhere != nil {
		list = append(list, c.elsewhere.terminals...)
	}
	if slices.EqualFunc(list, c.rootState.Terminals, sameInfo) {
		return
	}
	changed := ahp.RootTerminalsChanged{Terminals: list}
	c.appendLocked(&Entry{action: changed}, changed)
}

func sameInfo(a, b ahp.TerminalInfo) bool {
	sameCode := (a.ExitCode == nil) == (b.ExitCode == nil) &&
		(a.ExitCode == nil || *a.ExitCode == *b.ExitCode)
	a.ExitCode, b.ExitCode = nil, nil
	return sameCode && a == b
}

// removeRootLocked removes a root channel of AddRoot's.
func (s *Store) removeRootLocked(c *Channel) {
	s.roots = slices.DeleteFunc(s.roots, func(other *Channel) bool { return other == c })
}
