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
	// adoptTime bounds how long the system's init may take to collect an orphan's status, and
	// adoptPoll is how often the keeper looks whether it has.
	adoptTime = time.Second
	adoptPoll = 5 * time.Millisecond
)

// awaitOrphan waits until a process that is not our child has ended, and returns its exit. It fails
// with ErrUnknownExit if the system does not reveal that (see statusOfEnded); the Exit says so as
// well. It closes pidfd.
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

// statusOfEnded returns the exit status of a process that has ended and is not our child. The
// system shows it in /proc/PID/stat (proc(5)) until the parent has collected it, and afterwards,
// since Linux 6.15, to the holder of a pidfd.
func statusOfEnded(pid, pidfd int) (status syscall.WaitStatus, ok bool) {
	status, ok = statusOfZombie(pid)
	if ok && unix.PidfdSendSignal(pidfd, 0, nil, 0) == nil {
		return status, true // the id still belongs to the process
	}
	info := unix.PidfdInfo{Mask: unix.PIDFD_INFO_EXIT}
	err := unix.IoctlPidfdInfo(pidfd, &info)
	return syscall.WaitStatus(info.Exit_code), err == nil && info.Mask&unix.PIDFD_INFO_EXIT != 0
}

// statusOfZombie returns the exit status in /proc of a process that has ended.
func statusOfZombie(pid int) (status syscall.WaitStatus, ok bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	// The third field, the first after the command in parentheses, is the state, and the 52nd is
	// the exit status.
	const state, exitCode = 0, 52 - 3
	f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(f) <= exitCode || string(f[state]) != "Z" {
		return 0, false
	}
	n, err := strconv.ParseUint(string(f[exitCode]), 10, 32)
	return syscall.WaitStatus(n), err == nil
}
