package ptypool

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// watch waits until a descriptor, such as a pty's master, is ready. It has its own epoll instance
// between the descriptor and the runtime's poller, so that it can be disarmed: a pty in the
// runtime's poller itself wakes a thread with every few KiB of a flood, although the reader is not
// waiting.
type watch struct {
	epoll *os.File // readable when the descriptor is ready
	raw   syscall.RawConn
}

// newWatch returns a watch of fd that is armed for events, such as unix.EPOLLIN. fd must be closed
// after it.
func newWatch(fd syscall.RawConn, events uint32) (*watch, error) {
	ep, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(ep, true); err != nil { // only then os.NewFile uses the poller
		unix.Close(ep)
		return nil, err
	}
	w := &watch{epoll: os.NewFile(uintptr(ep), "epoll")}
	if w.raw, err = w.epoll.SyscallConn(); err == nil {
		event := unix.EpollEvent{Events: events | unix.EPOLLET}
		if cerr := fd.Control(func(fd uintptr) {
			err = unix.EpollCtl(ep, unix.EPOLL_CTL_ADD, int(fd), &event)
		}); cerr != nil {
			err = cerr
		}
	}
	if err != nil {
		w.epoll.Close()
		return nil, err
	}
	return w, nil
}

// wait blocks until ready returns true. It calls ready at once, and again whenever the descriptor
// may have become ready. It fails with os.ErrDeadlineExceeded, or after close.
func (w *watch) wait(ready func() bool) error {
	return w.raw.Read(func(uintptr) bool { return ready() })
}

// arm sets the events to wait for, besides the hangup; 0 disarms. The caller must poll fd after
// arming: an epoll instance does not report an event that was there before if its earlier events
// were not taken out.
func (w *watch) arm(fd uintptr, events uint32) {
	// It fails only on a closed watch, which wait reports.
	_ = w.raw.Control(func(ep uintptr) {
		event := unix.EpollEvent{Events: events | unix.EPOLLET}
		_ = unix.EpollCtl(int(ep), unix.EPOLL_CTL_MOD, int(fd), &event)
	})
}

// setDeadline makes wait fail from t on.
func (w *watch) setDeadline(t time.Time) {
	// It cannot fail on a pollable file; wait reports a closed one.
	_ = w.epoll.SetReadDeadline(t)
}

func (w *watch) close() error { return w.epoll.Close() }
