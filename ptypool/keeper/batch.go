package keeper

import (
	"sync"
	"time"
)

// sharedSize, in bytes, is from how much on a half takes no further batch: the next one of a flood
// gets all of the other half, and small ones touch little memory.
const sharedSize = 16 << 10

// Batch is output that a host reads into a [Landing] at once. Several batches may be in one half,
// one after the other.
//
// A Batch has one user at first, its reader, and each call of Hold adds one. All of them call Free
// when they no longer use the memory; then the half begins anew. Only the reader calls Read. The
// other methods may be called concurrently with all methods of other batches.
type Batch struct {
	l        *Landing
	half     int // none: nothing has been read
	from, to int // in the half
}

// Batch returns an empty batch.
func (l *Landing) Batch() Batch { return Batch{l: l, half: none} }

// Apart has each batch begin a half of its own. Call it before the first batch if another output is
// logged in between, so that the batches' positions do not follow one another.
func (l *Landing) Apart() { l.apart = true }

// Room reports whether a batch can be begun. If not, those that are in use must be freed first. Of
// a landing that is not apart, it is enough to free all but the last one.
func (l *Landing) Room() bool {
	l.reading.Lock()
	defer l.reading.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.opened() != none
}

// opened returns the half for the next batch; none: there is no room. Both locks are held.
func (l *Landing) opened() int {
	if l.open != none && (l.apart && l.users[l.open] > 0 ||
		l.fill(l.open).size() >= sharedSize) {
		l.open = none
	}
	if l.open == none {
		l.open = l.begin()
	}
	return l.open
}

// Read calls read with free memory of the landing; read returns how much of it it has written, and
// must not block. n is 0 if nothing was read, or if the batch can take no more.
func (b *Batch) Read(read func(p []byte) (int, error)) (n int, err error) {
	l := b.l
	l.reading.Lock()
	defer l.reading.Unlock()
	if !l.enter(b) {
		return 0, nil
	}
	_, n, err = l.read(b.half, read)
	b.to += n
	return n, err
}

// enter begins b if that is empty, and reports whether it may be read into. It may not if there is
// no room, or when it is being logged. reading is held.
func (l *Landing) enter(b *Batch) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b.half == none {
		if b.half = l.opened(); b.half == none {
			return false
		}
		b.from = int(l.fill(b.half).size())
		b.to = b.from
		l.users[b.half]++
	}
	return l.open == b.half
}

// Bytes returns the output.
func (b Batch) Bytes() []byte {
	if b.half == none {
		return nil
	}
	return b.l.half(b.half)[b.from:b.to]
}

// Place records that the batch is about to be logged at position pos. Nothing more is read into its
// half, so it waits for a read that is under way.
func (b Batch) Place(pos int64) {
	b.l.mu.Lock()
	open := b.l.open == b.half
	b.close()
	b.l.mu.Unlock()
	if open {
		b.l.reading.Lock()
		defer b.l.reading.Unlock()
	}
	b.l.place(b.half, pos-int64(b.from))
}

// close ends reading into the batch's half, but for a read that is under way. The landing's mu is
// held.
func (b Batch) close() {
	if b.l.open == b.half {
		b.l.open = none
	}
}

// Hold adds a user.
func (b Batch) Hold() {
	b.l.mu.Lock()
	defer b.l.mu.Unlock()
	b.l.users[b.half]++
}

// Free removes a user.
func (b Batch) Free() {
	if b.half == none {
		return
	}
	b.l.mu.Lock()
	defer b.l.mu.Unlock()
	if b.l.users[b.half]--; b.l.users[b.half] == 0 {
		b.close()
		b.l.free(b.half)
	}
}

// Unlogged is output of one terminal that is safe in its [Landing] and waits to be logged. The zero
// value is empty. All methods may be called concurrently.
type Unlogged struct {
	mu      sync.Mutex // the landing's mu may be taken while it is held
	waiting []Waiting  // in the order of the output
}

// Waiting is a piece of it: adjacent batches of one half.
type Waiting struct {
	Batch
	At time.Time // of its first batch
}

// Add adds the next batch, and a user of it. first: there was none before.
func (u *Unlogged) Add(b Batch, at time.Time) (first bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := len(u.waiting)
	if n > 0 {
		last := &u.waiting[n-1]
		if last.l == b.l && last.half == b.half && last.to == b.from {
			last.to = b.to
			return false
		}
	}
	b.Hold()
	u.waiting = append(u.waiting, Waiting{b, at})
	return n == 0
}

// Take removes all pieces and returns them, oldest first. The caller logs them in that order:
// before each it calls Place, and after it Free.
func (u *Unlogged) Take() []Waiting {
	u.mu.Lock()
	defer u.mu.Unlock()
	all := u.waiting
	u.waiting = nil
	return all
}
