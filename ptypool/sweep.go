package ptypool

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// sweepInterval is how often the process table is read while hangups are under way: prompt for a dispose, cheap for a
	// process table of some hundreds.
	sweepInterval = 50 * time.Millisecond
	// sweepShare keeps reading a large process table below a tenth of one core.
	sweepShare = 10
	// killTime is how long SIGKILL is repeated. What survives it hangs in the kernel.
	killTime = 10 * time.Second
	// emptyLooks is how many looks in a row must find nothing: one may miss a process that is being forked.
	emptyLooks = 2
)

// sweeper hangs process sessions up: one goroutine for all of them, which exists while there is something to do, and
// one look at the process table for all of them at a time.
type sweeper struct {
	log *slog.Logger

	mu      sync.Mutex // leaf
	targets map[*family]*target
	wake    chan struct{} // capacity 1: a target was added or hurried
	done    chan struct{} // closed when the goroutine ends; nil: it does not run
}

// target is one process session that is being hung up. Its fields but killAt belong to the sweeper's goroutine.
type target struct {
	killAt time.Time           // guarded by sweeper.mu
	hupped map[procID]struct{} // have got their SIGHUP
	beyond map[procID]struct{} // may not be signalled by us
	empty  int                 // looks in a row that found nothing
	gone   chan struct{}       // closed when it is over
}

func newSweeper(log *slog.Logger) *sweeper {
	return &sweeper{log: log, targets: make(map[*family]*target), wake: make(chan struct{}, 1)}
}

// add starts to hang f up, or brings its kill forward.
func (s *sweeper) add(f *family, grace time.Duration) <-chan struct{} {
	killAt := time.Now().Add(grace)
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.targets[f]
	if t == nil {
		t = &target{killAt: killAt, hupped: map[procID]struct{}{}, beyond: map[procID]struct{}{}, gone: make(chan struct{})}
		s.targets[f] = t
	} else if killAt.Before(t.killAt) {
		t.killAt = killAt
	}
	if s.done == nil {
		s.done = make(chan struct{})
		go s.run()
	} else {
		s.nudge()
	}
	return t.gone
}

// hurry ends all graces.
func (s *sweeper) hurry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.targets {
		t.killAt = time.Now()
	}
	s.nudge()
}

// nudge makes the goroutine look at once.
func (s *sweeper) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// idle returns a channel that is closed when nothing is being hung up.
func (s *sweeper) idle() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done != nil {
		return s.done
	}
	ch := make(chan struct{})
	close(ch)
	return ch
}

// run is the sweeper's goroutine.
func (s *sweeper) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-s.wake:
		}
		began := time.Now()
		table, err := scanProcs()
		if err != nil {
			s.log.Warn("only process groups can be hung up", "err", err)
		}
		for f, kill := range s.due(began) {
			if s.look(f, kill, table) {
				s.finish(f)
			}
		}
		if s.rest() {
			return
		}
		timer.Reset(max(sweepInterval, sweepShare*time.Since(began)))
	}
}

// due returns the targets, and for how long each is to be killed already; negative: it still has its grace.
func (s *sweeper) due(now time.Time) map[*family]time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	due := make(map[*family]time.Duration, len(s.targets))
	for f, t := range s.targets {
		due[f] = now.Sub(t.killAt)
	}
	return due
}

// rest ends the goroutine if there is nothing left to do.
func (s *sweeper) rest() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.targets) > 0 {
		return false
	}
	close(s.done)
	s.done = nil
	return true
}

func (s *sweeper) finish(f *family) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.targets[f].gone)
	delete(s.targets, f)
}

// look signals what is there of f and reports whether it is over. A nil table: there is no /proc.
func (s *sweeper) look(f *family, overdue time.Duration, table *procTable) (over bool) {
	s.mu.Lock()
	t := s.targets[f]
	s.mu.Unlock()
	left := 0
	if table == nil {
		left = hangupGroup(f, overdue >= 0)
	} else {
		for _, p := range f.members(table) {
			left += t.hit(p, overdue >= 0)
		}
	}
	if left > 0 || !f.leaderGone() {
		t.empty = 0
		if overdue < killTime {
			return false
		}
		s.log.Error("processes of a terminal survive SIGKILL", "leader", f.leader, "left", left)
		return true
	}
	t.empty++
	return t.empty >= emptyLooks
}

// hit signals one process, and returns 1 if it must be waited for.
func (t *target) hit(p process, kill bool) int {
	id := p.id()
	if _, ok := t.beyond[id]; ok {
		return 0
	}
	var err error
	if _, ok := t.hupped[id]; kill {
		err = p.signal(unix.SIGKILL)
	} else if !ok {
		t.hupped[id] = struct{}{}
		if err = p.signal(unix.SIGHUP); err == nil && p.state == 'T' {
			err = p.signal(unix.SIGCONT) // a stopped process would not notice
		}
	}
	if errors.Is(err, unix.EPERM) {
		t.beyond[id] = struct{}{}
		return 0
	}
	return 1
}

// hangupGroup is what can be done without /proc; it returns how many must be waited for.
func hangupGroup(f *family, kill bool) int {
	sig := unix.SIGHUP
	if kill {
		sig = unix.SIGKILL
	}
	if f.signalGroup(sig) != nil {
		return 0
	}
	return 1
}
