package ptypool

import (
	"log/slog"
	"syscall"
	"testing"
	"time"
)

// fork starts argv in a process session of its own, without a terminal.
func fork(t *testing.T, argv ...string) *processTree {
	t.Helper()
	attr := &syscall.ProcAttr{Sys: &syscall.SysProcAttr{Setsid: true}}
	pid, err := syscall.ForkExec(argv[0], argv, attr)
	if err != nil {
		t.Fatal(err)
	}
	return newProcessTree(pid, "")
}

func TestAChildIsReapedWithoutPidfd(t *testing.T) {
	tree := fork(t, "/bin/sh", "-c", "exit 9")
	var ws syscall.WaitStatus
	if err := awaitExit(-1, nil); err == nil {
		t.Fatal("waits without a pidfd")
	}
	if ended, err := tree.collect(&ws, 0); !ended || err != nil || ws.ExitStatus() != 9 {
		t.Errorf("ended %v, status %v, %v", ended, ws, err)
	}
	if !tree.leaderGone() || running(tree.leader) {
		t.Error("it is not reaped")
	}
	if _, err := tree.collect(&ws, 0); err == nil {
		t.Error("reaped twice")
	}
}

func TestAProcessGroupIsHungUpWithoutProc(t *testing.T) {
	tree := fork(t, "/bin/sleep", "1000")
	r := newReaper(slog.New(slog.DiscardHandler))
	r.hangups[tree] = &hangup{gone: make(chan struct{})}
	if r.signalLeft(tree, -time.Second, nil) {
		t.Error("over before it began")
	}
	var ws syscall.WaitStatus
	if _, err := tree.collect(&ws, 0); err != nil || ws.Signal() != syscall.SIGHUP {
		t.Errorf("status %v, %v", ws, err)
	}
	if r.signalLeft(tree, 0, nil) || !r.signalLeft(tree, 0, nil) {
		t.Error("not over after two scans that found nothing")
	}
}

func TestAReusedProcessIDIsNotInTheTree(t *testing.T) {
	tree := newProcessTree(100, "ours")
	tree.reaped, tree.reapedAt = true, 5000
	table := &procTable{
		self: 1,
		procs: map[int]process{
			// A later process with the leader's id, and its child.
			100: {pid: 100, session: 100, start: 6000, state: 'S'},
			101: {pid: 101, session: 100, start: 6001, state: 'S', parent: 100},
			// An old one of ours, and its late child, in a process session of its own.
			102: {pid: 102, session: 100, start: 4000, state: 'S'},
			103: {pid: 103, session: 103, start: 7000, state: 'S', parent: 102},
			// With a marker of ours, and with another one.
			104: {pid: 104, session: 104, start: 7000, state: 'S', marker: "ours"},
			105: {pid: 105, session: 105, start: 7000, state: 'S', marker: "other"},
			// An old one of ours that is a zombie.
			106: {pid: 106, session: 100, start: 4000, state: 'Z'},
		},
		sessions: map[int][]int{100: {100, 101, 102, 106}},
		markers:  map[string][]int{"ours": {104}, "other": {105}},
		children: map[int][]int{102: {103}, 100: {101}},
	}
	got := make(map[int]bool)
	for _, p := range tree.members(table) {
		got[p.pid] = true
	}
	if len(got) != 3 || !got[102] || !got[103] || !got[104] {
		t.Errorf("members %v", got)
	}
	// A process that was recognised once stays so, but not a later process with its id.
	table.procs[103] = process{pid: 103, session: 103, start: 7000, parent: 1, state: 'S'}
	table.procs[104] = process{pid: 104, session: 104, start: 9999, state: 'S'}
	table.children, table.markers = nil, nil
	got = make(map[int]bool)
	for _, p := range tree.members(table) {
		got[p.pid] = true
	}
	if len(got) != 2 || !got[102] || !got[103] {
		t.Errorf("members %v", got)
	}
}
