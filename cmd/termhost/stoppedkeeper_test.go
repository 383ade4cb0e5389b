package main

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/hosttest"
)

// inTime is how soon a verb has to fail while the keeper is stopped: five seconds, and what a busy
// machine needs; without an end of the host's patience it would be for ever.
const inTime = 30 * time.Second

// TestAStoppedKeeperIsToldAndHoldsNothingUp stops the keeper of a running host: what needs it fails
// with an error that names it, and is undone. When the keeper goes on, so does the host.
func TestAStoppedKeeperIsToldAndHoldsNothingUp(t *testing.T) {
	t.Parallel()
	start, state, do := keptHost(t, "")
	h := start()
	do("new", "-d", "-n", "a", "--", "sh", "-c", "echo up; exec cat")
	do("new", "-d", "-n", "gone", "--", "cat")
	do("new", "-d", "-n", "gone2", "--", "cat")
	agent, _ := connectTapped(t, state, "", &tapped{}, nil)
	keeper := keepersOf(t, state)[0]
	hosttest.Check(t, syscall.Kill(keeper, syscall.SIGSTOP))
	goOn := func() { hosttest.Check(t, syscall.Kill(keeper, syscall.SIGCONT)) }
	defer goOn()
	begun := time.Now()
	verbs := [][]string{
		{"new", "-d", "-n", "b", "--", "cat"}, {"new", "-d", "-n", "c", "--", "cat"},
		{"run", "--", "true"}, {"rm", "gone"},
	}
	failed := make(chan string)
	for _, args := range verbs {
		go func() { // it ends by itself
			out, err := verbOf(h, args...).CombinedOutput()
			failed <- fmt.Sprintf("%s: %v: %s", args[0], err, out)
		}()
	}
	for what, ask := range map[string]func() error{
		"createTerminal": func() error {
			return agent.CreateTerminal(t.Context(), ahp.CreateTerminalParams{Channel: ahp.TerminalURI("c2")})
		},
		"disposeTerminal": func() error {
			return agent.DisposeTerminal(t.Context(), ahp.TerminalURI("gone2"))
		},
	} {
		go func() { failed <- fmt.Sprintf("%s: %v", what, ask()) }()
	}
	for range len(verbs) + 2 {
		said := <-failed
		if !strings.Contains(said, fmt.Sprintf("(process %d) has not answered", keeper)) ||
			!strings.Contains(said, fmt.Sprintf("kill -CONT %d", keeper)) {
			t.Error(said)
		}
	}
	if took := time.Since(begun); took > inTime {
		t.Errorf("it took %v", took)
	}
	if list := do("ls"); strings.Contains(list, "\nb ") || strings.Contains(list, "\nc ") {
		t.Errorf("what was not started is listed: %s", list)
	}
	do("send", "--enter", "a", "meanwhile") // a program needs no keeper
	goOn()
	hosttest.Eventually(t, "the host goes on", func() bool {
		return verbOf(h, "new", "-d", "-n", "d", "--", "cat").Run() == nil
	})
	awaitLog(t, do, "a", "meanwhile")
	for _, name := range []string{"gone", "gone2"} {
		hosttest.Eventually(t, "the end of what was removed is told", func() bool {
			line := lineOf(do("ls"), name)
			return line == "" || strings.Contains(line, "exited")
		})
	}
	hosttest.Eventually(t, "the keeper has only what is listed", func() bool {
		return len(childrenOf(t, keeper)) == 2
	})
	do("rm", "a", "d")
}

// TestAHostEndsWithoutAStoppedKeeper: in time, whichever signal ends it, and what it had given up
// is not started when the keeper goes on.
func TestAHostEndsWithoutAStoppedKeeper(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			start, state, do := keptHost(t, "")
			h := start()
			do("new", "-d", "-n", "a", "--", "cat")
			keeper := keepersOf(t, state)[0]
			hosttest.Check(t, syscall.Kill(keeper, syscall.SIGSTOP))
			_ = verbOf(h, "new", "-d", "-n", "late", "--", "cat").Run()
			begun := time.Now()
			_ = h.Stop(sig)
			if took := time.Since(begun); took > 10*time.Second {
				t.Errorf("it has ended after %v", took)
			}
			refused, err := verbOf(h, "serve").CombinedOutput()
			if err == nil || !strings.Contains(string(refused), fmt.Sprint("kill -CONT ", keeper)) {
				t.Errorf("the next host: %v: %s", err, refused)
			}
			hosttest.Check(t, syscall.Kill(keeper, syscall.SIGCONT))
			start()
			var names []string
			for _, info := range infosOf(t, do) {
				if info.State == "running" {
					names = append(names, info.Name)
				}
			}
			want := []string{"a"}
			if sig == syscall.SIGINT {
				want = nil
			}
			if !slices.Equal(names, want) {
				t.Errorf("%q run, want %q", names, want)
			}
		})
	}
}
