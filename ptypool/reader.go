package ptypool

import (
	"runtime/debug"
	"sync"
	"time"

	"termhost/ptypool/keeper"
)

const (
	// readSize, in bytes, is the most output in one batch: large enough that the cost per batch
	// (one lock, one store entry, one frame per viewer) is negligible, small enough to keep the
	// echo of other terminals prompt.
	readSize = 64 << 10
	// floodSize, in bytes, is the size of a batch from which the next one is read while it is
	// delivered: the kernel holds 8 KiB of a pty's output, so a program that prints so much would
	// otherwise always wait for us. Smaller batches are delivered at once.
	floodSize = 16 << 10
	// smallRead, in bytes, is less than a program prints that prints on and on: after a read of so
	// little, nothing more is expected at once.
	smallRead = 1 << 10
	// flushAfter is how long the parser may hold back an unfinished escape sequence: longer than
	// any program takes to write the rest of one.
	flushAfter = 50 * time.Millisecond
	// flushRuneAfter is how long it may hold back an unfinished rune, of which a terminal shows
	// nothing either: a slow pipe may deliver it in pieces. It bounds the delay of the last letter
	// of a program with another encoding.
	flushRuneAfter = time.Second
)

// readBuffer holds one batch of output.
type readBuffer [readSize]byte

// batch is output on its way to the handler: in a borrowed buffer or, if a keeper has the terminal,
// in its landing.
type batch struct {
	data   []byte
	buf    *readBuffer // nil: in a landing
	landed keeper.Batch
	kept   bool // in a landing: landed
}

// release releases the batch's memory.
func (t *Term) release(b batch) {
	switch {
	case b.kept:
		b.landed.Free()
	case b.buf != nil:
		t.pool.bufs.Put(b.buf)
	}
}

// run is the reader goroutine of a Term with a backend, and closes t.done. Outputs beyond the first
// have goroutines of their own.
func (t *Term) run() {
	var others sync.WaitGroup
	if outputs := t.backend.outputs(); len(outputs) > 0 {
		for _, out := range outputs[1:] {
			others.Go(func() { t.readOutput(out) })
		}
		t.readOutput(outputs[0])
	}
	others.Wait()
	t.finish()
}

// readOutput passes an output on until it ends.
func (t *Term) readOutput(out output) {
	if out.exact == nil || t.readExact(out) {
		t.readShown(out)
	}
}

// readShown passes an output to the handler.
func (t *Term) readShown(out output) {
	var before sync.WaitGroup // the previous batch, while it is delivered
	defer before.Wait()
	for {
		if out.WaitReadable() != nil {
			return
		}
		t.h.Ready()
		t.inHand.Add(1)
		b, err := t.readBatch(out)
		before.Wait()
		if err == nil && len(b.data) >= floodSize {
			before.Go(func() {
				t.deliver(b)
				t.release(b)
				t.inHand.Add(-1)
				t.flushLog() // without the lock; the output is enough for a record
			})
			continue
		}
		if len(b.data) > 0 {
			t.deliver(b)
		}
		t.release(b)
		t.inHand.Add(-1)
		if err != nil {
			return
		}
	}
}

// readBatch reads until the batch is full, no more output is available, or the output ends. A small
// piece, such as the echo of a key, is not kept waiting for a second read. The batch must be
// released in any case, and may be empty.
func (t *Term) readBatch(out output) (b batch, err error) {
	if out.landing != nil {
		return t.readLanding(out)
	}
	b.buf = t.pool.bufs.Get().(*readBuffer)
	n := 0
	for n < len(b.buf) {
		m, rerr := out.Read(b.buf[n:])
		n += m
		if err = rerr; err != nil || m < smallRead {
			break
		}
	}
	b.data = b.buf[:n]
	out.sealer.Seal(b.data)
	return b, err
}

// readLanding is readBatch for an output with a landing. All batches but the last have been
// released, so there is room when the log has released them, too.
func (t *Term) readLanding(out output) (b batch, err error) {
	if !out.landing.Room() {
		t.flushLog()
	}
	b = batch{landed: out.landing.Batch(), kept: true}
	for {
		n, err := b.landed.Read(out.Read)
		if b.data = b.landed.Bytes(); err != nil || n < smallRead {
			return b, err
		}
	}
}

// flushLog has output logged that was deferred.
func (t *Term) flushLog() {
	if t.deferred != nil {
		t.deferred.Flush()
	}
}

