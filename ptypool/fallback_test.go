package ptypool

import (
	"log/slog"
	"syscall"
	"testing"
	"time"
)

// fork starts argv in a process session of its own, without a terminal.
func fork(t *testing.T, argv ...string) *family {
	t.Helper()
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		t.Fatal(err)
	}
	return newFamily(pid, "")
}

func TestAChildIsReapedWithoutPidfd(t *testing.T) {
	f := fork(t, "/bin/sh", "-c", "exit 9")
	var ws syscall.WaitStatus
	if err := awaitExit(-1, nil); err == nil {
		t.Fatal("waits without a pidfd")
	}
	if ended, err := f.wait(&ws, 0); !ended || err != nil || ws.ExitStatus() != 9 {
		t.Errorf("ended %v, status %v, %v", ended, ws, err)
	}
	if !f.leaderGone() || running(f.leader) {
		t.Error("it is not reaped")
	}
	if _, err := f.wait(&ws, 0); err == nil {
		t.Error("reaped twice")
	}
}

func TestAProcessGroupIsHungUpWithoutProc(t *testing.T) {
	f := fork(t, "/bin/sleep", "1000")
	s := newSweeper(slog.New(slog.DiscardHandler))
	s.targets[f] = &target{gone: make(chan struct{})}
	if s.look(f, -time.Second, nil) {
		t.Error("over before it began")
	}
	var ws syscall.WaitStatus
	if _, err := f.wait(&ws, 0); err != nil || ws.Signal() != syscall.SIGHUP {
		t.Errorf("status %v, %v", ws, err)
	}
	if s.look(f, 0, nil) || !s.look(f, 0, nil) {
		t.Error("not over after two looks that found nothing")
	}
}

func TestANumberThatWasUsedAgainIsNoMember(t *testing.T) {
	f := newFamily(100, "mark")
	f.reaped, f.reapedAt = true, 5000
	table := &procTable{self: 1, procs: map[int]process{
		100: {pid: 100, session: 100, start: 6000, state: 'S'},              // a later process with the leader's number
		101: {pid: 101, session: 100, start: 6001, state: 'S'},              // and its child
		102: {pid: 102, session: 100, start: 4000, state: 'S'},              // an old one of ours
		103: {pid: 103, session: 103, start: 7000, parent: 102, state: 'S'}, // its late child, in a session of its own
		104: {pid: 104, session: 104, start: 7000, state: 'S', mark: "mark"},
		105: {pid: 105, session: 105, start: 7000, state: 'S', mark: "other"},
		106: {pid: 106, session: 100, start: 4000, state: 'Z'},
	}, sessions: map[int][]int{100: {100, 101, 102, 106}}, marks: map[string][]int{"mark": {104}, "other": {105}},
		children: map[int][]int{102: {103}, 100: {101}}}
	got := make(map[int]bool)
	for _, p := range f.members(table) {
		got[p.pid] = true
	}
	if len(got) != 3 || !got[102] || !got[103] || !got[104] {
		t.Errorf("members %v", got)
	}
	// Known once, known for good, and only as the process it was.
	table.procs[103] = process{pid: 103, session: 103, start: 7000, parent: 1, state: 'S'}
	table.procs[104] = process{pid: 104, session: 104, start: 9999, state: 'S'}
	table.children, table.marks = nil, nil
	got = make(map[int]bool)
	for _, p := range f.members(table) {
		got[p.pid] = true
	}
	if len(got) != 2 || !got[102] || !got[103] {
		t.Errorf("members %v", got)
	}
}
