package host

// maxGuardedNames bounds the NAMEs that stay guarded: more than any person guards by hand.
const maxGuardedNames = 4096

// guardedNames are the NAMEs of terminals that a person had guarded and that are gone. If an agent
// creates a terminal of such a NAME, it is guarded again: people know terminals by their NAMEs. The
// methods are called with Host.mu held.
type guardedNames map[string]struct{}

// has reports whether a NAME stays guarded. At the maximum, all do.
func (g guardedNames) has(name string) bool {
	_, ok := g[name]
	return ok || len(g) >= maxGuardedNames
}

// set records whether a NAME stays guarded, and reports whether that is a change.
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
