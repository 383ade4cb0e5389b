package host

import "termhost/ahp/journal"

// maxGuardedNames bounds the NAMEs that stay guarded: more than any person guards by hand.
const maxGuardedNames = 4096

// guardedNames are the NAMEs of terminals that a person had guarded and that are gone. An agent
// that makes one of them again gets it guarded: people know a terminal by its NAME. Its methods are
// called with Host.mu held.
type guardedNames map[string]struct{}

// has reports whether a NAME stays guarded. When there are too many to remember, all do.
func (g guardedNames) has(name string) bool {
	_, ok := g[name]
	return ok || len(g) >= maxGuardedNames
}

// set notes whether a NAME stays guarded. It returns false if nothing has changed.
func (g guardedNames) set(name string, guarded bool) (changed bool) {
	_, was := g[name]
	switch {
	case was == guarded:
		return false
	case !guarded:
		delete(g, name)
	case len(g) < maxGuardedNames:
		g[name] = struct{}{}
	default:
		return false
	}
	return true
}

// noteGuardedLocked notes whether a NAME stays guarded, for the next host as well. Host.mu is held.
func (h *Host) noteGuardedLocked(name string, guarded bool) {
	if h.guarded.set(name, guarded) {
		h.note(journal.Note{Guarded: &journal.Guarded{Name: name, On: guarded}})
	}
}

// guardNewLocked guards t, which is being made, if it has to be, and prepares for a person's yes if
// its program needs one. keyboard: it can be typed into. Host.mu is held.
func (h *Host) guardNewLocked(t *Terminal, o CreateOptions, keyboard bool) {
	again := o.byAgent() && h.guarded.has(t.Name())
	if !o.byAgent() {
		h.noteGuardedLocked(t.Name(), false)
	}
	t.approvals.named = keyboard && (again || o.Guarded && !o.byAgent())
	t.approvals.on = keyboard && (again || o.Guarded || h.cfg().GuardAgents)
	if h.startsByYes(o, again) {
		t.approvals.on = true
		t.approvals.starting = &Starting{t: t, decided: make(chan error, 1)}
	}
}
