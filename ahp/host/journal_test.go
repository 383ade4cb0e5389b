package host_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ptypool/smalldisk"
)

// folderOf returns the folder of the only terminal in a state folder.
func folderOf(t testing.TB, state string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(state, "terms", "*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	return found[0]
}

func TestAFileCutAnywhereKeepsNoHostFromStarting(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	awaitOutput(t, h, run(t, h, carol, "x", "echo one; echo two; exec cat"), "two")
	dir := killed(t, h)
	folder := folderOf(t, dir)
	text, err := os.ReadFile(filepath.Join(folder, "meta"))
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(folder, "log.0"))
	if err != nil {
		t.Fatal(err)
	}
	cut := func(name string, meta, log []byte) {
		to := filepath.Join(dir, "terms", name)
		if err := os.Mkdir(to, 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(to, "meta"), string(meta))
		writeFile(t, filepath.Join(to, "log.0"), string(log))
	}
	for n := range bytes.TrimRight(text, "\n") {
		cut(fmt.Sprintf("meta-%d", n), text[:n], log)
	}
	for n := range log {
		name := []byte(fmt.Sprintf("x-%d", n))
		m := bytes.ReplaceAll(text, []byte(`terminal:/x"`), append([]byte("terminal:/"), append(name, '"')...))
		m = bytes.Replace(m, []byte(`"name":"x"`), []byte(`"name":"`+string(name)+`"`), 1)
		cut(string(name), m, log[:n])
	}
	later := after(t, dir, func(c *host.Config) { c.MaxExited = 10_000 })
	list, err := hosttest.List(later, carol)
	if err != nil || len(list) != 1+len(log) {
		t.Fatalf("%d terminals, want %d: %v", len(list), 1+len(log), err)
	}
	whole := logged(t, later, find(t, later, "x")).raw
	damaged := 0
	for n := range log {
		term := find(t, later, fmt.Sprintf("x-%d", n))
		raw := logged(t, later, term).raw
		left, _, gap := strings.Cut(raw, "\x1b[m\x1b[r")
		if !strings.HasPrefix(whole, strings.TrimSuffix(left, "\x18")) {
			t.Errorf("cut at %d the log is %q", n, raw)
		}
		if info := term.Info(carol); gap != info.LogDamaged || info.State != host.StateExited {
			t.Errorf("cut at %d it is listed as %s, and the log is %q", n, info.State, raw)
		}
		if gap {
			damaged++
		}
	}
	if damaged < len(log)/5 { // but for cuts between records, or within a record without output
		t.Errorf("of %d logs that were cut only %d are told of", len(log), damaged)
	}
	aside, err := filepath.Glob(filepath.Join(dir, "terms", "meta-*.damaged"))
	if err != nil || len(aside) != len(text)-1 {
		t.Errorf("%d folders were set aside, want %d: %v", len(aside), len(text)-1, err)
	}
}

func TestDamageInALogIsTold(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.LogBytes = 256 << 10 })
	term := run(t, h, carol, "x", "seq 1 25000; exec cat")
	awaitOutput(t, h, term, "25000")
	dir := killed(t, h)
	file := filepath.Join(folderOf(t, dir), "log.0")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	copy(text[len(text)/2:], "damage")
	writeFile(t, file, string(text))
	later := after(t, dir)
	is := logged(t, later, find(t, later, "x"))
	if !strings.Contains(is.raw, "the log is damaged]") || !strings.HasSuffix(is.raw, "25000\r\n") {
		t.Errorf("shows %q", is.raw)
	}
	if was := logged(t, h, term); is.screen != was.screen {
		t.Errorf("the screen is\n%q\nwant\n%q", is.screen, was.screen)
	}
}

