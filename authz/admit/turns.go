package admit

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Turns shares the CPU among accounts whose work takes long. Whoever has a turn works for a short
// while and gives it back. The account that has worked least comes next: this is start-time fair
// queueing (Goyal, Vin and Cheng, 1996), in which an account that comes back cannot have saved
// anything up. Its methods may be called concurrently.
type Turns struct {
	n int // how many there are

	mu      sync.Mutex // no other lock is taken while it is held
	free    int        // turns that nobody has
	waiting []*queued
	worked  map[string]time.Duration // by account, since virtual time began
	now     time.Duration            // the virtual time: the work of the account that came last
}

// queued is somebody's wait for one.
type queued struct {
	account string
	granted chan struct{} // closed when it is theirs
}

// maxAccountsWorked is for how many accounts Turns remembers their work. Beyond it those are
// forgotten that have worked no more than the one that came last, which lose nothing by it, or else
// the one that has worked least.
const maxAccountsWorked = 64

// NewTurns returns n turns, at least one.
func NewTurns(n int) *Turns {
	n = max(1, n)
	return &Turns{n: n, free: n, worked: map[string]time.Duration{}}
}

// Take returns when the account has a turn, which must be given back, or with ctx's cause.
func (t *Turns) Take(ctx context.Context, account string) error {
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.beginLocked(account)
		t.mu.Unlock()
		return nil
	}
	w := &queued{account, make(chan struct{})}
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

// Give gives a turn back after the account has worked for so long.
func (t *Turns) Give(account string, worked time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.worked[account] += worked
	t.passOnLocked()
}

// Idle reports whether nobody has a turn or waits for one.
func (t *Turns) Idle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.free == t.n && len(t.waiting) == 0
}

// passOnLocked hands a turn to the account that has worked least, the longest waiting of its own.
func (t *Turns) passOnLocked() {
	if len(t.waiting) == 0 {
		if t.free++; t.free == t.n { // a busy time has ended: nobody is owed anything
			clear(t.worked)
			t.now = 0
		}
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

func (t *Turns) hasWorkedLocked(account string) time.Duration {
	return max(t.worked[account], t.now)
}

// beginLocked notes that an account begins a turn.
func (t *Turns) beginLocked(account string) {
	t.now = t.hasWorkedLocked(account)
	t.worked[account] = t.now
	if len(t.worked) <= maxAccountsWorked {
		return
	}
	least := ""
	for other, worked := range t.worked {
		switch {
		case other == account:
		case worked <= t.now:
			delete(t.worked, other)
		case least == "" || worked < t.worked[least]:
			least = other
		}
	}
	if len(t.worked) > maxAccountsWorked {
		delete(t.worked, least)
	}
}
