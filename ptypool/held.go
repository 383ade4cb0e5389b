package ptypool

import (
	"bytes"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"termhost/ptypool/keyboard"
)

const (
	// heldLimit, in bytes, bounds held input: more than a person types ahead of a program, and
	// small enough for every terminal to have it.
	heldLimit = 64 << 10
	// After a look that found nobody reading, the next one comes after shortLook, because a program
	// that has read a line mostly reads the next one at once. Each further pause is twice as long,
	// up to longLook: 20 looks per second cost next to nothing.
	shortLook = 50 * time.Microsecond
	longLook  = 50 * time.Millisecond
	// tellAfter is the pause between looks from which the Gate is told how much is held. Input that
	// a program reads line by line is not reported.
	tellAfter = 10 * time.Millisecond
)

// Pass says how much held input may be typed.
type Pass int

const (
	// PassNothing: nobody reads.
	PassNothing Pass = iota
	// PassLine: the input up to the first line end may be typed.
	PassLine
	// PassKey: the first key may be typed.
	PassKey
	// PassAll: all of it may be typed.
	PassAll
	// PassRefused: it is dropped.
	PassRefused
)

// Gate decides about input by [Term.InputShown] and [Term.InputBound]. Look, LookBound, Held and
// Refused are called by one goroutine at a time, without any lock.
type Gate interface {
	// Open reports whether input goes to the program at once, provided that nothing is held. line
	// is how the terminal reads now. The caller of InputShown calls it, with the locks that it has.
	Open(line Line) bool
	// ReadsOn returns how much of p, which is not empty, is for the program that reads now, which
	// edits lines itself, whatever it does with the first line; the rest may be for another.
	// The caller of InputShown, InputBound and Whole calls it, with the locks that it has.
	ReadsOn(line Line, p []byte) int
	// Look returns how much may be typed now. line is how the terminal reads; there is no unread
	// input in it.
	Look(line Line) Pass
	// LookBound is Look for input by InputBound. still, which may be nil, is called right before
	// the write and reports whether pass still holds. It is called with locks held, and must be
	// quick.
	LookBound(line Line) (pass Pass, still func() bool)
	// Key returns the length of the key that p begins with, which is not empty. It is called with
	// locks held.
	Key(p []byte) int
	// Held is called when n bytes have been held for a while, and with 0 when nothing is held any
	// more.
	Held(n int)
	// Refused is called when n bytes were dropped because of PassRefused, or, with ErrLineTooLong,
	// because the terminal would have cut a line of them.
	Refused(n int, why error)
}

// heldQueue holds input that must not be typed unseen until the program reads, so that a program
// that asks for a secret does not find it typed ahead. It passes on one line at a time, and looks
// again when the program has read that.
//
// A look reads /proc, which is slow, so no lock is held meanwhile. Its result is void if anything
// else has been typed since, or the line's settings have changed: see inputQueue.hand.
type heldQueue struct {
	in   *inputQueue
	gate Gate // nil: nothing is held

	// mu guards the fields below. in.mu is taken while it is held, and no other lock but those that
	// Gate.Open takes.
	mu      sync.Mutex
	buf     []byte
	bound   int           // how much of the end of buf came by InputBound, or after that
	lent    lent          // the bound input that is in the terminal
	drops   int           // how often something was dropped
	told    int           // what the Gate was last told
	room    chan struct{} // closed when buf is at most half full; nil: nobody waits
	settled chan struct{} // closed when buf is empty or the Gate was told; nil: nobody waits
	feeding bool          // the feeder runs
	closed  bool
	changed chan struct{} // 1 deep: wakes the feeder when buf was dropped
	feeder  sync.WaitGroup
}

// HoldBy makes g the Gate of InputShown, before which it must be called.
func (t *Term) HoldBy(g Gate) { t.held.gate = g }