func TestAFullDiskHoldsNothingUp(t *testing.T) {
	t.Parallel()
	state := smalldisk.New(t, "512k")
	h := hosttest.New(t, func(c *host.Config) { c.StateDir, c.LogBytes = state, 1<<20 })
	early := run(t, h, carol, "early", "read x; seq 1 200000; "+
		"while read x && [ \"$x\" != on ]; do seq 1 1000; done; echo after; exec cat")
	var full []string
	fill := func() {
		full = append(full, smalldisk.Fill(t, state, fmt.Sprint("full", len(full)), 0))
	}
	fill()
	late := run(t, h, carol, "late", "echo late; exec cat")
	awaitOutput(t, h, late, "late")
	send(t, h, early, "\n")
	awaitOutput(t, h, early, "200000")
	for _, term := range []*host.Terminal{early, late} {
		hosttest.Eventually(t, term.Name()+" is not kept", func() bool {
			if term.Info(carol).NotKept == "disk full" {
				return true
			}
			fill() // the host may have deleted what it needs no more, and have found room
			send(t, h, term, "\n")
			return false
		})
	}
	for _, file := range full {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	hosttest.Eventually(t, "the journals are resumed", func() bool {
		return !host.Tend(h) && early.Info(carol).NotKept+late.Info(carol).NotKept == ""
	})
	send(t, h, early, "on\n")
	awaitOutput(t, h, early, "after")

	wanted := logged(t, h, early)
	later := after(t, killed(t, h), func(c *host.Config) { c.LogBytes = 1 << 20 })
	is := logged(t, later, find(t, later, "early"))
	for _, log := range []string{is.raw, is.text} {
		if !strings.Contains(log, "bytes are missing here: disk full]") {
			t.Errorf("no gap is told of: %q", log)
		}
	}
	if is.screen != wanted.screen {
		t.Errorf("the screen is\n%q\nwant\n%q", is.screen, wanted.screen)
	}
	if raw := logged(t, later, find(t, later, "late")).raw; !strings.Contains(raw, "missing here") {
		t.Errorf("of a terminal that was made on a full disk there is %q", raw)
	}
}

func TestAClockThatIsSetBackKeepsTerminals(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := hosttest.New(t, func(c *host.Config) { c.Now, c.ExitedTTL = clock.Now, time.Hour })
	wait(t, "the exit", run(t, h, carol, "x", "exit 4").Done())
	run(t, h, carol, "y", "exec cat")
	dir := killed(t, h)
	clock.advance(-365 * 24 * time.Hour)
	later := after(t, dir, func(c *host.Config) { c.Now, c.ExitedTTL = clock.Now, time.Hour })
	if list, err := hosttest.List(later, carol); err != nil || len(list) != 2 {
		t.Fatalf("listed: %v, %v", list, err)
	}
	x := find(t, later, "x")
	if at := x.ExitedAt(); at.After(clock.Now()) {
		t.Errorf("it exited in the future, at %v", at)
	}
	clock.advance(2 * time.Hour)
	host.Tend(later)
	wait(t, "its going", x.Gone())
}

func TestAFolderThatCannotBeWrittenHoldsNothingUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "terms"), "a file in its place")
	h := after(t, dir)
	term := run(t, h, carol, "x", "echo hello; exec cat")
	awaitOutput(t, h, term, "hello")
	if got := term.Info(carol).NotKept; got != "the disk cannot be written" {
		t.Errorf("not kept because of %q", got)
	}
}

func TestWithoutPersistenceNoOutputReachesTheDisk(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.Persist = false })
	term := run(t, h, carol, "x", "echo hello; exec cat")
	awaitOutput(t, h, term, "hello")
	dir := killed(t, h)
	if logs, _ := filepath.Glob(filepath.Join(dir, "terms", "*", "log.*")); len(logs) > 0 {
		t.Errorf("there are %v", logs)
	}
	if got := term.Info(carol).NotKept; got != "" {
		t.Errorf("not kept because of %q", got)
	}
	later := after(t, dir)
	if raw := logged(t, later, find(t, later, "x")).raw; raw != "" {
		t.Errorf("shows %q", raw)
	}
}
