package ptypool

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// inputKeep, in bytes, is the largest input buffer that an idle terminal keeps.
	inputKeep = 4 << 10
	// writeRetry is how long the writer waits when the program's input had room but accepted
	// nothing, because the pty's lock was busy.
	writeRetry = time.Millisecond
)

// inputQueue holds input that the program has not accepted yet. The caller itself writes what the
// program accepts at once. Only the rest is queued, and a writer goroutine exists until the queue
// is empty.
//
// Bytes leave the queue under the lock, by a write that does not block, so none are in flight
// outside of it and discarding is exact.
type inputQueue struct {
	to    programInput // nil: virtual, or on pipes
	limit int          // bytes

	shown atomic.Bool // some queued input came by Term.InputShown; changed with mu held

	// mu guards the fields below and is held over every call of to but WaitWritable. No other
	// lock of this package is taken under it.
	mu      sync.Mutex
	buf     []byte // buf[head:] is queued
	head    int
	room    chan struct{} // closed when the queue is at most half full; nil: nobody waits
	writing bool          // the writer runs
	closed  bool
	puts    uint64     // how often something was typed or dropped
	line    unfinished // the unfinished line behind all that was typed
	written unfinished // the one in the pty, which is line if nothing is queued
	writer  sync.WaitGroup
}

// Input gives the program p, which is copied. It never blocks and may be called from any
// goroutine, with or without the lock. It takes all of p or nothing: ErrInputFull when p does not
// fit (see InputRoom; what is larger than the queue never fits), ErrLineTooLong when the terminal
// would cut a line, ErrExited after the end, ErrNoProcess for a virtual terminal, ErrNoKeyboard for
// one on pipes.
//
// When p holds a character that the terminal turns into a signal (usually ctrl-C), everything
// before the last such character is dropped, as the line discipline flushes it, and the signal is
// delivered at once even if the program does not read. Left to itself, the character would wait in
// the line discipline behind a few KiB of input that was typed ahead.
//
// p does not wait for held input of InputShown. An interrupt drops that as well.
func (t *Term) Input(p []byte) error {
	if err := t.takesKeys(); err != nil {
		return err
	}
	return t.held.pass(p)
}

// QueuesShown reports whether something is queued that came by InputShown.
func (t *Term) QueuesShown() bool { return t.in.shown.Load() }

// DropQueue drops queued input. Input in the pty stays.
func (t *Term) DropQueue() {
	t.in.mu.Lock()
	defer t.in.mu.Unlock()
	t.in.drop()
}

// takesKeys returns why nothing can be typed; nil: something can.
func (t *Term) takesKeys() error {
	switch {
	case t.backend == nil:
		return ErrNoProcess
	case t.in.to == nil:
		return ErrNoKeyboard
	}
	return nil
}

// Line returns how the terminal reads input. It fails with ErrNoKeyboard if the program runs on
// pipes, and with ErrExited after the end.
func (t *Term) Line() (Line, error) {
	if t.in.to == nil {
		return Line{}, ErrNoKeyboard
	}
	l, err := t.in.to.Line()
	l.Unread = l.Unread || t.inHand.Load() > 0 // batches that were read earlier are counted by now
	return l, err
}

// StopKeys returns the characters that stop the terminal's output and let it go on, usually ctrl-S
// and ctrl-Q; 0: no character does.
func (t *Term) StopKeys() (stop, start byte) {
	if t.in.to == nil {
		return 0, 0
	}
	return t.in.to.StopKeys()
}

// Stopped reports whether the terminal's output is stopped, as by ctrl-S, and all that was printed
// before has been read.
func (t *Term) Stopped() bool { return t.in.to != nil && t.inHand.Load() == 0 && t.in.to.Stopped() }

// InputRead reports whether the program has read all that was typed, except an unfinished line.
func (t *Term) InputRead() bool {
	_, _, read := t.in.ready()
	return read
}

// InputRoom returns a channel that is closed when the input queue is at most half full, or the
// terminal has ended. It is how a door waits before it reads more from its peer after
// ErrInputFull: a piece of at most half the queue then fits, unless another door was quicker.
func (t *Term) InputRoom() <-chan struct{} { return t.in.awaitRoom() }

// DiscardInput drops all input that the program has not read: held, queued and in the pty,
// including an unfinished line.
func (t *Term) DiscardInput() {
	if t.in.to == nil {
		return
	}
	t.held.discard()
}

