package ptypool

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// reap is the goroutine that waits for the child. With a pidfd (Linux 5.4 and later) it parks in the runtime's poller;
// without one it holds a thread. It ends with the child, so it is not waited for: who needs its end waits for reaped.
func (b *ptyBackend) reap(pidfd int) {
	var ws syscall.WaitStatus
	err := awaitExit(pidfd, func() (bool, error) { return b.family.wait(&ws, unix.WNOHANG) })
	if err != nil {
		_, err = b.family.wait(&ws, 0)
	}
	if err != nil {
		b.err = fmt.Errorf("ptypool: waiting for a child: %w", err)
	} else {
		b.status = ExitStatusOf(ws)
	}
	b.exited.Store(true)
	close(b.reaped)
	// Wakes the reader for the drain. A closed file has no reader left.
	b.in.setDeadline(time.Unix(1, 0))
}

// awaitExit parks until pidfd, which it closes, says that the child has ended and done confirms it. It fails when this
// system cannot do that.
func awaitExit(pidfd int, done func() (bool, error)) error {
	if pidfd < 0 {
		return unix.ENOSYS
	}
	if err := unix.SetNonblock(pidfd, true); err != nil {
		unix.Close(pidfd)
		return err
	}
	f := os.NewFile(uintptr(pidfd), "pidfd")
	defer f.Close()
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var waitErr error
	err = raw.Read(func(uintptr) bool {
		var ended bool
		ended, waitErr = done()
		return ended || waitErr != nil
	})
	if err != nil {
		return err
	}
	return waitErr
}
