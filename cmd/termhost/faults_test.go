package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"termhost/ahp/hosttest"
	"termhost/ptypool/smalldisk"
)

// TestAHostThatIsKilledWhileItStarts kills hosts at random moments of taking over what an earlier
// one has left.
func TestAHostThatIsKilledWhileItStarts(t *testing.T) {
	t.Parallel()
	rounds := 3
	if isSlow(t) {
		rounds = 100
	}
	start, state, do := keptHost(t, "")
	begun := time.Now()
	h := start()
	took := time.Since(begun)
	do("new", "-d", "-n", "runs", "--", "sh", "-c",
		"stty -echo; echo up; while read x; do echo got $x; done")
	do("wait", "--match", "up", "runs")
	do("new", "-d", "-n", "ended", "--", "sh", "-c", "exit 4")
	hosttest.Eventually(t, "the other one ends", func() bool {
		return strings.Contains(do("ls"), "exited 4")
	})
	keeper := keepersOf(t, state)
	for round := range rounds {
		_ = h.Stop(syscall.SIGKILL)
		halfway := verbOf(h, "serve")
		if err := halfway.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(took)) // the moment is the point
		_ = halfway.Process.Kill()
		_ = halfway.Wait()
		h = start()
		listed := do("ls")
		if strings.Count(listed, "\n") != 3 || !strings.Contains(lineOf(listed, "ended"), "exited 4") ||
			strings.Contains(lineOf(listed, "runs"), "exited") {
			t.Fatalf("round %d: listed: %s", round, listed)
		}
		do("send", "--enter", "runs", fmt.Sprint("round-", round))
		awaitLog(t, do, "runs", fmt.Sprintf("got round-%d\n", round))
	}
	if n := strings.Count(do("log", "runs"), "got "); n != rounds {
		t.Errorf("the log has %d lines of %d rounds", n, rounds)
	}
	if left, err := filepath.Glob(filepath.Join(state, "terms/*")); err != nil || len(left) != 2 {
		t.Errorf("there are the folders %q, %v", left, err)
	}
	if now := keepersOf(t, state); len(now) != 1 || now[0] != keeper[0] {
		t.Errorf("the keepers are %v, %v before", now, keeper)
	}
}

// awaitLog waits until the log of a terminal contains a text.
func awaitLog(t *testing.T, do verbRunner, name, text string) {
	t.Helper()
	hosttest.Eventually(t, fmt.Sprintf("the log of %s has %q", name, text), func() bool {
		return strings.Contains(do("log", name), text)
	})
}

// TestAHostThatIsKilledOnAFullDisk: neither the programs nor the next host wait for room on it.
func TestAHostThatIsKilledOnAFullDisk(t *testing.T) {
	t.Parallel()
	disk := smalldisk.New(t, "2m")
	start, _, do := keptHost(t, fmt.Sprintf("\nstate_dir = %q\n", disk))
	h := start()
	const program = "stty -echo; echo up; while read n; do seq 1 $n; echo the-end-$n; done"
	do("new", "-d", "-n", "early", "--", "sh", "-c", program)
	awaitLog(t, do, "early", "up\n")
	full := smalldisk.Fill(t, disk, "full", 0)
	do("send", "--enter", "early", "30000")
	awaitLog(t, do, "early", "the-end-30000\n")
	do("new", "-d", "-n", "late", "--", "sh", "-c", program)
	awaitLog(t, do, "late", "up\n")
	_ = h.Stop(syscall.SIGKILL)
	h = start()
	for _, name := range []string{"early", "late"} {
		do("send", "--enter", name, "7")
		awaitLog(t, do, name, "the-end-7\n")
	}
	if err := os.Remove(full); err != nil {
		t.Fatal(err)
	}
	hosttest.Eventually(t, "all is kept again", func() bool {
		kept := true
		for _, info := range infosOf(t, do) {
			kept = kept && info.NotKept == ""
		}
		return kept
	})
	for _, name := range []string{"early", "late"} {
		do("send", "--enter", name, "8")
		awaitLog(t, do, name, "the-end-8\n")
	}
	_ = h.Stop(syscall.SIGKILL)
	start()
	if log := do("log", "early"); !strings.Contains(log, "missing here: disk full") ||
		!strings.HasSuffix(log, "the-end-8\n") {
		t.Errorf("the log of the first one ends with %q", log[max(0, len(log)-500):])
	}
	if log := do("log", "late"); !strings.HasSuffix(log, "the-end-8\n") {
		t.Errorf("the log of the other one ends with %q", log[max(0, len(log)-500):])
	}
}

