package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"termhost/ahp/fleet/roster"
	"termhost/ahp/hosttest"
)

// A host that does not understand a line, or a fleet, of a later termhost names both formats and
// its own version, and a way on. The line stays good.
func TestJoiningAFleetOfALaterFormatSaysWhatToDo(t *testing.T) {
	w, home := newFleet(t, "")
	box := w.host("box", "")
	refused := func(what, token string) {
		t.Helper()
		out, err := box.try("fleet", "join", "--name", "box", "tls://"+w.listen, token)
		for _, want := range []string{"termhost: error: " + what + " has format 2, of a newer termhost",
			"knows formats up to 1: update termhost on this host",
			"hint: this host has termhost " + version() + "\n"} {
			if err == nil || !strings.Contains(out, want) {
				t.Errorf("it says %q (%v), and not %q", out, err, want)
			}
		}
	}
	refused("the line to join", "2.of.later")

	folder, token := roster.In(home.state()), w.token()
	signed, err := folder.Signed()
	hosttest.Check(t, err)
	hosttest.Check(t, folder.SaveRoster([]byte(`{"format":2,"signature":{}}`)))
	refused("the fleet's roster", token)
	hosttest.Check(t, folder.SaveRoster(signed))
	box.joins(token, "tls://"+w.listen)
}

// olderCommit is the oldest one whose program has to get along with this one in a fleet. It moves
// on when what hosts say to each other gets another format.
const olderCommit = "a08b090d0d300bb894baa418a243d94c6f0e64c3"

// olderProgram returns the program that TERMHOST_OLDER names, or makes that of olderCommit. Without
// the repository's history it skips the test.
func olderProgram(t *testing.T) string {
	t.Helper()
	if program := os.Getenv("TERMHOST_OLDER"); program != "" {
		return program
	}
	root, err := filepath.Abs("../..")
	hosttest.Check(t, err)
	dir := t.TempDir()
	// The checkout may belong to another user.
	history := exec.Command("git", "-C", root, "-c", "safe.directory=*", "archive", "--output",
		filepath.Join(dir, "source.tar"), olderCommit)
	if out, err := history.CombinedOutput(); err != nil {
		t.Skipf("it needs the history of the repository, or TERMHOST_OLDER=PATH, the program of an "+
			"older version: %v: %s", err, out)
	}
	for _, args := range [][]string{{"tar", "-xf", "source.tar"},
		{"go", "build", "-buildvcs=false", "-o", "older", "./cmd/termhost"}} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v: %s", args, err, out)
		}
	}
	return filepath.Join(dir, "older")
}

// A real termhost of before is a door, or behind one.
func TestTwoVersionsAreInOneFleet(t *testing.T) {
	slow(t)
	older := olderProgram(t)
	for name, runs := range map[string]struct{ home, box string }{
		"the door is older": {older, "termhost"}, "the box is older": {"termhost", older},
	} {
		t.Run(name, func(t *testing.T) {
			w, home := newFleet(t, "")
			again := func(h *fleetHost, program string) {
				t.Helper()
				if h.serve != nil {
					_ = h.serve.Stop(syscall.SIGTERM)
				}
				h.start(program)
			}
			again(home, runs.home)
			box := w.host("box", "fleet.doors = { home = \"admin\" }")
			box.joins(w.token(), "tls://"+w.listen)
			again(box, runs.box)
			w.together()
			for _, line := range []string{"new --on box -d -n work -- " + echoes,
				"wait --match up work", "send --enter box/work hi", "wait --match '^got hi' box/work",
				"grep '^got hi'", "peek work", "log work", "who work", "ls box", "asks",
				"run --on box -- true"} {
				home.run("alice", line)
			}
			one := home.look("alice", "attach box/work")
			one.answers(box, "first")
			again(box, runs.box)
			one.answers(box, "second")
			again(home, runs.home)
			w.together()
			home.look("alice", "attach box/work").answers(box, "third")
			home.do("fleet", "remove", "box")
			hosttest.Eventually(t, "box is gone", func() bool {
				return !strings.Contains(home.run("alice", "ls"), "work")
			})
		})
	}
}
