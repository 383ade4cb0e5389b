package sshd

import (
	"strings"
	"testing"
)

func TestStandardInputReachesTheCommand(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	for _, c := range []struct{ name, stdin, command, want string }{
		{"lines", "b\na\n", "run -- sort", "a\nb\n"},
		{"an unfinished line", "foo", "run -- cat", "foo"},
		{"nothing", "", "run -- cat; echo over", "over\n"},
		{"a script for the shell", "exit 0\n", "", ""},
	} {
		got := r.ssh("alice", c.stdin, strings.Fields(c.command)...)
		if got.status != 0 || c.want != "" && !strings.HasSuffix(got.stdout, c.want) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestAnUnfinishedLastLineOfAScriptRuns(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	if got := r.ssh("alice", "exit 6"); got.status != 6 {
		t.Errorf("got %+v", got)
	}
}

func TestLargeOutputIsWhole(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	got := r.ssh("alice", "", "run -- seq 1 300000")
	lines := strings.Split(strings.TrimSuffix(got.stdout, "\n"), "\n")
	if len(lines) != 300000 || lines[299999] != "300000" || strings.Contains(got.stdout, "\r") {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}
