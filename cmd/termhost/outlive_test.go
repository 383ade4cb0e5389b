package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"termhost/ahp/hosttest"
	"termhost/cmd/termhost/bench"
)

// TestAFloodLosesNothingWhenTheHostIsKilled kills hosts at random moments of a numbered flood.
func TestAFloodLosesNothingWhenTheHostIsKilled(t *testing.T) {
	t.Parallel()
	kills := 3
	if isSlow(t) {
		kills = 200
	}
	start, _, do := keptHost(t, "\nterminal.log_bytes = \"32MiB\"\nterminal.scrollback_bytes = \"16MiB\"\n")
	h := start()
	do("new", "-d", "-n", "flood", "--", "sh", "-c",
		"i=0; while :; do i=$((i+1)); echo line $i; done")
	last := 0
	for k := range kills {
		time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond) // the moment is the point
		if err := h.Cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-h.Ended
		h = start()
		if k%4 != 3 && k != kills-1 {
			continue // the log holds the lines of many kills, and reading it takes longest
		}
		// What it says about a beginning that is gone is not looked at.
		raw, err := verbOf(h, "log", "--raw", "flood").Output()
		if err != nil {
			t.Fatal(err)
		}
		now := consecutive(t, string(raw))
		if now <= last {
			t.Errorf("it ends with line %d, after line %d", now, last)
		}
		if last = now; t.Failed() {
			t.Fatalf("after one of the last kills up to %d", k+1)
		}
	}
	t.Logf("%d lines across %d kills", last, kills)
}

// verbOf returns a command with the configuration and the environment of a host.
func verbOf(h *bench.Host, args ...string) *exec.Cmd {
	cmd := exec.Command("termhost", append([]string{args[0], "-c", h.File}, args[1:]...)...)
	cmd.Env = h.Cmd.Env
	return cmd
}

// consecutive checks that every line of the flood is there once, as far as the log goes, and
// returns the number of the last one.
func consecutive(t *testing.T, log string) (last int) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(log[:strings.LastIndexByte(log, '\n')+1]))
	for first := true; lines.Scan(); first = false {
		number, ok := strings.CutPrefix(lines.Text(), "line ")
		n, err := strconv.Atoi(number)
		if first && (!ok || err != nil) {
			continue // its beginning is gone, or it is a checkpoint's redraw
		}
		if last > 0 && (err != nil || n != last+1) {
			t.Errorf("%q follows line %d", lines.Text(), last)
			return last
		}
		if err == nil {
			last = n
		}
	}
	return last
}

// TestWhatHappensWhileAHostIsKilled kills hosts while terminals are made and end: each one
// that was told of is there afterwards, once, and none is left that nobody was told of.
func TestWhatHappensWhileAHostIsKilled(t *testing.T) {
	t.Parallel()
	rounds, each := 5, 10
	if isSlow(t) {
		rounds, each = 50, 20
	}
	start, state, do := keptHost(t, "\nterminal.max_exited = 2000\n")
	h := start()
	keeper := keepersOf(t, state)[0]
	var told []string
	for round := range rounds {
		killed := make(chan struct{})
		go func() {
			defer close(killed)
			time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond) // the moment is the point
			_ = h.Cmd.Process.Kill()
			<-h.Ended
		}()
		for i := range each {
			name := fmt.Sprintf("t%d-%d", round, i)
			made := verbOf(h, "new", "-d", "-n", name, "--", "sh", "-c", "exit 3")
			out, err := made.Output()
			if strings.TrimSpace(string(out)) == name {
				told = append(told, name)
			}
			if err != nil {
				break // the host is gone, for the others, too
			}
		}
		<-killed
		h = start()
	}
	hosttest.Eventually(t, "all have ended", func() bool {
		return !strings.Contains(do("ls", "--all"), "running")
	})
	listed := do("ls", "--all")
	for _, name := range told {
		if n := strings.Count(listed, "\n"+name+" "); n != 1 {
			t.Errorf("%s is listed %d times", name, n)
		}
		if !strings.Contains(lineOf(listed, name), "exited 3") {
			t.Errorf("listed: %s", lineOf(listed, name))
		}
	}
	if left := childrenOf(t, keeper); len(left) > 0 {
		t.Errorf("the keeper has the children %v", left)
	}
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", keeper))
	if errors.Is(err, fs.ErrPermission) {
		t.Log("not counted: the keeper's descriptors, which only root may see")
	} else if err != nil || len(fds) > 20 {
		t.Errorf("the keeper has %d descriptors open, %v", len(fds), err)
	}
	folders, err := filepath.Glob(filepath.Join(state, "terms/*"))
	if err != nil || len(folders) < len(told) {
		t.Errorf("there are %d folders of %d terminals, %v", len(folders), len(told), err)
	}
	t.Logf("%d terminals across %d kills", len(told), rounds)
}

func lineOf(table, name string) string {
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, name+" ") {
			return line
		}
	}
	return ""
}

// TestASecondHostIsRefusedWhileTheFirstHangs: a host that was stopped is not taken for dead, and
// its programs wait for it.
func TestASecondHostIsRefusedWhileTheFirstHangs(t *testing.T) {
	t.Parallel()
	start, _, do := keptHost(t, "")
	h := start()
	do("new", "-d", "-n", "a", "--", "sh", "-c", "echo up; read x; echo got $x; sleep 1234")
	do("wait", "--match", "up", "a")
	if err := h.Cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	out, err := verbOf(h, "serve").CombinedOutput()
	want := fmt.Sprintf("(process %d)", h.Cmd.Process.Pid)
	if err == nil || !strings.Contains(string(out), want) {
		t.Errorf("the second one ends with %v, and says %s", err, out)
	}
	if err := h.Cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	do("send", "--enter", "a", "more")
	do("wait", "--match", "got more", "a")
}
