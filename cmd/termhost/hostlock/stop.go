package hostlock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"termhost/ptypool/statefile"
)

// pollInterval is how often EndProcess looks whether a process was stopped.
const pollInterval = 20 * time.Millisecond

// StopHolder ends the host of a state folder: by sig or, if it has not ended after patience, by
// SIGKILL. It returns the folder's lock, so that no other host starts, and the process that held
// it; 0: none did. The lock is nil if there has never been a host.
func StopHolder(stateDir string, sig unix.Signal, patience time.Duration) (
	lock *os.File, pid int, err error,
) {
	lock, err = statefile.Open(filepath.Join(stateDir, FileName), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	for {
		err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return lock, pid, nil
		}
		if errors.Is(err, syscall.EWOULDBLOCK) {
			pid = holderOf(lock)
			err = EndProcess(pid, sig, patience)
		}
		if err != nil {
			lock.Close()
			return nil, 0, fmt.Errorf("the host cannot be stopped: %w", err)
		}
	}
}

// EndProcess ends a process of this user, and returns when it has ended. It sends sig and, if the
// process is stopped or has not ended after patience, SIGKILL.
func EndProcess(pid int, sig unix.Signal, patience time.Duration) error {
	if pid <= 0 {
		return errors.New("it does not say which process it is")
	}
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return ignoreGone(err)
	}
	defer unix.Close(pidfd)
	if err := unix.PidfdSendSignal(pidfd, sig, nil, 0); err != nil {
		return ignoreGone(err)
	}
	for hung := time.Now().Add(patience); ; {
		p := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
		n, err := unix.Poll(p, int(pollInterval/time.Millisecond))
		switch {
		case n > 0:
			return nil
		case err != nil && err != unix.EINTR:
			return err
		case isStopped(pid), time.Now().After(hung):
			if err := unix.PidfdSendSignal(pidfd, unix.SIGKILL, nil, 0); err != nil {
				return ignoreGone(err)
			}
		}
	}
}

func ignoreGone(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

// isStopped reports whether a process was stopped, as by SIGSTOP: it does not handle signals.
func isStopped(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
	return strings.HasPrefix(state, "T")
}
