package keeper

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pidfdEnded reports whether the process of a pidfd has ended.
func pidfdEnded(pidfd int) (bool, error) {
	p := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
	n, err := unix.Poll(p, 0)
	if err == unix.EINTR {
		err = nil
	}
	return n > 0, err
}

const (
	// adoptTime bounds how long the system's own init may take to collect an orphan's status, and
	// adoptPoll is how often that is looked for.
	adoptTime = time.Second
	adoptPoll = 5 * time.Millisecond
)

// awaitOrphan waits until a process that is no child of ours has ended, and returns how. It fails
// with ErrUnknownExit where the system does not tell (see statusOfEnded); the Exit says so as well.
// pidfd is closed then.
func awaitOrphan(pid, pidfd int) (Exit, error) {
	unknown := Exit{Status: unknownStatus, Unknown: true}
	own, err := dup(pidfd)
	if err != nil {
		unix.Close(pidfd)
		return unknown, err
	}
	defer unix.Close(own)
	err = awaitPidfd(pidfd, func() (bool, error) { return pidfdEnded(own) })
	unknown.Ticks, unknown.At = bootTicks(), time.Now()
	if err != nil {
		return unknown, err
	}
	for deadline := time.Now().Add(adoptTime); time.Now().Before(deadline); time.Sleep(adoptPoll) {
		if status, ok := statusOfEnded(pid, own); ok {
			return Exit{Status: status, Ticks: bootTicks(), At: unknown.At}, nil
		}
	}
	return unknown, ErrUnknownExit
}

// statusOfEnded returns the exit status of an ended process that is no child of ours. The system
// tells it until somebody has collected it (/proc/PID/stat, see proc(5)) and, since Linux 6.15,
// afterwards to the holder of a pidfd.
func statusOfEnded(pid, pidfd int) (status syscall.WaitStatus, ok bool) {
	status, ok = statusOfZombie(pid)
	if ok && unix.PidfdSendSignal(pidfd, 0, nil, 0) == nil {
		return status, true // the number still belongs to the process
	}
	info := unix.PidfdInfo{Mask: unix.PIDFD_INFO_EXIT}
	err := unix.IoctlPidfdInfo(pidfd, &info)
	return syscall.WaitStatus(info.Exit_code), err == nil && info.Mask&unix.PIDFD_INFO_EXIT != 0
}

// statusOfZombie returns what /proc says of a process that has ended.
func statusOfZombie(pid int) (status syscall.WaitStatus, ok bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	// Of the fields the third, which is the first behind the command in parentheses, is the state,
	// and the 52nd is the status.
	const state, exitCode = 0, 52 - 3
	f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(f) <= exitCode || string(f[state]) != "Z" {
		return 0, false
	}
	n, err := strconv.ParseUint(string(f[exitCode]), 10, 32)
	return syscall.WaitStatus(n), err == nil
}
