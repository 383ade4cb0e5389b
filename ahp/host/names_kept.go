package host

import (
	"strconv"
	"strings"
)

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

// takenNumbers has, by base, a number below which no NAME of the form base-N is free, so that the
// lowest free one is found without a look at all that are taken. It is guarded by Host.mu.
type takenNumbers map[string]int

// maxTakenBases bounds the bases of takenNumbers. What it forgets is found out anew.
const maxTakenBases = 4096

// below returns the lowest number of base that may be free.
func (tn takenNumbers) below(base string) int { return max(1, tn[base]) }

// set records that no number of base below n is free.
func (tn takenNumbers) set(base string, n int) {
	if len(tn) >= maxTakenBases {
		clear(tn)
	}
	tn[base] = n
}

// free records that a NAME is free again. One that is still taken in another way does no harm.
func (tn takenNumbers) free(name string) {
	i := strings.LastIndexByte(name, '-')
	if i < 0 {
		return
	}
	if n, err := strconv.Atoi(name[i+1:]); err == nil && n < tn[name[:i]] {
		tn[name[:i]] = n
	}
}

// spent remembers which numbers of NAMEs of the form base-N are not given again. It is guarded by
// Host.mu.
type spent struct {
	byBase map[string]int // the highest spent number of each base
	others int            // the highest spent number of all bases that the map no longer has
}

// maxSpentBases bounds the bases that spent remembers, of some 100 bytes each: far more than agents
// run programs.
const maxSpentBases = 4096

// upTo returns the highest number of base that may be spent.
func (s *spent) upTo(base string) int { return max(s.byBase[base], s.others) }

func (s *spent) add(base string, n int) {
	if _, known := s.byBase[base]; !known && len(s.byBase) >= maxSpentBases {
		for _, n := range s.byBase {
			s.others = max(s.others, n)
		}
		s.byBase = nil
	}
	if s.byBase == nil {
		s.byBase = map[string]int{}
	}
	s.byBase[base] = n
}
