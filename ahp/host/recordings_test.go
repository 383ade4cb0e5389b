package host_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termhost/ahp/history"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
	"termhost/ptypool/smalldisk"
)

// castText returns a cast for comparisons, without times. Output that follows output is joined.
func castText(c *history.Cast) string {
	var b strings.Builder
	last := history.EventKind(0)
	for _, ev := range c.Events {
		switch ev.Kind {
		case history.Output:
			if last != history.Output {
				b.WriteString("|")
			}
			b.Write(ev.Text)
		case history.Resize:
			fmt.Fprintf(&b, "|%dx%d", ev.Cols, ev.Rows)
		case history.Marker:
			fmt.Fprintf(&b, "|m %s", ev.Text)
		case history.Exit:
			fmt.Fprintf(&b, "|x %d", ev.Code)
		}
		last = ev.Kind
	}
	return strings.TrimPrefix(b.String(), "|")
}

// castOf returns what a terminal or a recording holds that p sees.
func castOf(t testing.TB, h *host.Host, p authz.Principal, ref string) (*history.Cast, error) {
	t.Helper()
	c := hosttest.Conn(t, h, p)
	defer c.Close()
	from, err := c.FindSource(ref)
	if err != nil {
		return nil, err
	}
	return c.Cast(workOf(t, h, p), from)
}

