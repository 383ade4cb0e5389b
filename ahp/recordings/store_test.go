package recordings_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/journal"
	"termhost/ahp/recordings"
	"termhost/ptypool/smalldisk"
	"termhost/ptypool/termlog"
)

// now is the time of everything in these tests.
var now = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)

// size is that of the files.
const size = 64 << 10

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, state string) *recordings.Store {
	t.Helper()
	var s recordings.Store
	must(t, s.Open(state))
	return &s
}

// about describes a recording of a terminal that somebody has had made.
func about(terminal, by string, began time.Time) recordings.About {
	return recordings.About{Terminal: terminal, URI: ahp.TerminalURI(terminal), Created: now,
		Began: began, By: by, Title: "title", Nonce: "nonce"}
}

// record makes a recording with an output, which has ended.
func record(t *testing.T, s *recordings.Store, a recordings.About, text string) *recordings.Recording {
	t.Helper()
	w, err := s.Create(a, size, 0)
	must(t, err)
	must(t, w.Write(termlog.Data, a.Began, []byte(text)))
	w.Close()
	s.End(w.Recording, a.Began)
	return w.Recording
}

func all(*recordings.About) bool { return true }

// text returns what a recording has, without the description.
func text(t *testing.T, s *recordings.Store, r *recordings.Recording) string {
	t.Helper()
	var b strings.Builder
	must(t, s.Records(r, journal.WholeLog, func(r termlog.Record) bool {
		switch r.Kind {
		case termlog.Description:
		case termlog.Data:
			b.Write(r.Payload)
		case termlog.Gap:
			b.WriteString("[" + string(r.Payload) + "]")
		default:
			fmt.Fprintf(&b, "<%d>", r.Kind)
		}
		return true
	}))
	return b.String()
}

func ids(list []*recordings.Recording) (all []string) {
	for _, r := range list {
		all = append(all, r.ID())
	}
	return all
}

func TestRecordingsAreFoundByTheirNames(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	s := open(t, state)
	later := now.Add(time.Hour)
	record(t, s, about("y", "b", later), "three")
	record(t, s, about("x", "a", now), "one")
	record(t, s, about("x", "a", now), "two")
	must(t, os.WriteFile(filepath.Join(state, "recordings", "notes.txt"), nil, 0o600))
	for range 2 { // also with the next host
		want := "[x-20260102T030405 x-20260102T030405-2 y-20260102T040405]"
		if got := fmt.Sprint(ids(s.All())); got != want {
			t.Fatalf("there are %s", got)
		}
		for name, want := range map[string]string{
			"x-20260102T030405": "one", "x-20260102T030405-": "two", "y": "three", "x": "", "": "",
			"z": "",
		} {
			r, got := s.Find(name, all), ""
			if r != nil {
				got = text(t, s, r)
			}
			if got != want {
				t.Errorf("%q finds %q, want %q", name, got, want)
			}
		}
		onlyY := func(a *recordings.About) bool { return a.TerminalID() == "y" }
		if r := s.Find("x-20260102T030405", onlyY); r != nil {
			t.Errorf("what is not seen is found: %s", r.ID())
		}
		a := s.Find("y", all).About()
		if *a != (recordings.About{Format: journal.Format, Terminal: "y", URI: a.URI, Created: now,
			Began: later, By: "b", Title: "title", Nonce: "nonce"}) || a.Seen().Name != "y" {
			t.Errorf("it is about %+v", a)
		}
		s = open(t, state)
	}
	for name, mode := range map[string]os.FileMode{"": 0o700, "x-20260102T030405.rec": 0o600} {
		st, err := os.Stat(filepath.Join(state, "recordings", name))
		if err != nil || st.Mode().Perm() != mode {
			t.Errorf("%q: %v, %v", name, st, err)
		}
	}
	r := s.Find("y", all)
	must(t, s.Remove(r))
	must(t, s.Remove(r)) // somebody else was faster
	if s.Find("y", all) != nil || len(open(t, state).All()) != 2 {
		t.Error("it is not removed")
	}
	var none recordings.Store
	must(t, none.Open(""))
	if _, err := none.Create(about("x", "a", now), size, 0); err == nil || len(none.All()) > 0 {
		t.Errorf("without a state folder: %v", err)
	}
}