// InputShown is Input for input that must not be typed unseen. Unless the Gate is open, p is held
// until the program reads. ErrInputFull: p does not fit among the held input either: see HeldRoom.
//
// A character that the terminal turns into a signal goes to the program at once, as with Input, and
// what is held before it is dropped. So does the end of input (ctrl-D), but in its turn. If lines
// of p are before the character, all of p is refused with ErrInterrupted.
func (t *Term) InputShown(p []byte) error {
	if err := t.takesKeys(); err != nil {
		return err
	}
	return t.held.put(p, false)
}

// Held returns how many bytes are held.
func (t *Term) Held() int {
	t.held.mu.Lock()
	defer t.held.mu.Unlock()
	return len(t.held.buf)
}

// HeldRoom is InputRoom for InputShown: it returns a channel that is closed when held input takes
// at most half of its room.
func (t *Term) HeldRoom() <-chan struct{} { return t.held.await(&t.held.room) }

// HeldSettled returns a channel that is closed when nothing is held any more, or when the Gate has
// been told how much is held.
func (t *Term) HeldSettled() <-chan struct{} { return t.held.await(&t.held.settled) }

// DropHeld drops held input and returns how many bytes that was.
func (t *Term) DropHeld() int {
	t.held.mu.Lock()
	defer t.held.mu.Unlock()
	return t.held.drop()
}

// pass types p without holding it. If p interrupts the program, held input is dropped.
func (h *heldQueue) pass(p []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	interrupted, err := h.in.put(p, false)
	if interrupted {
		h.drop()
	}
	return err
}

// put types p if the Gate is open; otherwise, or if p is bound, it holds p. It does not retain p.
func (h *heldQueue) put(p []byte, bound bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return ErrExited
	case h.gate == nil:
		_, err := h.in.put(p, true)
		return err
	}
	line, signals, err := h.in.lineFor()
	if err != nil {
		return err
	}
	from, end := signals.last(p)
	dropped, interrupts, rest := p[:from], p[from:end], p[end:]
	if dropsLines(dropped) {
		return ErrInterrupted
	}
	if err := h.lineFits(line, rest, len(interrupts) > 0); err != nil {
		return err
	}
	switch {
	case len(interrupts) > 0 && len(rest) > heldLimit:
		return ErrInputFull
	case len(interrupts) > 0:
		if _, err := h.in.put(interrupts, true); err != nil {
			return err
		}
		h.drop()
	}
	switch {
	case len(rest) == 0:
		return nil
	case !bound && len(h.buf) == 0 && (string(rest) == endOfInput || h.gate.Open(line)):
		_, err := h.in.put(rest, true)
		return err
	case len(h.buf)+len(rest) > heldLimit:
		return ErrInputFull
	}
	h.buf = append(h.buf, rest...)
	if bound || h.bound > 0 {
		h.bound += len(rest)
	}
	if !h.feeding {
		h.feeding = true
		h.feeder.Go(h.feed)
	}
	return nil
}

// dropsLines reports whether keys that an interrupt drops are more than a part of the line that it
// breaks off: whole lines, or the beginning of a paste.
func dropsLines(p []byte) bool {
	return bytes.ContainsAny(p, "\r\n") || bytes.Contains(p, []byte(keyboard.PasteBegin))
}

// endOfInput is the usual VEOF of termios(3). It is not an answer to a question.
const endOfInput = "\x04"

// feed is the feeder goroutine: it passes on held input as the program reads, until nothing is
// held.
func (h *heldQueue) feed() {
	wait := time.Duration(0)
	for {
		h.pause(wait)
		n, refused, why := h.step()
		if refused > 0 {
			h.gate.Refused(refused, why)
		}
		if wait = min(2*wait, h.longestWait()); n > 0 || wait == 0 {
			wait = shortLook
		}
		held, news, more := h.tell(wait >= tellAfter)
		for news {
			h.gate.Held(held)
			held, news, more = h.tell(wait >= tellAfter)
		}
		if !more {
			return
		}
	}
}