// listed is what these tests want of `ls --json`.
type listed struct {
	Name, State, NotKept string
	CreatedAt            time.Time
}

func infosOf(t *testing.T, do verbRunner) (all []listed) {
	t.Helper()
	if err := json.Unmarshal([]byte(do("ls", "--json")), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestAClockThatWasSetBack has a host find times that are in the future.
func TestAClockThatWasSetBack(t *testing.T) {
	t.Parallel()
	start, state, do := keptHost(t, "")
	h := start()
	do("new", "-d", "-n", "runs", "--", "sh", "-c", "stty -echo; while read x; do echo got $x; done")
	do("new", "-d", "-n", "ended", "--", "sh", "-c", "echo bye; exit 4")
	hosttest.Eventually(t, "the other one ends", func() bool {
		return strings.Contains(do("ls"), "exited 4")
	})
	_ = h.Stop(syscall.SIGKILL)
	year := time.Now().Format("2006")
	next := regexp.MustCompile(`"` + year + `(-\d\d-\d\dT)`)
	files, err := filepath.Glob(filepath.Join(state, "terms/*/meta"))
	if err != nil || len(files) != 2 {
		t.Fatalf("described are %q, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		later := next.ReplaceAll(text, []byte(`"2999$1`))
		if string(later) == string(text) {
			t.Errorf("there are no times in %s: %s", filepath.Base(file), text)
		}
		if err := os.WriteFile(file, later, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	start()
	table := do("ls")
	if strings.Count(table, "\n") != 3 || !strings.Contains(lineOf(table, "ended"), "exited 4") {
		t.Fatalf("listed: %s", table)
	}
	do("send", "--enter", "runs", "more")
	awaitLog(t, do, "runs", "got more\n")
	if got := do("log", "ended"); got != "bye\n" {
		t.Errorf("the log of the other one is %q", got)
	}
	do("new", "-d", "-n", "young", "--", "sh", "-c", "exec cat")
	do("rm", "ended", "young", "runs")
	if all := infosOf(t, do); len(all) > 0 {
		t.Errorf("rm leaves %+v", all)
	}
}

// TestNothingPilesUpAcrossRestarts makes and ends terminals under many hosts, of which every other
// one is killed.
func TestNothingPilesUpAcrossRestarts(t *testing.T) {
	t.Parallel()
	restarts, each := 2, 4
	if isSlow(t) {
		restarts, each = 50, 8
	}
	start, state, do := keptHost(t, "\nterminal.max_exited = 4\n")
	h := start()
	do("new", "-d", "-n", "stays", "--", "sleep", "1234") // so the keeper stays, too
	do("new", "-d", "-n", "first", "--", "sh", "-c", "exit 0")
	keeper := keepersOf(t, state)[0]
	quiet := func() bool {
		return len(childrenOf(t, keeper)) == 1 && strings.Count(do("ls", "--all"), "running") == 1
	}
	hosttest.Eventually(t, "the first one ends", quiet)
	// Which of a host's connections are closed already is a matter of moments.
	least := func(pid int) int {
		n := len(descriptorsOf(t, pid))
		for range 20 {
			n = min(n, len(descriptorsOf(t, pid)))
			time.Sleep(time.Millisecond)
		}
		return n
	}
	kept, hosts := least(keeper), least(h.Cmd.Process.Pid)
	for round := range restarts {
		for i := range each {
			do("new", "-d", "-n", fmt.Sprintf("t%d-%d", round, i), "--", "sh", "-c", "exit 0")
		}
		how := syscall.SIGKILL
		if round%2 > 0 {
			how = syscall.SIGTERM
		}
		_ = h.Stop(how)
		h = start()
	}
	hosttest.Eventually(t, "all have ended, and no zombie is left", quiet)
	for _, c := range []struct {
		who       string
		pid, most int
	}{{"keeper", keeper, kept}, {"host", h.Cmd.Process.Pid, hosts}} {
		hosttest.Eventually(t, fmt.Sprintf("the %s has no more than %d descriptors: %q", c.who,
			c.most, descriptorsOf(t, c.pid)), func() bool {
			return len(descriptorsOf(t, c.pid)) <= c.most
		})
	}
	hosttest.Eventually(t, "only as many folders are left as terminals may stay", func() bool {
		left, err := filepath.Glob(filepath.Join(state, "terms/*"))
		return err == nil && len(left) == 1+4
	})
}

// descriptorsOf returns what a process has open.
func descriptorsOf(t *testing.T, pid int) (open []string) {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrPermission) {
		t.Skip("only root may look into hosts and keepers")
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if to, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil { // else it was closed
			open = append(open, to)
		}
	}
	return open
}
