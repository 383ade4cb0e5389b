package ptypool

import (
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"termhost/ptypool/proctag"
)

// MarkerVariable is set in the environment of every process that a Pool starts, to a value that
// no other terminal has (see [Pool.NewMarker]). It is one of four signs by which the processes
// of a terminal, its process tree, are recognised when it is hung up or signalled:
//
//  1. The process session: everything that descends from the leader and did not call setsid(2).
//  2. The marker, read from /proc/PID/environ: everything that was executed with the terminal's
//     environment, in any process session and with any parent (setsid, daemons that fork twice).
//  3. The marker's tag, which also processes have whose environment was cleared, and their
//     children: see package proctag.
//  4. Descent from any of those, and having been recognised once before.
//
// Processes of another user (sudo) are out of reach, unless this process is root. To let something
// outlive its terminal on purpose, have a service manager start it: systemd-run --user PROGRAM.
//
// Processes of the same user can read the value.
const MarkerVariable = "TERMHOST_TERMINAL"

// processTree has the signs by which the processes of one terminal are recognised.
type processTree struct {
	leader int // its process id, which is also the id of the process session
	marker string
	tag    proctag.Tag // the marker's

	// mu is held while the leader's status is collected, so that no signal is sent to its process
	// id once another process can get that. No other lock is taken under it.
	mu       sync.Mutex
	reaped   bool
	reapedAt uint64              // clock ticks since boot; valid if reaped
	known    map[procID]struct{} // found by the last call of members
}

func newProcessTree(leader int, marker string) *processTree {
	return &processTree{leader: leader, marker: marker, tag: proctag.New(marker),
		known: make(map[procID]struct{})}
}

// collect is wait4(2) for the leader, which must be a child of this process. ended: its status was
// collected.
func (tree *processTree) collect(ws *syscall.WaitStatus, options int) (ended bool, err error) {
	if options&unix.WNOHANG == 0 {
		// This blocks. Wait without collecting first, so that the lock is not held meanwhile.
		if _, err := ignoringEINTR(func() (int, error) {
			return 0, unix.Waitid(unix.P_PID, tree.leader, nil, unix.WEXITED|unix.WNOWAIT, nil)
		}); err != nil {
			return false, err
		}
	}
	tree.mu.Lock()
	defer tree.mu.Unlock()
	pid, err := ignoringEINTR(func() (int, error) {
		return syscall.Wait4(tree.leader, ws, options, nil)
	})
	if err != nil || pid == tree.leader {
		tree.reaped, tree.reapedAt = true, bootTicks()
	}
	return pid == tree.leader, err
}

// collected records when another process has collected the leader's status.
func (tree *processTree) collected(ticks uint64) {
	tree.mu.Lock()
	defer tree.mu.Unlock()
	tree.reaped, tree.reapedAt = true, ticks
}

// members returns the living processes of the tree, and remembers them.
func (tree *processTree) members(table *procTable) []process {
	tree.mu.Lock()
	defer tree.mu.Unlock()
	seen := make(map[int]bool)
	var found []process
	take := func(pids []int, belongs func(process) bool) {
		for _, pid := range pids {
			if p := table.procs[pid]; !seen[pid] && pid != table.self && belongs(p) {
				seen[pid] = true
				found = append(found, p)
			}
		}
	}
	always := func(process) bool { return true }
	take(table.sessions[tree.leader], tree.inSessionLocked)
	if tree.marker != "" {
		take(table.markers[tree.marker], always)
	}
	if tree.tag != 0 {
		take(table.tags[tree.tag], always)
	}
	for id := range tree.known {
		take([]int{id.pid}, func(p process) bool { return p.id() == id })
	}
	for i := 0; i < len(found); i++ {
		take(table.children[found[i].pid], always)
	}
	clear(tree.known)
	living := found[:0]
	for _, p := range found {
		if p.alive() {
			living = append(living, p)
			tree.known[p.id()] = struct{}{}
		}
	}
	return living
}

// inSession reports whether a process is in the leader's process session. Once the leader has been
// reaped, another process session may get its id. A process that started before that moment cannot
// be in the other session, which it would have to lead or to have started in.
func (tree *processTree) inSession(p process) bool {
	tree.mu.Lock()
	defer tree.mu.Unlock()
	return tree.inSessionLocked(p)
}

// inSessionLocked is inSession for callers that hold mu.
func (tree *processTree) inSessionLocked(p process) bool {
	return p.session == tree.leader && (!tree.reaped || p.start <= tree.reapedAt)
}

// signal sends sig to every process of the tree once.
func (tree *processTree) signal(sig syscall.Signal) error {
	table, err := scanProcs()
	if err != nil {
		return tree.signalGroup(sig)
	}
	members := tree.members(table)
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

// signalGroup is signal without /proc: it reaches only the leader's process group.
func (tree *processTree) signalGroup(sig syscall.Signal) error {
	tree.mu.Lock()
	defer tree.mu.Unlock()
	if tree.reaped {
		return os.ErrProcessDone
	}
	return unix.Kill(-tree.leader, sig)
}

// leaderGone reports whether the leader has been reaped.
func (tree *processTree) leaderGone() bool {
	tree.mu.Lock()
	defer tree.mu.Unlock()
	return tree.reaped
}
