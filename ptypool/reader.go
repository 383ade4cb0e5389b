package ptypool

import (
	"runtime/debug"
	"sync"
	"time"
)

const (
	// readSize, in bytes, is the most output that is taken in one batch: large enough that the cost per batch (one lock, one
	// store entry, one frame per viewer) vanishes, small enough to keep echo of other terminals prompt.
	readSize = 64 << 10
	// floodSize, in bytes, is a batch after which the next one is read while it is delivered: the kernel holds 8 KiB of a
	// pty's output, so a program that prints so much would wait for us all the time. Less is delivered at once.
	floodSize = 16 << 10
	// flushAfter is how long the parser may hold back an unfinished escape sequence: longer than any program
	// takes to write the rest of one.
	flushAfter = 50 * time.Millisecond
	// flushRuneAfter is how long it may hold back an unfinished rune, which shows nothing in a terminal either: a
	// slow pipe may deliver it in pieces. It bounds how long a program in another encoding waits for its last letter.
	flushRuneAfter = time.Second
)

// readBuffer holds one batch of output.
type readBuffer [readSize]byte

// readLoop carries output from the backend to the handler until it ends, and then ends the terminal. It is the Term's one
// reader and owns t.done.
func (t *Term) readLoop() {
	var before sync.WaitGroup // the batch before, while it is delivered
	for {
		if t.backend.WaitReadable() != nil {
			break
		}
		t.h.Ready()
		buf := t.pool.bufs.Get().(*readBuffer)
		n, err := readBatch(t.backend, buf[:])
		before.Wait()
		if err == nil && n >= floodSize {
			before.Go(func() {
				t.deliver(buf[:n])
				t.pool.bufs.Put(buf)
			})
			continue
		}
		if n > 0 {
			t.deliver(buf[:n])
		}
		t.pool.bufs.Put(buf)
		if err != nil {
			break
		}
	}
	before.Wait()
	t.finish()
}

// readBatch reads until buf is full, nothing more is there, or the output ends.
func readBatch(b Backend, buf []byte) (n int, err error) {
	for n < len(buf) {
		m, err := b.Read(buf[n:])
		n += m
		if err != nil {
			return n, err
		}
		if m == 0 {
			break
		}
	}
	return n, nil
}

// deliver feeds one batch under the lock. A panic of the parser or the handler, which see bytes that any program may
// print, ends this terminal and no other.
func (t *Term) deliver(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.broken {
		return
	}
	defer t.contain("output")
	t.feed(p)
}

// contain turns a panic into the end of this terminal. It is deferred with the lock held.
func (t *Term) contain(doing string) {
	r := recover()
	if r == nil {
		return
	}
	t.broken = true
	t.pool.cfg.Log.Error("a terminal is ended after a panic", "while handling", doing, "panic", r, "stack", string(debug.Stack()))
	if t.backend != nil {
		t.backend.Hangup(0)
		return
	}
	t.End(ExitStatus{Code: UnknownExit})
}

// feed parses p and sees to it that what the parser holds back is released in time. The lock is held.
func (t *Term) feed(p []byte) {
	t.screen.Feed(p, t.h)
	t.fed()
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

// flush releases what the parser holds back, unless more output came in the meantime. It runs on the flusher's goroutine.
func (t *Term) flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.exited || t.broken || t.flushAt.IsZero() || time.Now().Before(t.flushAt) {
		return
	}
	defer t.contain("held-back output")
	t.flushAt = time.Time{}
	t.screen.Flush(t.h)
	t.fed()
}

// fed tells the handler that the screen may be looked at. The lock is held.
func (t *Term) fed() {
	if h, ok := t.h.(AfterFeed); ok {
		h.Fed()
	}
}

// finish reports the exit after the last output and releases what the terminal held.
func (t *Term) finish() {
	st, err := t.backend.Wait()
	if err != nil {
		t.pool.cfg.Log.Warn("exit status of a terminal is unknown", "err", err)
		st = ExitStatus{Code: UnknownExit}
	}
	t.in.close()
	t.mu.Lock()
	t.exit(st)
	t.mu.Unlock()
	if err := t.backend.Close(); err != nil {
		t.pool.cfg.Log.Warn("closing a terminal", "err", err)
	}
	t.in.writer.Wait()
	t.pool.release(t)
	close(t.done)
}

// exit gives the handler the held-back bytes and the exit. The lock is held.
func (t *Term) exit(st ExitStatus) {
	t.exited = true
	if t.flusher != nil {
		t.flusher.Stop()
	}
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
	t.fed()
}
