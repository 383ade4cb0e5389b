package ptypool

import (
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// MarkerVariable is set, to a value of the terminal's own (see [Pool.NewMark]), in the environment of every process that a Pool starts. It is one of the three
// signs by which the processes of a terminal are known when it is hung up or signalled:
//
//  1. the process session: all that descend from the child and did not call setsid(2);
//  2. the marker, read from /proc/PID/environ: all that were executed with the terminal's environment, in whatever session
//     and whoever their parent is now (setsid, daemons that fork twice);
//  3. descent from any of those, and having been recognised once before.
//
// A process escapes all three only if it left the process session, and its parent has ended, and it was executed without
// the marker or wrote over its environment, before the first look at it. That takes intent, and it is the way to
// let something outlive its terminal on purpose: "env -u TERMHOST_TERMINAL setsid -f PROGRAM". Beyond reach are also
// processes of another user (sudo, unless this process is root). A cgroup would leave no escape but needs privileges.
//
// The value is no secret to processes of the same user.
const MarkerVariable = "TERMHOST_TERMINAL"

// family is what identifies the processes of one terminal.
type family struct {
	leader int // process id, and so the id of the process session
	mark   string

	mu       sync.Mutex // leaf; held while reaping, so that leader is never signalled after that
	reaped   bool
	reapedAt uint64              // clock ticks since boot; valid if reaped
	known    map[procID]struct{} // recognised before, in a hangup
}

func newFamily(leader int, mark string) *family {
	return &family{leader: leader, mark: mark, known: make(map[procID]struct{})}
}

// wait is wait4 for the leader; ended says that it was reaped.
func (f *family) wait(ws *syscall.WaitStatus, options int) (ended bool, err error) {
	if options&unix.WNOHANG == 0 {
		// Blocks: wait first without reaping, so that the lock is not held meanwhile.
		if _, err := ignoringEINTR(func() (int, error) {
			return 0, unix.Waitid(unix.P_PID, f.leader, nil, unix.WEXITED|unix.WNOWAIT, nil)
		}); err != nil {
			return false, err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	pid, err := ignoringEINTR(func() (int, error) { return syscall.Wait4(f.leader, ws, options, nil) })
	if err != nil || pid == f.leader {
		f.reaped, f.reapedAt = true, bootTicks()
	}
	return pid == f.leader, err
}

// members returns the living processes of the family, and remembers them.
func (f *family) members(t *procTable) []process {
	f.mu.Lock()
	defer f.mu.Unlock()
	seen := make(map[int]bool)
	var found []process
	take := func(pids []int, belongs func(process) bool) {
		for _, pid := range pids {
			if p := t.procs[pid]; !seen[pid] && pid != t.self && belongs(p) {
				seen[pid] = true
				found = append(found, p)
			}
		}
	}
	any := func(process) bool { return true }
	take(t.sessions[f.leader], f.inSessionLocked)
	if f.mark != "" {
		take(t.marks[f.mark], any)
	}
	for id := range f.known {
		take([]int{id.pid}, func(p process) bool { return p.id() == id })
	}
	for i := 0; i < len(found); i++ {
		take(t.children[found[i].pid], any)
	}
	clear(f.known)
	living := found[:0]
	for _, p := range found {
		if p.alive() {
			living = append(living, p)
			f.known[p.id()] = struct{}{}
		}
	}
	return living
}

// signal sends sig to every process of the family once.
func (f *family) signal(sig syscall.Signal) error {
	t, err := scanProcs()
	if err != nil {
		return f.signalGroup(sig)
	}
	members := f.members(t)
	if len(members) == 0 {
		return os.ErrProcessDone
	}
	var failed error
	for _, p := range members {
		if err := p.signal(sig); err != nil {
			failed = err
		}
	}
	return failed
}

// signalGroup is what can be done without /proc: it reaches the leader's process group only.
func (f *family) signalGroup(sig syscall.Signal) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reaped {
		return os.ErrProcessDone
	}
	return unix.Kill(-f.leader, sig)
}

// leaderGone reports whether the leader was reaped.
func (f *family) leaderGone() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reaped
}