func TestARecordingGoesOn(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	s := open(t, state)
	w, err := s.Create(about("x", "a", now), size, 100)
	must(t, err)
	must(t, w.Write(termlog.Data, now, []byte("one ")))
	if r := s.Find("x", all); !s.Ended(r).IsZero() || text(t, s, r) != "one " {
		t.Errorf("while it goes on it has %q", text(t, s, r))
	}
	s = open(t, state) // the next host's: the last one was killed
	r := s.Find("x", all)
	w, err = s.Reopen(r)
	must(t, err)
	if w.End() != 104 || !w.Last().IsZero() {
		t.Errorf("it goes on at %d, after %v", w.End(), w.Last())
	}
	must(t, w.Write(termlog.Resize, now.Add(time.Hour), termlog.SizePayload(80, 24)))
	if !w.Last().Equal(now.Add(time.Hour)) {
		t.Errorf("a size came last, and not at %v", w.Last())
	}
	must(t, w.Skip(6, now, "a reason"))
	must(t, w.Write(termlog.Data, now, []byte("two")))
	if w.Fits(size) || !w.Fits(size/2) {
		t.Errorf("%d bytes would fit: %v", size, w.Fits(size))
	}
	must(t, w.Write(termlog.Event, now, make([]byte, size))) // which is left out
	if w.End() != 113 {
		t.Errorf("it ends at %d", w.End())
	}
	st, err := os.Stat(filepath.Join(state, "recordings", r.ID()+".live"))
	must(t, err)
	if s.Bytes(r) != st.Size() {
		t.Errorf("it has %d bytes, and the file %d", s.Bytes(r), st.Size())
	}
	w.Close()
	s.End(r, time.Time{})
	if !s.Ended(r).Equal(st.ModTime()) || text(t, s, r) != "one <2>[a reason]two" {
		t.Errorf("it has ended at %v with %q", s.Ended(r), text(t, s, r))
	}
	s.End(r, now)
	if s.Ended(r).Equal(now) {
		t.Error("it has ended twice")
	}
}

func TestTheEndOfARecordingIsTheSameForTheNextHost(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	s := open(t, state)
	at := now.Add(time.Hour) // an hour after the last write
	w, err := s.Create(about("x", "a", now), size, 0)
	must(t, err)
	w.Close()
	s.End(w.Recording, at)
	next := open(t, state)
	if got := next.Ended(next.Find("x", all)); !got.Equal(at) || !s.Ended(w.Recording).Equal(at) {
		t.Errorf("it has ended at %v, then at %v; want %v", s.Ended(w.Recording), got, at)
	}
}

// TestARecordingThatIsCutIsWhatItWasUpToThere: a file may be cut anywhere when a host is killed.
func TestARecordingThatIsCutIsWhatItWasUpToThere(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	s := open(t, state)
	w, err := s.Create(about("x", "a", now), size, 0)
	must(t, err)
	must(t, w.Write(termlog.Resize, now, termlog.SizePayload(80, 24)))
	for _, p := range []string{"one ", "two ", "three"} {
		must(t, w.Write(termlog.Data, now, []byte(p)))
	}
	w.Close()
	s.End(w.Recording, now)
	whole := text(t, s, w.Recording)
	file := filepath.Join(state, "recordings", w.ID()+".rec")
	content, err := os.ReadFile(file)
	must(t, err)
	cut := 0
	for n := range len(content) + 1 {
		for _, suffix := range []string{".rec", ".live"} {
			os.Remove(file)
			file = filepath.Join(state, "recordings", w.ID()+suffix)
			must(t, os.WriteFile(file, content[:n], 0o600))
			var s recordings.Store
			err := s.Open(state)
			r := s.Find("x", all)
			if (err != nil) == (r != nil) {
				t.Fatalf("cut at %d: %v, %v", n, r, err)
			}
			if r == nil {
				continue
			}
			left, gap := strings.CutSuffix(text(t, &s, r), "["+termlog.Damaged+"]")
			if !strings.HasPrefix(whole, left) || gap && suffix == ".live" {
				t.Errorf("%s cut at %d has %q", suffix, n, text(t, &s, r))
			}
			if gap {
				cut++
			}
		}
	}
	if cut < len(content)/4 {
		t.Errorf("of %d cuts only %d are told of", len(content), cut)
	}
}