// pause waits for the next look. The runtime's timers are no finer than a millisecond while it is
// idle, so shorter pauses sleep in the kernel.
func (h *heldQueue) pause(d time.Duration) {
	if d < time.Millisecond {
		short := unix.NsecToTimespec(d.Nanoseconds())
		_ = unix.Nanosleep(&short, nil) // a signal makes it shorter
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-h.changed:
	}
}

// step looks once, and returns how much was typed and how much refused; why: see [Gate].Refused.
func (h *heldQueue) step() (typed, refused int, why error) {
	line, puts, ready := h.in.ready()
	bound, some, drops := h.next(line, ready)
	if !ready || !some {
		return 0, 0, nil
	}
	var pass Pass
	var still func() bool
	if bound {
		pass, still = h.gate.LookBound(line)
	} else {
		pass = h.gate.Look(line)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case pass == PassNothing, len(h.buf) == 0, h.drops != drops:
		return 0, 0, nil
	case pass == PassRefused:
		return 0, h.drop(), nil
	}
	n, fits := h.in.hand(h.buf[:h.piece(pass, bound)], line, puts, still)
	if !fits {
		return 0, h.drop(), ErrLineTooLong
	}
	if bound && n > 0 {
		h.lent = lent{line.Foreground, time.Now()}
	}
	h.advance(n)
	return n, 0, nil
}

// piece returns how much may be typed.
func (h *heldQueue) piece(pass Pass, bound bool) (n int) {
	if n = len(h.buf) - h.bound; bound {
		n = len(h.buf)
	}
	end := bytes.IndexAny(h.buf[:n], lineEnds) + 1
	switch {
	case pass == PassKey:
		return h.gate.Key(h.buf[:n])
	case pass != PassAll && (end > 0 || bound):
		return end
	}
	return n
}

// lineEnds are what ends a line for the line discipline, and VEOF, which ends a read.
const lineEnds = "\r\n" + endOfInput

// tell returns what to report to the Gate, and whether it is new. The feeder must end unless there
// is more. waited: input has been held for a while.
func (h *heldQueue) tell(waited bool) (held int, news, more bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	held = len(h.buf)
	news = held != h.told && (waited || held == 0)
	if news {
		h.told = held
	}
	h.feeding = held > 0 || news || h.lent.group != 0
	h.wake()
	return held, news, h.feeding
}

// await returns the channel of a wait, which it makes if there is none.
func (h *heldQueue) await(ch *chan struct{}) <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if *ch == nil {
		*ch = make(chan struct{})
	}
	wait := *ch
	h.wake()
	return wait
}

// discard drops held input, queued input, and what the program has not read yet of earlier input.
func (h *heldQueue) discard() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.drop()
	h.lent = lent{}
	h.in.discard()
}

// close ends the queue: held input is dropped, and nothing more is accepted.
func (h *heldQueue) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	h.lent = lent{}
	h.drop()
	h.wake()
}

func (h *heldQueue) drop() (n int) {
	n = len(h.buf)
	h.advance(n)
	if n > 0 {
		h.drops++
		select {
		case h.changed <- struct{}{}:
		default:
		}
	}
	return n
}

// advance removes n bytes, releases memory, and wakes those who wait for room.
func (h *heldQueue) advance(n int) {
	h.buf = h.buf[:copy(h.buf, h.buf[n:])]
	h.bound = min(h.bound, len(h.buf))
	if len(h.buf) == 0 && cap(h.buf) > inputKeep {
		h.buf = nil
	}
	h.wake()
}

// wake closes the channels whose condition is met.
func (h *heldQueue) wake() {
	if h.room != nil && (h.closed || len(h.buf) <= heldLimit/2) {
		close(h.room)
		h.room = nil
	}
	if h.settled != nil && (h.closed || !h.feeding || h.told > 0) {
		close(h.settled)
		h.settled = nil
	}
}