func cast(t testing.TB, h *host.Host, ref string) *history.Cast {
	t.Helper()
	c, err := castOf(t, h, carol, ref)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// recorded returns the recordings of a host, which must be n.
func recorded(t testing.TB, h *host.Host, n int) []host.RecordingInfo {
	t.Helper()
	list, err := hosttest.Conn(t, h, carol).Recordings()
	if err != nil || len(list) != n {
		t.Fatalf("recordings: %+v, %v; want %d", list, err, n)
	}
	return list
}

// screenOf returns what the end of a cast shows.
func screenOf(c *history.Cast) string {
	p := history.NewPlayer(c.Header, c.Events, 0)
	p.Seek(p.Length())
	return string(p.Screen().AppendText(nil, true))
}

const toldInShell = `stty -echo -onlcr; printf '\033]633;A\a$ \033]633;E;make all\a\033]633;C\amaking\033[6n\033]52;c;aGk=\a\r\n` +
	`\033]633;D;3\a\377'; read x; stty onlcr; printf 'more\n'; exit 7`

func TestARecordingHasWhatTheLogHas(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term, err := hosttest.Create(h, carol, host.CreateOptions{Name: "x", Cols: 100, Rows: 30, Record: true,
		Argv: sh(toldInShell)})
	if err != nil {
		t.Fatal(err)
	}
	awaitOutput(t, h, term, "making")
	if !term.Info(carol).Recording {
		t.Error("the listing does not say that it is recorded")
	}
	attach(t, h, carol, "x", host.AttachOptions{Cols: 90, Rows: 20})
	send(t, h, term, "secret\n")
	wait(t, "the exit", term.Done())
	rec := recorded(t, h, 1)[0]
	if rec.EndedAt == nil || rec.Terminal != "x" || rec.URI != term.URI() || rec.Bytes == 0 {
		t.Errorf("listed as %+v", rec)
	}
	of, want := cast(t, h, rec.Recording), cast(t, h, "x")
	if castText(of) != castText(want) {
		t.Errorf("the recording has\n%q\nthe log\n%q", castText(of), castText(want))
	}
	const begins, ends = "$ |m |making\r\n\xff|90x20|", "more\r\n|x 7"
	if got := castText(of); !strings.HasPrefix(got, begins) || !strings.HasSuffix(got, ends) {
		t.Errorf("it is %q", got)
	}
	if of.Cols != 100 || of.Rows != 30 || of.Term == "" || of.Title != "x" {
		t.Errorf("header: %+v", of.Header)
	}
	if err := hosttest.Dispose(h, carol, term); err != nil {
		t.Fatal(err)
	}
	if got := castText(cast(t, h, rec.Recording)); got != castText(of) {
		t.Errorf("after rm it is %q", got)
	}
	for name, mode := range map[string]fs.FileMode{"": 0o700, rec.Recording + ".rec": 0o600} {
		st, err := os.Stat(filepath.Join(host.StateDir(h), "recordings", name))
		if err != nil || st.Mode().Perm() != mode {
			t.Errorf("%q: %v, %v", name, st, err)
		}
	}
}

func TestRecordOnAndOff(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term := run(t, h, carol, "x", "printf before; while read x; do echo got $x; done")
	awaitOutput(t, h, term, "before")
	record := func(on bool) string {
		t.Helper()
		name, err := hosttest.Conn(t, h, carol).Record(term, on)
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	if name := record(false); name != "" {
		t.Errorf("what is not recorded has the recording %q", name)
	}
	name := record(true)
	if again := record(true); again != name || name == "" {
		t.Errorf("a recording that goes on is begun again: %q, %q", name, again)
	}
	if err := door(t, h, carol, host.DoorSSH).RemoveRecording(name); err == nil {
		t.Error("a recording that goes on can be deleted")
	}
	send(t, h, term, "1\n")
	awaitOutput(t, h, term, "got 1")
	record(false)
	send(t, h, term, "2\n")
	awaitOutput(t, h, term, "got 2")
	screen := screenOf(cast(t, h, name))
	if !strings.Contains(screen, "before") || !strings.Contains(screen, "got 1") ||
		strings.Contains(screen, "got 2") {
		t.Errorf("it shows %q", screen)
	}
	for _, p := range []authz.Principal{eve, hosttest.Principal("dora", authz.Operator)} {
		var denied *authz.Denied
		if _, err := hosttest.Conn(t, h, p).Record(term, true); !errors.As(err, &denied) {
			t.Errorf("%s may record: %v", p.Name, err)
		}
		if err := door(t, h, p, host.DoorSSH).RemoveRecording(name); !errors.As(err, &denied) {
			t.Errorf("%s may delete it: %v", p.Name, err)
		}
		if _, err := castOf(t, h, p, name); err != nil {
			t.Errorf("%s may not see it: %v", p.Name, err)
		}
	}
	guest := authz.Principal{ID: "g", Name: "g", Fingerprint: "g", Role: authz.Operator, Guest: "g"}
	if list, err := hosttest.Conn(t, h, guest).Recordings(); err != nil || len(list) != 0 {
		t.Errorf("a guest sees %v, %v", list, err)
	}
	if _, err := castOf(t, h, guest, name); err == nil || door(t, h, guest, host.DoorSSH).RemoveRecording(name) == nil {
		t.Error("a guest may see or delete what it does not see")
	}
	if err := door(t, h, carol, host.DoorSSH).RemoveRecording(name); err != nil {
		t.Error(err)
	}
	recorded(t, h, 0)
}

func TestWhatIsRecordedByItself(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		record         string
		people, agents bool
	}{{host.RecordOff, false, false}, {host.RecordAgents, false, true}, {host.RecordAll, true, true}} {
		h := hosttest.New(t, func(c *host.Config) { c.Record = test.record })
		if got := run(t, h, carol, "p", "cat").Info(carol).Recording; got != test.people {
			t.Errorf("%s: a person's terminal: %v", test.record, got)
		}
		if got := run(t, h, bot, "t", "cat").Info(carol).Recording; got != test.agents {
			t.Errorf("%s: that of a token: %v", test.record, got)
		}
		uri := connect(t, h, carol, "ide").create("a", "")
		if got := lookup(h, uri).Info(carol).Recording; got != test.agents {
			t.Errorf("%s: that of a peer of AHP: %v", test.record, got)
		}
	}
}

func TestARecordingIsWhatItWasUpToACut(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term, err := hosttest.Create(h, carol, host.CreateOptions{Name: "x", Record: true,
		Argv: sh(`for i in 1 2 3 4 5 6 7 8; do printf "line $i é\r\n"; sleep 0.05; done`)})
	if err != nil {
		t.Fatal(err)
	}
	wait(t, "the exit", term.Done())
	name := recorded(t, h, 1)[0].Recording
	whole := castText(cast(t, h, name))
	file := filepath.Join(host.StateDir(h), "recordings", name+".rec")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	hosttest.Check(t, os.Mkdir(filepath.Join(state, "recordings"), 0o700))
	cut := func(n int) string { return fmt.Sprintf("%s-%06d", name, n) } // none begins another one
	for n := range len(text) + 1 {
		writeFile(t, filepath.Join(state, "recordings", cut(n)+".live"), string(text[:n]))
	}
	var log hosttest.Log
	later := hosttest.New(t, func(c *host.Config) { c.StateDir, c.Log = state, log.Logger() })
	seen := map[string]bool{}
	for n := range len(text) + 1 {
		c, err := castOf(t, later, carol, cut(n))
		if told := strings.Contains(log.String(), cut(n)+".live: "); (err != nil) != told {
			t.Fatalf("cut at %d: %v, of which is told: %v", n, err, told)
		}
		if err != nil {
			continue
		}
		// Where the rest is lost, the next host has said so.
		got, _, _ := strings.Cut(castText(c), "\x18\x1b[m\r\n[termhost: output is missing here")
		if !strings.HasPrefix(whole, strings.TrimPrefix(got, "|")) {
			t.Fatalf("cut at %d: %q is no beginning of %q", n, got, whole)
		}
		seen[got] = true
	}
	if len(seen) < 3 || !seen[whole] { // a busy machine has several lines in one record
		t.Errorf("seen: %v", seen)
	}
}

func TestRecordingsAreBoundInSize(t *testing.T) {
	t.Parallel()
	const file, all = 256 << 10, 1 << 20
	h := hosttest.New(t, func(c *host.Config) {
		c.RecordBytes, c.RecordTotalBytes, c.Record = file, all, host.RecordAll
	})
	evidence := run(t, h, alice, "evidence", "seq 1 1000")
	wait(t, "exit", evidence.Done())
	idle := run(t, h, carol, "idle", "echo idle; exec cat")
	awaitOutput(t, h, idle, "idle")
	term := run(t, h, carol, "x", "seq 1 400000; echo the end; exec cat")
	awaitOutput(t, h, term, "the end")
	conn := hosttest.Conn(t, h, carol)
	deadline := time.Now().Add(hosttest.Patience)
	for {
		list, err := conn.Recordings()
		if err != nil {
			t.Fatal(err)
		}
		sum, kept, left := int64(0), false, false
		for _, r := range list {
			if sum += r.Bytes; r.Bytes > file {
				t.Fatalf("%s has %d bytes", r.Recording, r.Bytes)
			}
			kept = kept || r.Terminal == "idle"
			left = left || r.Terminal == "evidence"
		}
		if !left {
			t.Fatal("a recording of somebody else's went first")
		}
		if !kept {
			t.Fatal("the recording of an idle terminal was ended for one that floods")
		}
		if sum <= all {
			for _, r := range list {
				if screen := screenOf(cast(t, h, r.Recording)); !inOrder(screen) {
					t.Errorf("%s shows %q", r.Recording, screen)
				}
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("all take %d bytes", sum)
		}
		host.Tend(h)
	}
}

// inOrder reports whether the numbers on a screen follow each other. The last one may be cut.
func inOrder(screen string) bool {
	last := 0
	lines := strings.Split(strings.TrimSpace(screen), "\n")
	for _, line := range lines[:len(lines)-1] {
		n := 0
		if _, err := fmt.Sscan(line, &n); err != nil {
			continue
		}
		if last != 0 && n != last+1 {
			return false
		}
		last = n
	}
	return true
}

func TestARecordingSaysWhatAFullDiskHasCost(t *testing.T) {
	t.Parallel()
	state := smalldisk.New(t, "1m")
	h := hosttest.New(t, func(c *host.Config) { c.StateDir, c.Record, c.LogBytes = state, host.RecordAll, 256<<10 })
	term := run(t, h, carol, "x", "echo early; read x; seq 1 2000; read x; echo after; exec cat")
	awaitOutput(t, h, term, "early")
	full := smalldisk.Fill(t, state, "full", 0)
	for _, want := range []string{"2000", "after"} {
		send(t, h, term, "\n")
		awaitOutput(t, h, term, want)
		if err := os.Remove(full); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		hosttest.Eventually(t, "the recording goes on", func() bool { return !host.Tend(h) })
	}
	c := cast(t, h, recorded(t, h, 1)[0].Recording)
	if text := castText(c); !strings.Contains(text, "early") || !strings.Contains(text, "missing here") {
		t.Errorf("it is %q", text)
	}
	screen, _ := hosttest.Peek(h, carol, term, true)
	if got := strings.TrimSpace(screenOf(c)); got != strings.TrimSpace(string(screen)) {
		t.Errorf("it shows\n%q\nwant\n%q", got, screen)
	}
}
