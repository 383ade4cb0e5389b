package sshd

import (
	"encoding/json"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
)

func TestRunExitsWithTheStatusOfTheCommand(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	for _, c := range []struct {
		command string
		status  int
	}{
		{"run -- exit 0", 0},
		{"run -- exit 3", 3},
		{"run -- kill -TERM $$", 143},
		{"run -- no-such-program-here", 127},
	} {
		if got := r.ssh("alice", "", c.command); got.status != c.status {
			t.Errorf("%s: status %d, want %d; %+v", c.command, got.status, c.status, got)
		}
	}
	if got := r.ssh("alice", "", "ls", "--json"); strings.TrimSpace(got.stdout) != "[]" {
		t.Errorf("terminals are left behind: %s", got.stdout)
	}
}

func TestRunWithoutPtyGivesLinesAsAPipeWould(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	got := r.ssh("alice", "", "run", "--", `printf 'one\ntwo\n'`)
	if got.stdout != "one\ntwo\n" || got.stderr != "" {
		t.Errorf("got %+v", got)
	}
}

func TestListAsJSON(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	if got := r.ssh("alice", "", "new -d -n build -- sleep 1000"); got.stdout != "build\n" {
		t.Fatalf("new: %+v", got)
	}
	var list []map[string]any
	if err := json.Unmarshal([]byte(r.ssh("alice", "", "ls", "--json").stdout), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 {
		t.Fatalf("got %v", list)
	}
	for key, want := range map[string]string{
		"name": "build", "state": "running", "executor": "server", "uri": "ahp-terminal:/build",
	} {
		if list[0][key] != want {
			t.Errorf("%s is %v, want %s", key, list[0][key], want)
		}
	}
	if _, has := list[0]["exitCode"]; has {
		t.Error("a running terminal has an exit code")
	}
}

func TestShellIsAttachedAndEndsWithItsStatus(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	p := r.open(r.dial("alice"), 80, 24, "")
	p.typeIn("echo $((6*7))-$TERM\r")
	p.sees("42-xterm-256color")
	p.typeIn("exit 5\r")
	if got := p.status(); got != 5 {
		t.Errorf("status %d, want 5", got)
	}
	hosttest.Eventually(t, "the terminal goes with its creator", func() bool {
		return r.host.Stats().Exited == 0
	})
}

func TestDetachLeavesTheShellRunning(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	c := r.dial("alice")
	p := r.open(c, 80, 24, "new -n work")
	p.typeIn("MARK=kept; echo ready-$MARK\r")
	p.sees("ready-kept")
	p.typeIn("\x1cd")
	p.sees("[detached: work goes on running")
	if got := p.status(); got != 0 {
		t.Errorf("status %d, want 0", got)
	}
	p = r.open(c, 80, 24, "attach work")
	p.sees("ready-kept")
	p.typeIn("echo still-$MARK\r")
	p.sees("still-kept")
}
