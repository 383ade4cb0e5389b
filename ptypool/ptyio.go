package ptypool

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// drainSilence is how long the pty must have been silent, after the child was reaped, before the output counts as
	// ended although a background process has the pty open: enough for the last stage of a pipeline.
	drainSilence = 250 * time.Millisecond
	// drainTime bounds the wait for that silence.
	drainTime = time.Second
	// drainBytes bounds it for a process that floods. It is more than the kernel ever holds for a pty (tens of KiB), so
	// what the child has written is always read.
	drainBytes = 1 << 20
	// burstBytes is how much output in one go is a flood, in bytes: more than the kernel holds for a pty, so that the
	// program goes on writing while it is read.
	burstBytes = 16 << 10
)

// readable is the condition of WaitReadable: output, or the end of it. A hangup while the child lives is not the end: a
// program may close its terminal and open it again.
func (b *ptyBackend) readable() (ready bool) {
	if err := b.raw.Control(func(fd uintptr) {
		if ready = b.readableNow(fd); ready || b.armed {
			return
		}
		b.armed, b.burst = true, 0
		b.in.arm(fd, unix.EPOLLIN)
		ready = b.readableNow(fd) // see arm
	}); err != nil {
		return true // closed, as the watch is, and Read says so
	}
	return ready
}

func (b *ptyBackend) readableNow(fd uintptr) bool {
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	if n, err := ignoringEINTR(func() (int, error) { return unix.Poll(p, 0) }); n <= 0 || err != nil {
		return err != nil
	}
	return p[0].Revents&unix.POLLIN != 0 || b.exited.Load()
}

func (b *ptyBackend) WaitReadable() error {
	for {
		err := b.in.wait(b.poll)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		// The reaper set the deadline, or the drain did.
		if b.drainFrom.IsZero() {
			b.drainFrom = time.Now()
			b.extendDrain()
			continue
		}
		ready := false
		if err := b.raw.Control(func(fd uintptr) { ready = b.readableNow(fd) }); err != nil {
			return err
		}
		b.ended = !ready
		return nil
	}
}

// extendDrain waits for another drainSilence, within drainTime.
func (b *ptyBackend) extendDrain() {
	until := time.Now().Add(drainSilence)
	if last := b.drainFrom.Add(drainTime); until.After(last) {
		until = last
	}
	b.in.setDeadline(until)
}

func (b *ptyBackend) Read(p []byte) (int, error) {
	if b.ended || b.drained >= drainBytes {
		return 0, io.EOF
	}
	var n int
	var err error
	if cerr := b.raw.Control(func(fd uintptr) {
		n, err = ignoringEINTR(func() (int, error) { return unix.Read(int(fd), p) })
		if b.burst += max(n, 0); b.armed && b.burst >= burstBytes {
			b.armed = false
			b.in.arm(fd, 0)
		}
	}); cerr != nil {
		return 0, cerr
	}
	switch {
	case err == unix.EAGAIN:
		return 0, nil
	case err == unix.EIO && !b.exited.Load():
		return 0, nil // see readable
	case err == unix.EIO, err == nil && n == 0:
		return 0, io.EOF
	case err != nil:
		return 0, fmt.Errorf("ptypool: reading a pty: %w", err)
	}
	if !b.drainFrom.IsZero() {
		b.drained += n
		b.extendDrain()
	}
	return n, nil
}

// WaitWritable returns at once where it cannot wait, as without a descriptor to spare.
func (b *ptyBackend) WaitWritable() error {
	w, err := b.outWatch()
	if w == nil {
		return err
	}
	return w.wait(func() bool {
		ready := true // closed, as the watch is
		_ = b.raw.Control(func(fd uintptr) {
			p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
			_, err := ignoringEINTR(func() (int, error) { return unix.Poll(p, 0) })
			ready = err != nil || p[0].Revents != 0
		})
		return ready
	})
}

// outWatch returns the watch for room for input, which most terminals never need. It fails after Close.
func (b *ptyBackend) outWatch() (*watch, error) {
	b.outMu.Lock()
	defer b.outMu.Unlock()
	if b.closed {
		return nil, ErrExited
	}
	if b.out == nil {
		b.out, _ = newWatch(b.raw, unix.EPOLLOUT)
	}
	return b.out, nil
}

func (b *ptyBackend) Write(p []byte) (n int, err error) {
	cerr := b.raw.Control(func(fd uintptr) {
		for n < len(p) {
			var m int
			m, err = ignoringEINTR(func() (int, error) { return unix.Write(int(fd), p[n:]) })
			if err != nil || m == 0 {
				return
			}
			n += m
		}
	})
	switch {
	case cerr != nil:
		return n, ErrExited
	case err == unix.EAGAIN:
		return n, nil
	case err != nil:
		return n, fmt.Errorf("ptypool: writing to a pty: %w", err)
	}
	return n, nil
}
