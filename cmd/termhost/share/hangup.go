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
	// shareHangup is how long programs may take to end after SIGHUP: as at the
	// host.
	shareHangup = 2 * time.Second
	// shareKill is how long SIGKILL is repeated. What survives it hangs in the
	// kernel.
	shareKill = 5 * time.Second
	// shareLook is how often is looked who is left.
	shareLook = 50 * time.Millisecond
)

// hangUp ends the program as a terminal does whose window is closed: SIGHUP to its
// process group and to the one in the foreground, and later SIGKILL. What the user
// has put into the background is the shell's to deal with. It returns at once.
func (s *localShell) hangUp() {
	s.interrupt(func() {
		s.tell(syscall.SIGHUP)
		s.tell(syscall.SIGCONT) // a stopped process gets its signals when it goes on
		select {
		case <-s.exited:
		case <-time.After(shareHangup):
			s.tell(syscall.SIGKILL)
		}
	})
}

// tell sends a signal to the program's process group and to the one in the
// foreground.
func (s *localShell) tell(sig syscall.Signal) {
	pid := s.cmd.Process.Pid
	_ = syscall.Kill(-pid, sig) // it may just have ended
	if group, err := unix.IoctlGetInt(int(s.pty.Fd()), unix.TIOCGPGRP); err == nil && group > 1 && group != pid {
		_ = syscall.Kill(-group, sig)
	}
}

// end ends every process of the program's process session, background jobs too:
// SIGHUP to each, and after a grace SIGKILL. It returns at once; status waits for
// the last of them.
func (s *localShell) end() {
	s.interrupt(func() {
		told := map[int]bool{}
		began := time.Now()
		for time.Since(began) < shareHangup+shareKill {
			left := 0
			kill := time.Since(began) >= shareHangup
			for _, pid := range processesOf(s.cmd.Process.Pid) {
				if hit(pid, s.cmd.Process.Pid, kill, told) {
					left++
				}
			}
			select {
			case <-s.exited:
				if left == 0 {
					return
				}
			default:
			}
			time.Sleep(shareLook)
		}
	})
}

// hit sends a process of a process session its signal: SIGKILL, or once SIGHUP. It
// returns false if that is nothing to wait for.
func hit(pid, session int, kill bool, told map[int]bool) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	// The pidfd holds the number: what is seen now stays so.
	if state, of := processState(pid); of != session || !alive(state) {
		return false
	}
	switch {
	case kill:
		err = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	case !told[pid]:
		told[pid] = true
		if err = unix.PidfdSendSignal(fd, unix.SIGHUP, nil, 0); err == nil {
			err = unix.PidfdSendSignal(fd, unix.SIGCONT, nil, 0) // a stopped process would not notice
		}
	}
	return err == nil // else it has ended, or is another user's
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

// processState returns a process's state and process session, as proc(5) has them
// in /proc/PID/stat; 0: there is none.
func processState(pid int) (state byte, session int) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0
	}
	// pid (comm) state ppid pgrp session; comm may hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 4 || len(fields[0]) != 1 {
		return 0, 0
	}
	session, _ = strconv.Atoi(string(fields[3]))
	return fields[0][0], session
}

// alive reports whether a process in a state can get signals.
func alive(state byte) bool { return !slices.Contains([]byte{0, 'Z', 'X'}, state) }