func TestTheOldestOfWhoeverHasMostGoesFirst(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	much := strings.Repeat("x", 10_000)
	at := func(n int) time.Time { return now.Add(time.Duration(n) * time.Hour) }
	record(t, s, about("little", "a", at(0)), "x")
	record(t, s, about("first", "b", at(1)), much)
	record(t, s, about("page", "b/page", at(2)), much)
	record(t, s, about("second", "b", at(3)), much)
	live, err := s.Create(about("live", "b", at(-1)), size, 0)
	must(t, err)
	must(t, live.Write(termlog.Data, at(-1), []byte(much)))
	defer live.Close()
	excess := func(most int64) (went []string) {
		for r := range s.Excess(most) {
			terminal, _, _ := strings.Cut(r.ID(), "-")
			went = append(went, terminal)
			if s.Ended(r).IsZero() {
				continue // passed over
			}
			must(t, s.Remove(r))
		}
		return went
	}
	if went := excess(0); len(went) > 0 || s.Exceeds(0) {
		t.Errorf("without a bound %q go", went)
	}
	if went := excess(50_000); len(went) > 0 || s.Exceeds(50_000) || !s.Exceeds(40_000) {
		t.Errorf("%q go, though there is room", went)
	}
	if went := fmt.Sprint(excess(25_000)); went != "[first page]" {
		t.Errorf("%s go", went)
	}
	if went := fmt.Sprint(excess(1)); !strings.HasSuffix(went, "live little]") || s.Exceeds(15_000) {
		t.Errorf("in the end %s go", went)
	}
}

func TestAFullDiskLeavesNoRecording(t *testing.T) {
	t.Parallel()
	state := smalldisk.New(t, "64k")
	s := open(t, state)
	must(t, os.Mkdir(filepath.Join(state, "recordings"), 0o700))
	smalldisk.Fill(t, state, "full", 0)
	if w, err := s.Create(about("x", "a", now), size, 0); err == nil {
		t.Errorf("%s is made", w.ID())
	}
	entries, err := os.ReadDir(filepath.Join(state, "recordings"))
	if err != nil || len(entries) > 0 || len(s.All()) > 0 {
		t.Errorf("left are %v, %v", entries, err)
	}
}

func TestWhatAnOlderVersionHasRecordedIsRead(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	must(t, os.CopyFS(state, os.DirFS("testdata/older")))
	s := open(t, state)
	if got := fmt.Sprint(ids(s.All())); got != "[x-20261123T063533 done-20261123T063533]" {
		t.Fatalf("there are %s", got)
	}
	done, x := s.Find("done", all), s.Find("x", all)
	if s.Ended(done).IsZero() || !s.Ended(x).IsZero() {
		t.Error("what goes on has ended, or the other way round")
	}
	if a := x.About(); a.By != "SHA256:carol" || a.Term != "xterm-256color" || a.TerminalID() != "x" {
		t.Errorf("x is about %+v", a)
	}
	if got := text(t, s, done); !strings.Contains(got, "done\r\n") || strings.Contains(got, "[") {
		t.Errorf("done has %q", got)
	}
	if got := text(t, s, x); !strings.Contains(got, "making") {
		t.Errorf("x has %q", got)
	}
}
