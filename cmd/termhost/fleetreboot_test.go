package main

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/hosttest"
)

// A machine that restarts takes its terminals with it. Nobody says so before it is back: until then
// it may as well be the network.
func TestAMachineOfAFleetRestarts(t *testing.T) {
	slow(t)
	t.Parallel()
	w, home := newFleet(t, "")
	box := w.join("box", w.listen, "")
	w.together()
	home.run("alice", "new --on box -d -n work -- "+echoes)
	home.run("alice", "ls")
	viewer := home.look("alice", "attach box/work")
	viewer.answers(box, "first")
	waits := home.look("alice", "wait box/work")
	hosttest.Eventually(t, "both have begun", func() bool {
		return strings.Count(box.do("who", "work"), "\n") == 3 // a head, and the two
	})

	keepers := keepersOf(t, box.state())
	if len(keepers) != 1 {
		t.Fatalf("there are the keepers %v", keepers)
	}
	_ = box.serve.Stop(syscall.SIGKILL)
	hosttest.Check(t, syscall.Kill(keepers[0], syscall.SIGKILL))
	hosttest.Eventually(t, "the keeper has ended", func() bool {
		return len(keepersOf(t, box.state())) == 0
	})
	state := func() string {
		t.Helper()
		for line := range strings.Lines(home.run("alice", "ls")) {
			if f := strings.Fields(line); len(f) > 3 && f[0] == "box" && f[1] == "work" {
				return f[2] + " " + f[3]
			}
		}
		return "nothing"
	}
	if now := state(); !strings.HasPrefix(now, "unreachable ") {
		t.Errorf("at once it is listed as %s", now)
	}
	viewer.sees("box is unreachable since")
	if now := state(); !strings.HasPrefix(now, "unreachable ") {
		t.Errorf("while it is away it is listed as %s", now)
	}
	if shown := viewer.shows() + waits.shows(); strings.Contains(shown, "exited") {
		t.Errorf("somebody is told that it has exited: %s", shown)
	}

	box.start()
	for _, o := range []*onlooker{viewer, waits} {
		o.ended()
		var end *gossh.ExitError
		if !errors.As(o.end, &end) || end.ExitStatus() != 255 {
			t.Errorf("it ends with %v: %s", o.end, o.shows())
		}
	}
	for o, want := range map[*onlooker]string{viewer: "[box/work was ended ",
		waits: "unless its machine has stopped: `ssh HOST wait box/work`]"} {
		if shown := strings.ReplaceAll(o.shows(), "\n", ""); !strings.Contains(shown, want) {
			t.Errorf("%q is not on the screen, which shows\n%s", want, o.shows())
		}
	}
	hosttest.Eventually(t, "it is listed with its end", func() bool { return state() == "exited -1" })
}
