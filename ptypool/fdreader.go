package ptypool

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"termhost/ptypool/nonblock"
)

const (
	// drainSilence is how long the output must be silent during a drain before it counts as ended
	// although a process still has it open: enough for the last stage of a pipeline.
	drainSilence = 250 * time.Millisecond
	// drainTime bounds the wait for that silence.
	drainTime = time.Second
	// drainBytes bounds the drain for a process that floods. It is more than the kernel ever holds
	// for a pty (tens of KiB), so what a child on a pty has written is always read. Pipes are
	// drained only after a hangup, when nothing is promised.
	drainBytes = 1 << 20
	// burstBytes is how much output at once counts as a flood, in bytes: more than the kernel holds
	// for a pty, so the program writes while its output is read.
	burstBytes = 16 << 10
)

// fdReader reads the output of a program from a descriptor: see programOutput. Waiting blocks no
// thread, and during a flood it does not use the poller: see watch. Only drain may be called by
// another goroutine than the one that reads.
//
// The output ends when no process has the descriptor's other side open any more, or when it has
// been drained although one has.
type fdReader struct {
	fd    syscall.RawConn
	watch *watch // for output
	// it is a pty: a hangup is not the end before the drain, because it may be opened again
	reopens bool

	draining atomic.Bool // set before the watch's deadline, which wakes the reader

	ready     func() bool // is readable; made once, because a method value is an allocation
	looked    bool        // readable has looked since WaitReadable was called
	armed     bool        // whether the watch is
	burst     int         // bytes read since it was armed
	drainFrom time.Time   // when the drain began; zero: it has not
	drained   int         // bytes read since then
	ended     bool        // the drain is over
}

// newFDReader returns a reader of fd, which must not block and must be closed after it. reopens: it
// is a pty.
func newFDReader(fd syscall.RawConn, reopens bool) (*fdReader, error) {
	r := &fdReader{fd: fd, reopens: reopens}
	r.ready = r.readable
	var err error
	r.watch, err = newWatch(fd, 0)
	return r, err
}

// drain has the reader read on until the first long silence (see drainSilence), and then end. It is
// for writers that do not matter: they may keep the descriptor open for ever.
func (r *fdReader) drain() {
	r.draining.Store(true)
	r.watch.setDeadline(time.Unix(1, 0)) // long ago: wakes WaitReadable
}

// WaitReadable blocks until there is output, or the end of it.
func (r *fdReader) WaitReadable() error {
	for {
		r.looked = false
		err := r.watch.wait(r.ready)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		// drain set the deadline, or extendDrain did.
		if r.drainFrom.IsZero() {
			r.drainFrom = time.Now()
			r.extendDrain()
			continue
		}
		ready := false
		if err := r.fd.Control(func(fd uintptr) { ready = r.readableNow(fd) }); err != nil {
			return err
		}
		r.ended = !ready
		return nil
	}
}

// readable is the condition of WaitReadable. It arms the watch if there is nothing to read. Once
// the watch has woken the reader, Read finds out what there is.
func (r *fdReader) readable() (ready bool) {
	if r.looked {
		return true
	}
	r.looked = true
	if err := r.fd.Control(func(fd uintptr) {
		if ready = r.readableNow(fd); ready || r.armed {
			return
		}
		r.armed, r.burst = true, 0
		r.watch.arm(fd, unix.EPOLLIN)
		ready = r.readableNow(fd) // see arm
	}); err != nil {
		return true // closed, as the watch is, and Read fails
	}
	return ready
}

// readableNow reports whether there is output or the end of it.
func (r *fdReader) readableNow(fd uintptr) bool {
	events, err := nonblock.Poll(fd, unix.POLLIN)
	if events == 0 || err != nil {
		return err != nil
	}
	return events&unix.POLLIN != 0 || !r.reopens || r.draining.Load()
}

// extendDrain waits for another drainSilence, within drainTime.
func (r *fdReader) extendDrain() {
	until := time.Now().Add(drainSilence)
	if last := r.drainFrom.Add(drainTime); until.After(last) {
		until = last
	}
	r.watch.setDeadline(until)
}

// Read reads available output.
func (r *fdReader) Read(p []byte) (int, error) {
	if r.ended || r.drained >= drainBytes {
		return 0, io.EOF
	}
	var n int
	var err error
	if cerr := r.fd.Control(func(fd uintptr) {
		n, err = nonblock.Read(fd, p)
		if r.burst += n; r.armed && r.burst >= burstBytes {
			r.armed = false
			r.watch.arm(fd, 0)
		}
	}); cerr != nil {
		return 0, cerr
	}
	// EIO is the hangup of a pty: no process has it open.
	switch {
	case err == unix.EAGAIN:
		return 0, nil
	case err == unix.EIO && !r.draining.Load():
		return 0, nil // see reopens
	case err == unix.EIO, err == nil && n == 0:
		return 0, io.EOF
	case err != nil:
		return 0, fmt.Errorf("ptypool: reading output: %w", err)
	}
	if !r.drainFrom.IsZero() {
		r.drained += n
		r.extendDrain()
	}
	return n, nil
}

// close makes WaitReadable return from now on. The descriptor stays open.
func (r *fdReader) close() error { return r.watch.close() }
