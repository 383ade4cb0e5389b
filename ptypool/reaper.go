package ptypool

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// scanInterval is how often the process table is read while hangups are under way: a dispose
	// is prompt, and a table of some hundred processes costs little.
	scanInterval = 50 * time.Millisecond
	// scanShare keeps reading a large process table below a tenth of one core.
	scanShare = 10
	// maxScanPause bounds the pause that follows from it: on a busy machine a scan takes long
	// because it waits for a processor, and costs no more than otherwise.
	maxScanPause = time.Second
	// killTime is how long SIGKILL is repeated. What survives it hangs in the kernel.
	killTime = 10 * time.Second
	// emptyScans is how many scans in a row must find nothing: one may miss a process that is
	// being forked.
	emptyScans = 2
)

// reaper ends process trees: SIGHUP, a grace, then SIGKILL until nothing is left. It is one
// goroutine for all of them, which exists while there is something to do, and one scan of the
// process table serves all of them.
type reaper struct {
	log *slog.Logger

	mu      sync.Mutex // guards the fields below; no other lock is taken under it
	hangups map[*processTree]*hangup
	wake    chan struct{} // capacity 1: a hangup was added or its kill was brought forward
	done    chan struct{} // closed when the goroutine ends; nil: it does not run
}

// hangup is the end of one process tree. Its fields but killAt belong to the reaper's goroutine.
type hangup struct {
	killAt time.Time           // guarded by reaper.mu
	hupped map[procID]struct{} // have got their SIGHUP
	beyond map[procID]struct{} // may not be signalled by us
	empty  int                 // scans in a row that found nothing
	gone   chan struct{}       // closed when it is over
}

func newReaper(log *slog.Logger) *reaper {
	return &reaper{
		log: log, hangups: make(map[*processTree]*hangup), wake: make(chan struct{}, 1),
	}
}

// add starts to hang tree up, or brings its kill forward. gone is closed when that is over.
func (r *reaper) add(tree *processTree, grace time.Duration) (gone <-chan struct{}) {
	killAt := time.Now().Add(grace)
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.hangups[tree]
	if h == nil {
		h = &hangup{
			killAt: killAt, hupped: make(map[procID]struct{}), beyond: make(map[procID]struct{}),
			gone: make(chan struct{}),
		}
		r.hangups[tree] = h
	} else if killAt.Before(h.killAt) {
		h.killAt = killAt
	}
	if r.done == nil {
		r.done = make(chan struct{})
		go r.run()
	} else {
		r.nudge()
	}
	return h.gone
}

// hurry ends all graces.
func (r *reaper) hurry() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range r.hangups {
		h.killAt = time.Now()
	}
	r.nudge()
}

// nudge makes the goroutine scan at once.
func (r *reaper) nudge() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// idle returns a channel that is closed when nothing is being hung up.
func (r *reaper) idle() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done != nil {
		return r.done
	}
	ch := make(chan struct{})
	close(ch)
	return ch
}

// run is the reaper's goroutine.
func (r *reaper) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-r.wake:
		}
		// The trees come first: a scan that began before a tree did may have met the keeper while
		// that forked the tree's leader, with its tag, and so took all terminals for a part of it.
		began := time.Now()
		due := r.overdue(began)
		table, err := scanProcs()
		if err != nil {
			r.log.Warn("only process groups can be hung up", "err", err)
		}
		for tree, overdue := range due {
			if r.signalLeft(tree, overdue, table) {
				r.finish(tree)
			}
		}
		if r.rest() {
			return
		}
		timer.Reset(scanPause(time.Since(began)))
	}
}

// scanPause returns how long to wait after a scan that took so long.
func scanPause(took time.Duration) time.Duration {
	return min(max(scanInterval, scanShare*took), maxScanPause)
}

// overdue returns for how long each process tree has been without a grace; negative: it still has
// one.
func (r *reaper) overdue(now time.Time) map[*processTree]time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	overdue := make(map[*processTree]time.Duration, len(r.hangups))
	for tree, h := range r.hangups {
		overdue[tree] = now.Sub(h.killAt)
	}
	return overdue
}

// rest ends the goroutine if there is nothing left to do.
func (r *reaper) rest() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.hangups) > 0 {
		return false
	}
	close(r.done)
	r.done = nil
	return true
}

func (r *reaper) finish(tree *processTree) {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.hangups[tree].gone)
	delete(r.hangups, tree)
}

// signalLeft signals what is left of tree and reports whether its hangup is over. A nil table
// means that there is no /proc.
func (r *reaper) signalLeft(tree *processTree, overdue time.Duration,
	table *procTable) (over bool) {
	r.mu.Lock()
	h := r.hangups[tree]
	r.mu.Unlock()
	left := 0
	if table == nil {
		left = hangUpGroup(tree, overdue >= 0)
	} else {
		for _, p := range tree.members(table) {
			left += h.signal(p, overdue >= 0)
		}
	}
	if left > 0 || !tree.leaderGone() {
		h.empty = 0
		if overdue < killTime {
			return false
		}
		r.log.Error("processes of a terminal survive SIGKILL", "leader", tree.leader, "left", left)
		return true
	}
	h.empty++
	return h.empty >= emptyScans
}

// signal signals one process, and returns 1 if it must be waited for.
func (h *hangup) signal(p process, kill bool) int {
	id := p.id()
	if _, ok := h.beyond[id]; ok {
		return 0
	}
	var err error
	if _, ok := h.hupped[id]; kill {
		err = p.signal(unix.SIGKILL)
	} else if !ok {
		h.hupped[id] = struct{}{}
		if err = p.signal(unix.SIGHUP); err == nil && p.state == 'T' {
			err = p.signal(unix.SIGCONT) // a stopped process would not notice
		}
	}
	if errors.Is(err, unix.EPERM) {
		h.beyond[id] = struct{}{}
		return 0
	}
	return 1
}

// hangUpGroup is what can be done without /proc. It returns how many must be waited for.
func hangUpGroup(tree *processTree, kill bool) int {
	sig := unix.SIGHUP
	if kill {
		sig = unix.SIGKILL
	}
	if tree.signalGroup(sig) != nil {
		return 0
	}
	return 1
}
