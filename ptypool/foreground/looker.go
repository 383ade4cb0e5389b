package foreground

import (
	"slices"
	"sync"
)

// Looker looks at a terminal again and again. While no process of the terminal that it has seen has
// run, nothing can have changed, and it tells that from one file of /proc per thread: most programs
// that somebody looks at for long sleep.
//
// The zero value has looked at nothing. Looks of several goroutines wait for each other.
type Looker struct {
	mu    sync.Mutex
	at    Terminal
	state State
	ran   []fact // how much each thread had run before the look; nil: not noted
}

// maxNoted is how many threads are noted.
const maxNoted = 64

// Look is the function Look.
func (l *Looker) Look(t Terminal) State {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t != l.at { // it changes, so the next look is likely to be at something else, too
		l.at, l.state, l.ran = t, Look(t), nil
		return l.state
	}
	if len(l.ran) > 0 && !slices.ContainsFunc(l.ran, func(f fact) bool { return !f.holds() }) {
		return l.state
	}
	noted := &notes{}
	l.state = lookNoting(t, noted)
	l.ran = noted.facts()
	return l.state
}

// notes are how much the threads that a look sees had run before it. Nil notes nothing.
type notes struct {
	ran  []fact
	many bool // there are more threads than are noted, or one that tells nothing
}

// thread notes a thread that is about to be looked at.
func (n *notes) thread(thread int) {
	if n == nil || n.many {
		return
	}
	// The time that it has run and how often, in nanoseconds: the kernel's sched-stats.rst.
	file := threadPath(thread, "schedstat")
	text, err := readFile(file)
	if n.many = err != nil || len(text) == 0 || len(n.ran) >= maxNoted; !n.many {
		n.ran = append(n.ran, fact{file, string(text)})
	}
}

// facts returns what is noted, if that is all.
func (n *notes) facts() []fact {
	if n.many {
		return nil
	}
	return n.ran
}
