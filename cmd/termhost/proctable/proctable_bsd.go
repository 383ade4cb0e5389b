//go:build darwin || freebsd

package proctable

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// zombie is the state SZOMB, of sys/proc.h.
const zombie = 5

// Signal sends a signal to this process. It fails if the process has ended, or belongs to another
// user. A process that gets the same number between two system calls would get the signal: there is
// nothing like Linux's pidfd.
func (p Process) Signal(sig syscall.Signal) error {
	if now, ok := look(p.PID); !ok || now.Start != p.Start {
		return unix.ESRCH
	}
	return unix.Kill(p.PID, sig)
}

// AwaitEnd waits until a child of this process has ended, and does not reap it: no other process
// gets its number, and no other process session. It asks kqueue(2): with WNOWAIT, macOS's waitid
// returns for a child that was stopped, too (go.dev/issue/19314).
func AwaitEnd(child int) {
	queue, err := unix.Kqueue()
	if err != nil {
		return
	}
	defer unix.Close(queue)
	unix.CloseOnExec(queue)
	var end [1]unix.Kevent_t
	unix.SetKevent(&end[0], child, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	end[0].Fflags = unix.NOTE_EXIT
	changes := end[:]
	for {
		// ESRCH: it has ended before. It is a child that nobody has reaped, so it was there.
		n, err := unix.Kevent(queue, changes, end[:], nil)
		if n > 0 || err != unix.EINTR {
			return
		}
		changes = nil // the filter is there since the first call
	}
}

// startOf returns a start as a number.
func startOf(sec, usec int64) uint64 { return uint64(sec)*1e6 + uint64(usec) }
