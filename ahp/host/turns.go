package host

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"
)

// turns shares the CPU among the accounts that have the host look for lines and read logs. Whoever
// has a turn works for about workPiece and gives it back. There are fewer turns than cores, so that
// keys, output and logins always find a core. The account that has worked least comes next: this is
// start-time fair queueing (Goyal, Vin and Cheng, 1996), in which an account that comes back cannot
// have saved anything up.
type turns struct {
	mu      sync.Mutex // no other lock is taken while it is held
	free    int        // turns that nobody has
	waiting []*turn
	worked  map[string]time.Duration // by account, since virtual time began
	now     time.Duration            // the virtual time: what the account had worked that came last
}

// turn is somebody's wait for one.
type turn struct {
	account string
	granted chan struct{} // closed when it is theirs
}

const (
	// workPiece is how long somebody works in one turn. As long, at most, does a request take to
	// notice that its peer is gone.
	workPiece = 5 * time.Millisecond
	// turnsShare is the part of the cores that work at the same time.
	turnsShare = 2
	// maxAccountsWorked is for how many accounts turns remembers what they have worked. Beyond it
	// those are forgotten that have worked no more than the one that came last: they lose nothing.
	maxAccountsWorked = 64
)

func newTurns() *turns {
	return &turns{
		free: max(1, runtime.GOMAXPROCS(0)/turnsShare), worked: map[string]time.Duration{},
	}
}

// take returns when the account has a turn, or with ctx's cause.
func (t *turns) take(ctx context.Context, account string) error {
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.beginLocked(account)
		t.mu.Unlock()
		return nil
	}
	w := &turn{account, make(chan struct{})}
	t.waiting = append(t.waiting, w)
	t.mu.Unlock()
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.waiting, w); i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
	} else { // it was granted meanwhile
		t.passOnLocked()
	}
	return context.Cause(ctx)
}

// give gives a turn back after the account has worked for so long.
func (t *turns) give(account string, worked time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.worked[account] += worked
	t.passOnLocked()
}

// passOnLocked hands a turn to the account that has worked least, the longest waiting of its own.
func (t *turns) passOnLocked() {
	if len(t.waiting) == 0 {
		t.free++
		return
	}
	next := 0
	for i, w := range t.waiting {
		if t.hasWorkedLocked(w.account) < t.hasWorkedLocked(t.waiting[next].account) {
			next = i
		}
	}
	w := t.waiting[next]
	t.waiting = slices.Delete(t.waiting, next, next+1)
	t.beginLocked(w.account)
	close(w.granted)
}

func (t *turns) hasWorkedLocked(account string) time.Duration {
	return max(t.worked[account], t.now)
}

// beginLocked notes that an account begins a turn.
func (t *turns) beginLocked(account string) {
	t.now = t.hasWorkedLocked(account)
	t.worked[account] = t.now
	if len(t.worked) > maxAccountsWorked {
		for other, worked := range t.worked {
			if worked <= t.now && other != account {
				delete(t.worked, other)
			}
		}
	}
}
