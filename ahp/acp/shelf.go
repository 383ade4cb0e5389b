package acp

import (
	"cmp"
	"slices"

	"termhost/ahp/host"
	"termhost/authz"
)

// How many exited terminals of a principal's agents stay listed, over all connections: enough to
// look at what an agent has just done, and together too few to push people's own out of the host's
// list (max_exited, 64 by default).
const (
	// keepReleased is for those that the agent has released, or left with its connection.
	keepReleased = 16
	// keepHeld is for those that it has not: what shows them may not have come yet.
	keepHeld = 32
)

// shelf holds a principal's exited terminals that may be listed, the next to be forgotten first.
type shelf struct{ held, released []exited }

// exited is an exited terminal of an agent.
type exited struct {
	*host.Terminal
	release uint64 // the number of its release, see Methods.releases; 0: the agent still has it
}

// compare orders terminals by their release, and those released at once, as with the end of their
// connection, by their exit. The goroutines that shelve them run in any order.
func (e exited) compare(other exited) int {
	return cmp.Or(cmp.Compare(e.release, other.release), e.ExitedAt().Compare(other.ExitedAt()))
}

// nextRelease returns the number of a release that happens now.
func (m *Methods) nextRelease() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.releases++
	return m.releases
}

// hold records that a terminal of p's has exited while the agent still has it.
func (m *Methods) hold(p authz.Principal, t *host.Terminal) {
	m.mu.Lock()
	over := push(&m.shelfOf(p).held, exited{Terminal: t}, keepHeld)
	m.mu.Unlock()
	m.forget(p, over)
}

// shelve records that a terminal of p's has both exited and been released. held: hold was called
// for it, and may have had it forgotten since.
func (m *Methods) shelve(p authz.Principal, t exited, held bool) {
	m.mu.Lock()
	sh := m.shelfOf(p)
	i := slices.IndexFunc(sh.held, func(e exited) bool { return e.Terminal == t.Terminal })
	var over []exited
	if i >= 0 {
		sh.held = slices.Delete(sh.held, i, i+1)
	}
	if i >= 0 || !held {
		over = push(&sh.released, t, keepReleased)
	}
	m.mu.Unlock()
	m.forget(p, over)
}

// shelfOf returns p's shelf, and drops from all shelves what the host has forgotten for a reason of
// its own. m.mu is held.
func (m *Methods) shelfOf(p authz.Principal) *shelf {
	for id, sh := range m.shelves {
		sh.held = slices.DeleteFunc(sh.held, isGone)
		sh.released = slices.DeleteFunc(sh.released, isGone)
		if len(sh.held)+len(sh.released) == 0 {
			delete(m.shelves, id)
		}
	}
	if m.shelves[p.ID] == nil {
		m.shelves[p.ID] = &shelf{}
	}
	return m.shelves[p.ID]
}

// push inserts t into a list of at most most items, and returns what is then dropped.
func push(list *[]exited, t exited, most int) (over []exited) {
	at, _ := slices.BinarySearchFunc(*list, t, exited.compare)
	*list = slices.Insert(*list, at, t)
	n := max(0, len(*list)-most)
	over = slices.Clone((*list)[:n])
	*list = slices.Delete(*list, 0, n)
	return over
}

// forget has the host forget terminals. Their background processes run on.
func (m *Methods) forget(p authz.Principal, list []exited) {
	for _, t := range list {
		_ = m.host.Forget(p, t.Terminal) // what a person holds by now stays theirs
	}
}

func isGone(t exited) bool {
	select {
	case <-t.Gone():
		return true
	default:
		return false
	}
}
