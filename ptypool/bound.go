package ptypool

import "time"

// Input may be bound to one program: nobody else may read it, not even what runs next. So it goes
// to the terminal only while that program waits for it, and in pieces of which none is left when
// the program ends with the first: a whole line where the terminal edits lines, else a key.
//
// What remains is the instant between the last look and the write, some microseconds, in which the
// program may stop waiting; and a program that waits and then does not read. What that one leaves
// is taken back when another process group is in the foreground.

// lent is bound input in the terminal. Its zero value is none.
type lent struct {
	group int // whose it is; 0: nobody has any, or it has been read
	since time.Time
}

const (
	// closeLook is the longest time between two looks while a program has not read what it was
	// lent: shorter than a shell takes to show its prompt and to read, when the program ends.
	closeLook = 100 * time.Microsecond
	// closelyFor is how long it is watched that closely.
	closelyFor = time.Second
)

// InputBound is InputShown for what only one program may read, which the Gate knows: see
// [Gate].LookBound. It is always held at first. What comes by InputShown behind it shares its lot.
func (t *Term) InputBound(p []byte) error {
	if err := t.takesKeys(); err != nil {
		return err
	}
	return t.held.put(p, true)
}

// next reports whether something is held and whether the first of it is bound, and returns how
// often something was dropped. It takes back what the program was lent and has not read, if that is
// not in the foreground any more. line and read are what inputQueue.ready returned.
func (h *heldQueue) next(line Line, read bool) (bound, some bool, drops int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.lent.group == 0:
	case read:
		h.lent = lent{}
	case line.Foreground > 0 && line.Foreground != h.lent.group:
		h.lent = lent{}
		h.in.discard()
	}
	some = len(h.buf) > 0
	return some && h.bound == len(h.buf), some, h.drops
}

// longestWait returns the longest time between two looks now.
func (h *heldQueue) longestWait() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lent.group != 0 && time.Since(h.lent.since) < closelyFor {
		return closeLook
	}
	return longLook
}
