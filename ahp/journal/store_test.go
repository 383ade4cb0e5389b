package journal_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"termhost/ahp/journal"
	"termhost/ptypool/smalldisk"
	"termhost/ptypool/termlog"
)

// names returns the names of what is in a folder.
func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestSparesHaveLogsOfTheRequestedSize(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	dir := filepath.Join(state, "spare")
	must(t, os.MkdirAll(filepath.Join(dir, "of a host that was killed"), 0o700))
	var s journal.Spares
	must(t, s.Open(state))
	s.Fill(termlog.MinSize)
	old := names(t, dir)
	s.Fill(4 * termlog.MinSize)
	made := names(t, dir)
	if len(old) != 4 || len(made) != 4 || slices.Contains(old, made[0]) {
		t.Fatalf("there are %q, and then %q", old, made)
	}
	terms := folders(t, state)
	for size, left := range map[int64]int{termlog.MinSize: 4, 4 * termlog.MinSize: 3} {
		var j journal.Journal
		to := terms.New()
		must(t, j.Begin(to, journal.Place{Size: size}, &s, describe("x")))
		must(t, j.Output([]byte("hello"), now))
		if got := printed(t, logOf(restored(t, to).Log)); got != "hello" {
			t.Errorf("the log of %d bytes has %q", size, got)
		}
		if left == 3 {
			if got := len(names(t, dir)); got != left {
				t.Errorf("%d are left, want %d", got, left)
			}
		}
	}
	s.Remove()
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("they are left: %v", err)
	}
	s.Fill(termlog.MinSize)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("others are made: %v", err)
	}
}

// notesIn returns the lines that the next host reads.
func notesIn(t *testing.T, state string) (all []string, err error) {
	t.Helper()
	err = journal.ReadNotes(state, func(n journal.Note) { all = append(all, asJSON(t, n)) })
	return all, err
}

func TestNotesAreReadInOrder(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	if all, err := notesIn(t, state); err != nil || len(all) > 0 {
		t.Errorf("in an empty folder: %q, %v", all, err)
	}
	var ns journal.Notes
	must(t, ns.Add(journal.Note{Asks: 1})) // which is kept nowhere yet
	client := journal.Note{Client: &journal.Client{ID: "c", Principal: "k", Version: "0.5.0"}}
	must(t, ns.Rewrite(state, func(add func(journal.Note)) { add(client) }))
	var adding sync.WaitGroup
	for range 10 {
		adding.Go(func() {
			if err := ns.Add(journal.Note{Guarded: &journal.Guarded{Name: "x", On: true}}); err != nil {
				t.Error(err)
			}
		})
	}
	adding.Wait()
	must(t, ns.Add(journal.Note{Asks: 2}))
	all, err := notesIn(t, state)
	if err != nil || len(all) != 12 || all[0] != asJSON(t, client) || all[11] != `{"asks":2}` {
		t.Errorf("noted are %q, %v", all, err)
	}
	for range 3000 {
		must(t, ns.Add(journal.Note{Spent: &journal.Spent{Base: strings.Repeat("b", 400), N: 1}}))
	}
	if !ns.Long() {
		t.Error("more than a megabyte is not long")
	}
	must(t, ns.Rewrite(state, func(add func(journal.Note)) { add(client) }))
	if all, err := notesIn(t, state); err != nil || len(all) != 1 || ns.Long() {
		t.Errorf("noted anew are %q, %v", all, err)
	}
	ns.Close()
	must(t, ns.Add(journal.Note{Asks: 3}))
}

func TestDamagedNotesAreMovedAside(t *testing.T) {
	t.Parallel()
	for text, damaged := range map[string]bool{
		"{\"asks\":1}\n{\"asks\":2":                   false, // a host was killed
		"{\"asks\":1}\nrubbish\n":                     true,
		"{\"asks\":1}\n\x00\x00":                      true,
		"{\"lines\":2}\n{\"asks\":1}\n":               false,
		"{\"lines\":2}\n{\"asks\":1}\n{\"asks\":2}\n": false, // another one was added
		"{\"lines\":3}\n{\"asks\":1}\n":               true,
		"{\"lines\":3}\n{\"asks\":1}\n{\"ask":         true,
		"{\"lines\":2}\n{\"asks\":1}\n{\"ask":         true,
	} {
		state := t.TempDir()
		file := filepath.Join(state, "host.journal")
		must(t, os.WriteFile(file, []byte(text), 0o600))
		all, err := notesIn(t, state)
		want := 1 + strings.Count(text, `{"asks":2}`)
		if len(all) != want || (err != nil) != damaged {
			t.Errorf("%q: %q, %v", text, all, err)
		}
		if _, aside := os.Stat(file + ".damaged"); (aside == nil) != damaged {
			t.Errorf("%q: aside: %v", text, aside)
		}
	}
}

// TestNotesThatAreCutAnywhereInWhatWasRewrittenAreTold: also when the file is empty, or ends with a
// line.
func TestNotesThatAreCutAnywhereInWhatWasRewrittenAreTold(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	var ns journal.Notes
	must(t, ns.Rewrite(state, func(add func(journal.Note)) {
		add(journal.Note{Guarded: &journal.Guarded{Name: "a", On: true}})
		add(journal.Note{Asks: 7})
	}))
	ns.Close()
	whole, err := os.ReadFile(filepath.Join(state, "host.journal"))
	must(t, err)
	for n := range whole {
		state := t.TempDir()
		must(t, os.WriteFile(filepath.Join(state, "host.journal"), whole[:n], 0o600))
		_, err := notesIn(t, state)
		if onlyLineEnd := n == len(whole)-1; (err == nil) != onlyLineEnd {
			t.Errorf("cut to %q: %v", whole[:n], err)
		}
	}
}

func TestAnErrorOfWritingNotesIsReturnedOnce(t *testing.T) {
	t.Parallel()
	state := smalldisk.New(t, "64k")
	var ns journal.Notes
	must(t, ns.Rewrite(state, func(func(journal.Note)) {}))
	smalldisk.Fill(t, state, "full", 0)
	failed := 0
	for range 100 {
		if ns.Add(journal.Note{Spent: &journal.Spent{Base: strings.Repeat("b", 4000)}}) != nil {
			failed++
		}
	}
	if failed != 1 {
		t.Errorf("it has failed %d times", failed)
	}
}

func TestTheHighWaterMarkStaysAheadOfTheServerSeq(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mark := func() uint64 {
		text, err := os.ReadFile(filepath.Join(dir, "serverseq"))
		must(t, err)
		n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
		must(t, err)
		return n
	}
	hw := journal.HighWater{Dir: dir}
	first, err := hw.Begin(time.Unix(1_700_000_000, 0))
	must(t, err)
	const ahead = 1 << 31 // at least, after each step
	last := first
	for seq := first; seq < first+20*ahead; seq += ahead / 3 {
		must(t, hw.Extend(seq))
		if last = seq; mark() < seq+ahead {
			t.Fatalf("the high-water mark %d is too near to %d", mark(), seq)
		}
	}
	// The clock was set back, and the host was killed.
	next := journal.HighWater{Dir: dir}
	if seq, err := next.Begin(time.Unix(1, 0)); err != nil || seq < last {
		t.Errorf("the next host begins at %d, below %d: %v", seq, last, err)
	}
	must(t, next.End(last))
	if mark() != last {
		t.Errorf("it ends at %d, and the mark is %d", last, mark())
	}
}
