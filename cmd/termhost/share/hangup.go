package share

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"termhost/cmd/termhost/proctable"
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
			for _, member := range membersOf(session) {
				if signalMember(member, kill, hungUp) {
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

// signalMember sends a process SIGKILL, or SIGHUP if it is not in hungUp yet. It returns false if
// there is no need to wait for the process.
func signalMember(member proctable.Process, kill bool, hungUp map[int]bool) bool {
	var err error
	switch {
	case kill:
		err = member.Signal(syscall.SIGKILL)
	case !hungUp[member.PID]:
		hungUp[member.PID] = true
		if err = member.Signal(syscall.SIGHUP); err == nil {
			err = member.Signal(syscall.SIGCONT) // in case it is stopped
		}
	}
	return err == nil // else it has ended, or belongs to another user
}

// membersOf returns the living processes of a process session.
func membersOf(session int) (members []proctable.Process) {
	all, _ := proctable.All() // without it nobody is found
	for _, p := range all {
		if p.Session == session && !p.Ended {
			members = append(members, p)
		}
	}
	return members
}
