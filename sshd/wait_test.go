package sshd

import (
	"regexp"
	"strings"
	"testing"

	"termhost/ahp/host"
	"termhost/ptypool"
)

func TestWaitForALineAPauseOrACommand(t *testing.T) {
	r := newRig(t, rigOptions{host: func(c *host.Config) { c.Shell = "/bin/bash"; c.ShellIntegration = true }})
	r.ssh("alice", "", "new -d -n work")
	r.ssh("alice", "", "send --enter work 'echo soon; sleep 0.2; echo li''ne; sleep 0.3; (exit 5)'")
	if got := r.ssh("alice", "", "wait --timeout 15s --match '^line$' work"); got.status != 0 {
		t.Errorf("--match: %+v", got)
	}
	if got := r.ssh("alice", "", "wait --timeout 15s --command work"); got.status != 5 {
		t.Errorf("--command: %+v", got)
	}
	if got := r.ssh("alice", "", "wait --timeout 15s --idle 50ms work"); got.status != 0 {
		t.Errorf("--idle: %+v", got)
	}
	if got := r.ssh("alice", "", "wait --match '(' work"); got.status != 2 {
		t.Errorf("a bad expression: %+v", got)
	}
	r.ssh("alice", "", "new -d -n plain -- sleep 1000")
	if got := r.ssh("alice", "", "wait --command plain"); got.status != 1 || !strings.Contains(got.stderr, "--match or --idle") {
		t.Errorf("without detection: %+v", got)
	}
}

func TestLinesAreMatchedAcrossPieces(t *testing.T) {
	for _, c := range []struct {
		pieces []string
		expr   string
		want   bool
	}{
		{[]string{"bui", "ld do", "ne"}, "^build done$", true},
		{[]string{"a\nb"}, "^b", true},
		{[]string{"x\x1b[1mbold\x1b[m"}, "^xbold$", true},
		{[]string{"10%\r20%\r"}, "^20%$", true},
		{[]string{"a\n", "b\n"}, "ab", false},
		{[]string{strings.Repeat("x", 2*maxMatchLine), "end"}, "end$", true},
	} {
		m := &lineMatcher{expr: regexp.MustCompile(c.expr)}
		got := false
		for _, p := range c.pieces {
			got = got || m.add([]byte(p))
		}
		if got != c.want {
			t.Errorf("%.40q: %v, want %v", c.pieces, got, c.want)
		}
	}
}

// The codes of programs that run elsewhere are whatever their system makes them; ssh
// shows eight bits of the status.
func TestAFailureElsewhereIsNoSuccessHere(t *testing.T) {
	for code, want := range map[int]int{0: 0, 1: 1, 255: 255, 256: 255, 512: 255, -1: 255, 99999999999: 255, 3221225786: 255, -1073741510: 255} {
		if got := statusOf(ptypool.ExitStatus{Code: code}); got != want {
			t.Errorf("a terminal that ended with %d: %d, want %d", code, got, want)
		}
		if got := codeOf(&code); got != want {
			t.Errorf("a command that ended with %d: %d, want %d", code, got, want)
		}
	}
}