// toLog has the log take b over, or records in the landing where it is about to be logged. The lock
// is held.
func (t *Term) toLog(b batch) {
	switch {
	case !b.kept || t.logEnd == nil:
	case t.deferred != nil && t.Outlives():
		t.deferred.Defer(b.landed)
	default:
		t.flushLog()
		b.landed.Place(t.logEnd())
	}
}

// deliver feeds one batch under the lock; the caller releases it. A panic of the parser or the
// handler, which get bytes that any program may print, ends only this terminal.
func (t *Term) deliver(b batch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.broken {
		return
	}
	defer t.contain("output")
	t.toLog(b)
	t.feed(b.data)
}

// contain turns a panic into the end of this terminal. It is deferred with the lock held.
func (t *Term) contain(doing string) {
	r := recover()
	if r == nil {
		return
	}
	t.broken = true
	t.pool.cfg.Log.Error("a terminal is ended after a panic",
		"while handling", doing, "panic", r, "stack", string(debug.Stack()))
	if t.backend != nil {
		t.backend.Hangup(0)
		return
	}
	t.End(ExitStatus{Code: UnknownExit})
}

// feed has p logged, parses it, and sets the timer that releases what the parser holds back. The
// lock is held.
func (t *Term) feed(p []byte) {
	t.pool.meter.count(len(p))
	t.h.Output(p)
	t.tickNow(time.Now())
	t.parse(p)
	if !t.screen.Pending() {
		t.flushAt = time.Time{}
		return
	}
	wait := flushAfter
	if t.screen.PendingRune() {
		wait = flushRuneAfter
	}
	t.flushAt = time.Now().Add(wait)
	if t.flusher == nil {
		t.flusher = time.AfterFunc(wait, t.flush)
	} else {
		t.flusher.Reset(wait)
	}
}

// parse gives p to the screen and the handler. The lock is held.
func (t *Term) parse(p []byte) {
	if t.lines != nil {
		t.feedLines(p)
	} else {
		t.screen.Feed(p, t.h)
	}
	t.h.Fed()
	t.arm()
}

// feedLines parses p with the line ends of a terminal. The lock is held.
func (t *Term) feedLines(p []byte) {
	buf := t.pool.bufs.Get().(*readBuffer)
	defer t.pool.bufs.Put(buf)
	for len(p) > 0 {
		n := min(len(p), len(buf)/2)
		t.screen.Feed(t.lines.Append(buf[:0], p[:n]), t.h)
		p = p[n:]
	}
}

// flush releases what the parser holds back, unless more output came in the meantime. It runs on
// the flusher's goroutine.
func (t *Term) flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.exited || t.broken || t.flushAt.IsZero() || time.Now().Before(t.flushAt) {
		return
	}
	defer t.contain("held-back output")
	t.flushAt = time.Time{}
	t.screen.Flush(t.h)
	t.h.Fed()
}

// finish reports the exit after the last output, and releases the terminal's resources.
func (t *Term) finish() {
	st, err := t.backend.Wait()
	if err != nil {
		t.pool.cfg.Log.Warn("exit status of a terminal is unknown", "err", err)
		st = ExitStatus{Code: UnknownExit}
	}
	t.held.close()
	t.in.close()
	t.mu.Lock()
	t.exit(st)
	t.mu.Unlock()
	t.flushLog() // before the landing is unmapped, even if the exit was not handled
	if err := t.backend.Close(); err != nil {
		t.pool.cfg.Log.Warn("closing a terminal", "err", err)
	}
	t.held.feeder.Wait()
	t.in.writer.Wait()
	t.pool.release(t)
	close(t.done)
}

// exit gives the handler the held-back bytes and the exit. The lock is held.
func (t *Term) exit(st ExitStatus) {
	t.exited = true
	for _, timer := range [...]*time.Timer{t.flusher, t.ticker} {
		if timer != nil {
			timer.Stop()
		}
	}
	t.screen.EndFrame()
	if !t.broken {
		t.flushLast()
	}
	defer t.contain("the exit")
	t.h.Exited(st)
}

// flushLast releases what the parser still holds back. The lock is held.
func (t *Term) flushLast() {
	defer t.contain("the last output")
	t.screen.Flush(t.h)
	t.screen.EndProgress(t.h)
	t.h.Fed()
}