// put queues or writes p. shown: see Term.InputShown. interrupted: p had a character that became a
// signal.
func (q *inputQueue) put(p []byte, shown bool) (interrupted bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false, ErrExited
	}
	q.puts++
	queued, before := q.queued(), q.line
	from, end := q.interrupts(p)
	interrupts, p := p[from:end], p[end:]
	if interrupted = len(interrupts) > 0; interrupted {
		queued, before = 0, unfinished{} // the interrupt drops them
	}
	keys := q.to.LineKeys()
	line, fits := keys.add(before, p)
	switch {
	case !fits:
		return false, ErrLineTooLong
	case queued+len(p) > q.limit:
		return false, ErrInputFull
	}
	if interrupted {
		if err := q.to.Interrupt(interrupts); err != nil {
			return false, err
		}
		q.written = unfinished{} // the terminal has flushed it
		q.drop()
	}
	q.line = line
	if q.queued() == 0 {
		n, err := q.to.Write(p)
		if err != nil {
			return interrupted, err
		}
		q.written, _ = keys.add(q.written, p[:n])
		p = p[n:]
	}
	if len(p) == 0 {
		return interrupted, nil
	}
	q.buf = append(q.buf, p...)
	if shown {
		q.shown.Store(true)
	}
	if !q.writing {
		q.writing = true
		q.writer.Go(q.write)
	}
	return interrupted, nil
}

// lineFor returns how the terminal reads, and the characters that it turns into signals.
func (q *inputQueue) lineFor() (line Line, signals signalChars, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return line, nil, ErrExited
	}
	line, err = q.to.Line()
	return line, q.to.SignalChars(), err
}

// ready reports whether the program has read all that was typed. If it has, the next line may be
// written, provided that a program reads: see hand.
func (q *inputQueue) ready() (line Line, puts uint64, ready bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.queued() > 0 {
		return line, 0, false
	}
	line, err := q.to.Line()
	return line, q.puts, err == nil && !q.to.Readable()
}

// hand writes p and returns how much of it the terminal accepts: nothing if its settings are not
// line, or if something else was typed since ready returned line and puts. So a program that was
// found reading after ready reads p. still: see [Gate]. fits is false if the terminal would cut p;
// then nothing is written.
func (q *inputQueue) hand(p []byte, line Line, puts uint64, still func() bool) (n int, fits bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.puts != puts || q.queued() > 0 {
		return 0, true
	}
	keys := q.to.LineKeys()
	if _, fits := keys.add(q.line, p); !fits {
		return 0, false
	}
	if now, err := q.to.Line(); err != nil || !now.readsAs(line) || still != nil && !still() {
		return 0, true
	}
	n, _ = q.to.Write(p) // if it fails, the program ends
	q.written, _ = keys.add(q.written, p[:n])
	q.line = q.written
	return n, true
}

// interrupts is signalChars.last of the terminal's. It does not read the terminal's settings for
// plain text, unless p has to wait behind other input anyway.
func (q *inputQueue) interrupts(p []byte) (from, end int) {
	special := func(c byte) bool { return c < ' ' || c >= 0x7f }
	if q.queued() == 0 && !slices.ContainsFunc(p, special) {
		return 0, 0
	}
	return q.to.SignalChars().last(p)
}

// signalChars are characters that a terminal turns into signals.
type signalChars []byte

// last returns where the last of them in p, p[from:end], with those right before it, are; 0, 0:
// nowhere.
func (s signalChars) last(p []byte) (from, end int) {
	for end = len(p); end > 0 && bytes.IndexByte(s, p[end-1]) < 0; end-- {
	}
	for from = end; from > 0 && bytes.IndexByte(s, p[from-1]) >= 0; from-- {
	}
	return from, end
}

// write is the writer goroutine: it feeds the queue to the program until it is empty or the
// backend is closed.
func (q *inputQueue) write() {
	for {
		if err := q.to.WaitWritable(); err != nil {
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

// writeSome writes what the program accepts now. more is false when the writer must end.
func (q *inputQueue) writeSome() (n int, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.queued() > 0 {
		var err error
		keys := q.to.LineKeys()
		if n, err = q.to.Write(q.buf[q.head:]); err != nil {
			q.drop() // the program is gone
		} else {
			q.written, _ = keys.add(q.written, q.buf[q.head:][:n])
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

// discard drops the queue, and what the program has not read yet of earlier input.
func (q *inputQueue) discard() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.puts++
	q.written = unfinished{}
	q.drop()
	if !q.closed {
		// It fails only if the program is gone.
		_ = q.to.DiscardInput()
	}
}

// close ends the queue: queued input is dropped, and nothing more is accepted.
func (q *inputQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.drop()
}

func (q *inputQueue) queued() int { return len(q.buf) - q.head }

func (q *inputQueue) drop() {
	q.advance(q.queued())
	q.line = q.written
}

// advance removes n bytes, releases memory, and wakes those who wait for room.
func (q *inputQueue) advance(n int) {
	q.head += n
	if q.head == len(q.buf) {
		q.shown.Store(false)
	}
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

// wake closes room if the queue is at most half full.
func (q *inputQueue) wake() {
	if q.room != nil && (q.closed || q.queued() <= q.limit/2) {
		close(q.room)
		q.room = nil
	}
}
