package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"termhost/ahp/hosttest"
	"termhost/cmd/termhost/bench"
	"termhost/cmd/termhost/hostlock"
)

// adoptedBy kills the keeper of a host and returns the next one, which has its n terminals.
func adoptedBy(t *testing.T, h *bench.Host, state string, n int) (next int) {
	t.Helper()
	keepers := keepersOf(t, state)
	if len(keepers) != 1 {
		t.Fatalf("there are the keepers %v", keepers)
	}
	if err := syscall.Kill(keepers[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	hosttest.Eventually(t, "another keeper has the terminals", func() bool {
		now := keepersOf(t, state)
		if len(now) != 1 || now[0] == keepers[0] || n > 0 && adopted(t, h, now[0]) != n {
			return false
		}
		next = now[0]
		return true
	})
	return next
}

// adopted returns how many terminals a keeper has adopted, as the log of its host says: only root
// may look into a keeper.
func adopted(t *testing.T, h *bench.Host, keeper int) (n int) {
	t.Helper()
	text, err := os.ReadFile(h.Cmd.Stderr.(*os.File).Name())
	hosttest.Check(t, err)
	_, told, found := strings.Cut(string(text),
		fmt.Sprintf(`"msg":"another keeper has the terminals","pid":%d,"terminals":`, keeper))
	if found {
		_, err = fmt.Sscan(told[:strings.IndexByte(told, '}')], &n)
		hosttest.Check(t, err)
	}
	return n
}

// again kills a host and starts the next.
func again(t *testing.T, h *bench.Host, start func() *bench.Host) *bench.Host {
	t.Helper()
	_ = h.Stop(syscall.SIGKILL)
	return start()
}

// TestTheNextKeeperAdoptsTheTerminals: a keeper dies, then the host, and again, and shells go on.
func TestTheNextKeeperAdoptsTheTerminals(t *testing.T) {
	t.Parallel()
	rounds := 1
	if isSlow(t) {
		rounds = 5
	}
	for name, config := range map[string]string{
		"on disk": "", "in memory": "\nterminal.persist = false\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start, state, do := keptHost(t, config)
			h := start()
			dead := filepath.Join(t.TempDir(), "dead")
			do("new", "-d", "-n", "a", "--", "sh", "-c",
				"echo up; while read x; do echo got $x; done; exit 7")
			do("new", "-d", "-n", "b", "--", "sh", "-c",
				"echo pid=$$; until test -e "+dead+"; do sleep 0.05; done; echo bye; exit 5")
			pid := printedPid(t, do, "b")
			do("wait", "--match", "up", "a")
			for round := range rounds {
				adoptedBy(t, h, state, 2)
				adoptedBy(t, h, state, 2) // and that one dies, too
				line := fmt.Sprintf("line%d", round)
				do("send", "--enter", "a", line)
				do("wait", "--match", "got "+line, "a")
				before := do("log", "a")
				h = again(t, h, start)
				if got := do("log", "a"); got != before {
					t.Errorf("the log is %q, was %q", got, before)
				}
				do("send", "--enter", "a", "more")
				do("wait", "--match", "got more", "a")
			}
			_ = h.Stop(syscall.SIGKILL)
			if err := os.WriteFile(dead, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			hosttest.Eventually(t, "a program has ended without a host", func() bool {
				return !alive(pid)
			})
			start()
			do("send", "--key", "ctrl-d", "a")
			hosttest.Eventually(t, "the exit is seen", func() bool {
				return strings.Contains(lineOf(do("ls"), "a"), "exited")
			})
			listed := do("ls")
			for name, status := range map[string]string{"a": "exited 7", "b": "exited 5"} {
				line := lineOf(listed, name)
				unseen := strings.Contains(line, "exited -1") && strings.Contains(line, "unseen")
				if !strings.Contains(line, status) && !unseen { // which some systems do not tell
					t.Errorf("listed: %s", line)
				}
			}
			if got := do("log", "b"); !strings.HasSuffix(got, "\nbye\n") {
				t.Errorf("what was printed without a host is %q", got)
			}
		})
	}
}

// TestAnAdoptedFloodLosesNothing kills keepers and hosts in a numbered flood.
func TestAnAdoptedFloodLosesNothing(t *testing.T) {
	t.Parallel()
	start, state, do := keptHost(t, "\nterminal.log_bytes = \"32MiB\"\nterminal.scrollback_bytes = \"16MiB\"\n")
	h := start()
	do("new", "-d", "-n", "flood", "--", "sh", "-c",
		"i=0; while :; do i=$((i+1)); echo line $i; done")
	last := 0
	for range 2 {
		adoptedBy(t, h, state, 1)
		h = again(t, h, start)
		raw, err := verbOf(h, "log", "--raw", "flood").Output()
		if err != nil {
			t.Fatal(err)
		}
		now := consecutive(t, string(raw))
		if now <= last {
			t.Errorf("it ends with line %d, after line %d", now, last)
		}
		last = now
	}
}

// TestAdoptedTerminalsLeaveNoDescriptors counts those of the host and of the last keeper.
func TestAdoptedTerminalsLeaveNoDescriptors(t *testing.T) {
	t.Parallel()
	start, state, do := keptHost(t, "")
	h := start()
	host := h.Cmd.Process.Pid
	do("ls") // what is opened once is open then
	adoptedBy(t, h, state, 0)
	before := len(descriptorsOf(t, host))
	for _, name := range []string{"a", "b", "c"} {
		do("new", "-d", "-n", name, "--", "sh", "-c", "echo up; exec cat")
		do("wait", "--match", "up", name)
	}
	var keeper int
	for range 3 {
		keeper = adoptedBy(t, h, state, 3)
	}
	for _, name := range []string{"a", "b", "c"} {
		do("rm", name)
	}
	hosttest.Eventually(t, "the keeper has nothing left", func() bool {
		return !slices.ContainsFunc(descriptorsOf(t, keeper), func(file string) bool {
			return strings.HasSuffix(file, "/ptmx")
		})
	})
	hosttest.Eventually(t, "the host has nothing left", func() bool {
		return len(descriptorsOf(t, host)) <= before
	})
	if files := descriptorsOf(t, keeper); len(files) > 16 {
		t.Errorf("the keeper has %q", files)
	}
}

// TestAKeeperThatDiesWhileAHostTakesTheTerminals: those that are taken by then go on; the others
// are gone with it.
func TestAKeeperThatDiesWhileAHostTakesTheTerminals(t *testing.T) {
	t.Parallel()
	start, state, do := keptHost(t, "")
	h := start()
	const n = 8
	for i := range n {
		name := fmt.Sprintf("t%d", i)
		do("new", "-d", "-n", name, "--", "sh", "-c", "echo up; while read x; do echo got $x; done")
		do("wait", "--match", "up", name)
	}
	keeper := keepersOf(t, state)[0]
	_ = h.Stop(syscall.SIGKILL)
	killed, before := make(chan struct{}), h.Cmd.Process.Pid
	go func() {
		defer close(killed)
		for lockHolder(state) == before { // the next one is about to take them
		}
		time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond) // the moment is the point
		_ = syscall.Kill(keeper, syscall.SIGKILL)
	}()
	h = start()
	<-killed
	running := 0
	for i := range n {
		line := lineOf(do("ls"), fmt.Sprintf("t%d", i))
		if strings.Contains(line, "waits") || strings.Contains(line, "running") {
			running++
		} else if !strings.Contains(line, "exited") {
			t.Errorf("listed: %s", line)
		}
	}
	t.Logf("%d of %d go on", running, n)
	if running > 0 {
		hosttest.Eventually(t, "another keeper has them", func() bool {
			now := keepersOf(t, state)
			return len(now) == 1 && (running == 0 || adopted(t, h, now[0]) == running)
		})
		again(t, h, start)
	}
	left := do("ls", "--running")
	if got := strings.Count(left, "server"); got != running {
		t.Errorf("%d go on under the next host, want %d: %s", got, running, left)
	}
}

// lockHolder returns the process that a state folder's lock names; 0: none.
func lockHolder(state string) (pid int) {
	text, _ := os.ReadFile(filepath.Join(state, hostlock.FileName)) // there is none yet
	_, _ = fmt.Sscan(string(text), &pid)
	return pid
}
