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
	// scanShare keeps the cost of reading a large process table below a tenth of one core.
	scanShare = 10
	// maxScanPause bounds the pause that scanShare causes: on a busy machine a scan takes long
	// because it waits for a processor, and costs no more than otherwise.
	maxScanPause = time.Second
	// killTime is how long SIGKILL is repeated. A process that survives it hangs in the kernel.
	killTime = 10 * time.Second
	// emptyScans is how many scans in a row must find no process: one may miss a process that is
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
	hupped map[procID]struct{} // were sent SIGHUP
	beyond map[procID]struct{} // we may not signal them
	empty  int                 // scans in a row that found nothing
	gone   chan struct{}       // closed when the hangup is over
}

func newReaper(log *slog.Logger) *reaper {
	return &reaper{
		log: log, hangups: make(map[*processTree]*hangup), wake: make(chan struct{}, 1),
	}
}

// add starts to hang up tree, or brings its kill forward. gone is closed when the hangup is over.
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
		// The trees are read before the scan: a scan that began before a tree did may have found
		// the keeper while it forked the tree's leader and had its tag, and would take all
		// terminals for a part of the tree.
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

// overdue returns for how long the grace of each process tree has been over; negative: it is not
// over.
func (r *reaper) overdue(now time.Time) map[*processTree]time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	overdue := make(map[*processTree]time.Duration, len(r.hangups))
	for tree, h := range r.hangups {
		overdue[tree] = now.Sub(h.killAt)
	}
	return overdue
}

// rest reports whether there is nothing left to do, so that the goroutine must end, and closes done
// if so.
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
			err = p.signal(unix.SIGCONT) // a stopped process would not handle SIGHUP
		}
	}
	if errors.Is(err, unix.EPERM) {
		h.beyond[id] = struct{}{}
		return 0
	}
	return 1
}

// hangUpGroup hangs up a process tree without /proc. It returns how many processes must be waited
// for.
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
