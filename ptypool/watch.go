package ptypool

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// watch waits until a pty is ready. It is an epoll instance of its own between the pty and the runtime's poller, which
// can be disarmed: a pty in the runtime's poller itself wakes a thread with every few KiB of a flood, although the reader
// is awake and does not wait.
type watch struct {
	epoll *os.File // readable when the pty is ready
	raw   syscall.RawConn
}

// newWatch returns a watch armed for events, such as unix.EPOLLIN. fd must be closed after it.
func newWatch(fd syscall.RawConn, events uint32) (*watch, error) {
	ep, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(ep, true); err != nil { // only then os.NewFile puts it into the poller
		unix.Close(ep)
		return nil, err
	}
	w := &watch{epoll: os.NewFile(uintptr(ep), "epoll")}
	if w.raw, err = w.epoll.SyscallConn(); err == nil {
		if cerr := fd.Control(func(fd uintptr) {
			err = unix.EpollCtl(ep, unix.EPOLL_CTL_ADD, int(fd), &unix.EpollEvent{Events: events | unix.EPOLLET})
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

// wait blocks until ready returns true. It is asked at once, and whenever the pty may have become ready. wait fails with
// os.ErrDeadlineExceeded, or after close.
func (w *watch) wait(ready func() bool) error {
	return w.raw.Read(func(uintptr) bool { return ready() })
}

// arm sets the events to wait for, besides the hangup; 0 disarms. The pty must be looked at after it: an epoll instance
// whose events nobody takes out does not tell again, when it is armed, of what is there already.
func (w *watch) arm(fd uintptr, events uint32) {
	// It fails only on a closed watch, of which wait tells.
	_ = w.raw.Control(func(ep uintptr) {
		_ = unix.EpollCtl(int(ep), unix.EPOLL_CTL_MOD, int(fd), &unix.EpollEvent{Events: events | unix.EPOLLET})
	})
}

// setDeadline makes wait fail from t on.
func (w *watch) setDeadline(t time.Time) {
	// It cannot fail on a pollable file; a closed one is noticed by wait.
	_ = w.epoll.SetReadDeadline(t)
}

func (w *watch) close() error { return w.epoll.Close() }
