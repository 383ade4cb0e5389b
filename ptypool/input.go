package ptypool

import (
	"bytes"
	"slices"
	"sync"
	"time"
)

const (
	// inputKeep, in bytes, is the largest input buffer that an idle terminal keeps.
	inputKeep = 4 << 10
	// writeRetry is how long the writer waits when the pty said it had room and then took nothing (its lock was busy).
	writeRetry = time.Millisecond
)

// inputQueue holds the input that the program has not taken yet. What the pty takes at once is written by the caller
// itself, without waiting; only a remainder is queued, and a writer goroutine exists until it is gone.
//
// Nothing is in flight outside the queue: bytes leave it under the lock, by a write that does not wait. So discarding is
// exact.
type inputQueue struct {
	backend Backend // nil: virtual
	limit   int     // bytes

	mu      sync.Mutex // leaf; held over writes, which do not wait
	buf     []byte     // buf[head:] is queued
	head    int
	room    chan struct{} // closed when the queue is at most half full; nil: nobody waits
	writing bool          // the writer runs
	closed  bool
	writer  sync.WaitGroup
}

// Input gives the program p, which is copied. It never blocks and may be called from any goroutine, with or without the
// lock. It takes all of p or nothing: ErrInputFull when p does not fit (see InputRoom; what is larger than the queue
// never fits), ErrExited after the end, ErrNoProcess for a virtual terminal.
//
// When p holds a character that the terminal line turns into a signal (usually ctrl-C), everything before the last such
// character is dropped, as the line itself flushes it, and the signal is delivered at once even if the program does not
// read; the line alone would leave the character waiting behind a few KiB of input that was typed ahead.
func (t *Term) Input(p []byte) error {
	if t.backend == nil {
		return ErrNoProcess
	}
	return t.in.put(p)
}

// InputRoom returns a channel that is closed when the input queue is at most half full, or the terminal has ended. It
// is how a door waits before it reads more from its peer after ErrInputFull: a piece of at most half the queue then fits,
// unless another door was quicker.
func (t *Term) InputRoom() <-chan struct{} { return t.in.awaitRoom() }

// DiscardInput drops all input that the program has not read: what is queued and what waits in the pty, a line that was
// typed without its Enter included.
func (t *Term) DiscardInput() {
	if t.backend == nil {
		return
	}
	t.in.discard()
}

func (q *inputQueue) put(p []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return ErrExited
	}
	if i := q.signalKey(p); i >= 0 {
		q.drop()
		if err := q.backend.Interrupt(p[i]); err != nil {
			return err
		}
		p = p[i+1:]
	}
	if q.queued()+len(p) > q.limit {
		return ErrInputFull
	}
	if q.queued() == 0 {
		n, err := q.backend.Write(p)
		if err != nil {
			return err
		}
		p = p[n:]
	}
	if len(p) == 0 {
		return nil
	}
	q.buf = append(q.buf, p...)
	if !q.writing {
		q.writing = true
		q.writer.Go(q.write)
	}
	return nil
}

// signalKey returns the index of the last byte of p that the terminal line turns into a signal; -1: none. The line is not
// asked about plain text unless that would have to wait behind other input anyway.
func (q *inputQueue) signalKey(p []byte) int {
	if q.queued() == 0 && !slices.ContainsFunc(p, func(c byte) bool { return c < ' ' || c == 0x7f }) {
		return -1
	}
	return bytes.LastIndexAny(p, q.backend.SignalKeys())
}

// write is the writer goroutine: it feeds the queue to the program until it is empty or the backend is closed.
func (q *inputQueue) write() {
	for {
		if err := q.backend.WaitWritable(); err != nil {
			q.stopWriting()
			return
		}
		n, more := q.writeSome()
		if !more {
			return
		}
		if n == 0 {
			time.Sleep(writeRetry)
		}
	}
}

// writeSome hands over what the program takes now. more is false when the writer must end.
func (q *inputQueue) writeSome() (n int, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.queued() > 0 {
		var err error
		if n, err = q.backend.Write(q.buf[q.head:]); err != nil {
			q.drop() // nobody will ever read it
		} else {
			q.advance(n)
		}
	}
	q.writing = q.queued() > 0
	return n, q.writing
}

func (q *inputQueue) stopWriting() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop()
	q.writing = false
}

func (q *inputQueue) awaitRoom() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.room == nil {
		q.room = make(chan struct{})
	}
	ch := q.room
	q.wake()
	return ch
}

// discard drops the queue and what the program has not read yet.
func (q *inputQueue) discard() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop()
	if !q.closed {
		// Best effort: a backend that cannot is one whose program is gone.
		_ = q.backend.DiscardInput()
	}
}

// close ends the queue: what is in it is dropped, nothing more is taken.
func (q *inputQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.drop()
}

func (q *inputQueue) queued() int { return len(q.buf) - q.head }

func (q *inputQueue) drop() { q.advance(q.queued()) }

// advance removes n bytes, gives memory back, and wakes who waits for room.
func (q *inputQueue) advance(n int) {
	q.head += n
	switch {
	case q.head == len(q.buf) && cap(q.buf) > inputKeep:
		q.buf, q.head = nil, 0
	case q.head == len(q.buf):
		q.buf, q.head = q.buf[:0], 0
	case q.head > len(q.buf)/2:
		q.buf, q.head = q.buf[:copy(q.buf, q.buf[q.head:])], 0
	}
	q.wake()
}

// wake closes room if there is some.
func (q *inputQueue) wake() {
	if q.room != nil && (q.closed || q.queued() <= q.limit/2) {
		close(q.room)
		q.room = nil
	}
}
