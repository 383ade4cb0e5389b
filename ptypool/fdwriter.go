package ptypool

import (
	"fmt"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"termhost/ptypool/nonblock"
)

// fdWriter writes the input of a program to a descriptor: see programInput. Waiting blocks no
// thread.
type fdWriter struct {
	fd syscall.RawConn // does not block

	mu     sync.Mutex // guards the fields below; no other lock is taken under it
	watch  *watch     // for room; nil: most programs take their input at once
	closed bool
}

// WaitWritable blocks until there is room. It returns at once if it cannot wait for lack of a
// descriptor.
func (w *fdWriter) WaitWritable() error {
	watch, err := w.roomWatch()
	if watch == nil {
		return err
	}
	return watch.wait(func() bool {
		ready := true // closed, as the watch is
		_ = w.fd.Control(func(fd uintptr) {
			events, err := nonblock.Poll(fd, unix.POLLOUT)
			ready = err != nil || events != 0
		})
		return ready
	})
}

// roomWatch returns the watch, which it makes on first use; nil if it cannot be made. It fails
// after close.
func (w *fdWriter) roomWatch() (*watch, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, ErrExited
	}
	if w.watch == nil {
		w.watch, _ = newWatch(w.fd, unix.EPOLLOUT)
	}
	return w.watch, nil
}

// Write writes as much as there is room for.
func (w *fdWriter) Write(p []byte) (n int, err error) {
	cerr := w.fd.Control(func(fd uintptr) {
		for n < len(p) {
			var m int
			m, err = nonblock.Write(fd, p[n:])
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
		return n, fmt.Errorf("ptypool: writing input: %w", err)
	}
	return n, nil
}

// close makes WaitWritable return from now on. The descriptor stays open.
func (w *fdWriter) close() error {
	w.mu.Lock()
	w.closed = true
	watch := w.watch
	w.mu.Unlock()
	if watch == nil {
		return nil
	}
	return watch.close()
}

// ignoringEINTR repeats a system call that a signal interrupted.
func ignoringEINTR(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != syscall.EINTR {
			return n, err
		}
	}
}
