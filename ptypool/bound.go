package ptypool

import "time"

// Input may be bound to one program: no other one may read it, not even the next in the terminal.
// So it is written to the terminal only while that program waits for it, and in pieces that one
// read consumes: a line if the terminal edits lines, else a key.
//
// Two gaps remain. In the microseconds between the last look and the write, the program may stop
// waiting. And a program may wait and then not read: what it leaves is taken back when another
// process group is in the foreground.

// lent is bound input that is in the terminal but not read yet. The zero value: there is none.
type lent struct {
	group int // the program's process group; 0: none, or the program has read it
	since time.Time
}

const (
	// closeLook is the longest time between two looks while a program has not read input that is
	// bound to it: shorter than a shell takes, after the program's end, to show its prompt and
	// read.
	closeLook = 100 * time.Microsecond
	// closelyFor is how long the looks are that frequent.
	closelyFor = time.Second
)

// InputBound is InputShown for input that only one program may read, which the Gate knows: see
// [Gate].LookBound. The input is always held first. Later input by InputShown waits behind it.
func (t *Term) InputBound(p []byte) error {
	if err := t.takesKeys(); err != nil {
		return err
	}
	return t.held.put(p, true)
}

// next reports whether input is held, whether the first of it is bound, and how often input was
// dropped. It takes back bound input that the program has not read if the program is no longer in
// the foreground. line and read are results of inputQueue.ready.
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
