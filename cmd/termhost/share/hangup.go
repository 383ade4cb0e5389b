package share

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// hangupGrace is how long processes may take to end after SIGHUP before they are killed. The
	// host uses the same time.
	hangupGrace = 2 * time.Second
	// killTime is how long SIGKILL is repeated. What survives it hangs in the kernel.
	killTime = 5 * time.Second
	// lookInterval is how often the remaining processes are looked up.
	lookInterval = 50 * time.Millisecond
)

// hangUp ends the program as a terminal does whose window is closed: with SIGHUP to its process
// group and to the one in the foreground, and later SIGKILL. Background jobs are left to the
// shell. It returns at once.
func (p *program) hangUp() {
	p.signalling(func() {
		p.signalGroups(syscall.SIGHUP)
		p.signalGroups(syscall.SIGCONT) // a stopped process gets its signals when it continues
		select {
		case <-p.exited:
		case <-time.After(hangupGrace):
			p.signalGroups(syscall.SIGKILL)
		}
	})
}

// signalGroups sends a signal to the program's process group and to the one in the foreground.
func (p *program) signalGroups(sig syscall.Signal) {
	pid := p.cmd.Process.Pid
	_ = syscall.Kill(-pid, sig) // it may just have ended
	group, err := unix.IoctlGetInt(int(p.pty.Fd()), unix.TIOCGPGRP)
	if err == nil && group > 1 && group != pid {
		_ = syscall.Kill(-group, sig)
	}
}

// end ends every process of the program's process session, background jobs included: each gets
// SIGHUP, and after a grace SIGKILL. It returns at once; wait waits for the last of them.
func (p *program) end() {
	p.signalling(func() {
		session := p.cmd.Process.Pid
		hungUp := map[int]bool{}
		began := time.Now()
		for time.Since(began) < hangupGrace+killTime {
			kill := time.Since(began) >= hangupGrace
			left := 0
			for _, pid := range processesOf(session) {
				if signalMember(pid, session, kill, hungUp) {
					left++
				}
			}
			select {
			case <-p.exited:
				if left == 0 {
					return
				}
			default:
			}
			time.Sleep(lookInterval)
		}
	})
}

// signalMember sends a process of a process session SIGKILL, or SIGHUP if it is not in hungUp yet.
// It returns false if there is no need to wait for the process.
func signalMember(pid, session int, kill bool, hungUp map[int]bool) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	// While the pidfd is open, no other process gets this process id.
	if state, of := processState(pid); of != session || !alive(state) {
		return false
	}
	switch {
	case kill:
		err = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	case !hungUp[pid]:
		hungUp[pid] = true
		if err = unix.PidfdSendSignal(fd, unix.SIGHUP, nil, 0); err == nil {
			err = unix.PidfdSendSignal(fd, unix.SIGCONT, nil, 0) // in case it is stopped
		}
	}
	return err == nil // else it has ended, or belongs to another user
}

// processesOf returns the living processes of a process session.
func processesOf(session int) (pids []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if state, of := processState(pid); of == session && alive(state) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// processState returns a process's state and process session as /proc/PID/stat has them (proc(5)),
// or zeros if there is no such process.
func processState(pid int) (state byte, session int) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0
	}
	// The line is "pid (comm) state ppid pgrp session ..."; comm may contain anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 4 || len(fields[0]) != 1 {
		return 0, 0
	}
	session, _ = strconv.Atoi(string(fields[3]))
	return fields[0][0], session
}

// alive reports whether a process in this state can get signals.
func alive(state byte) bool { return !slices.Contains([]byte{0, 'Z', 'X'}, state) }
