package host_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
)

// leastSpill is the least that is worth writing to the disk, in bytes.
const leastSpill = 128 << 10

// givesBack has a terminal give back what it can.
func givesBack(t *testing.T, term *host.Terminal) {
	t.Helper()
	if !host.GiveBack(term) {
		t.Fatalf("%s has nothing to give back", term.Name())
	}
	if n := host.Memory(term); n >= leastSpill {
		t.Errorf("%s keeps %d bytes in memory", term.Name(), n)
	}
}

// seenBy returns the whole view of a terminal that a client has, and that of an attach.
func seenBy(t *testing.T, h *host.Host, term *host.Terminal) []string {
	t.Helper()
	p := connect(t, h, carol, "c-"+fmt.Sprint(h.Stats().ServerSeq))
	st := p.subscribe(term.URI())
	a, first, err := p.c.Attach(term, host.AttachOptions{Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
	l := logged(t, h, term)
	return []string{string(st.AppendJSON(nil, ahp.ShapeLifecycle)), string(first),
		l.raw, l.text, l.json, l.screen}
}

func TestWhatHasGivenItsMemoryBackIsReadAsBefore(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.NoLookout = true }) // whose findings are in the state
	const much = "seq -f 'line %07.0f of the output' 60000"
	exited := run(t, h, carol, "exited", much)
	running := run(t, h, carol, "running", much+"; echo ready; while read x; do echo got $x; done")
	wait(t, "the exit", exited.Done())
	awaitOutput(t, h, running, "ready")
	was := [][]string{seenBy(t, h, exited), seenBy(t, h, running)}
	givesBack(t, exited)
	givesBack(t, running)
	for i, term := range []*host.Terminal{exited, running} {
		for k, is := range seenBy(t, h, term) {
			if is != was[i][k] {
				t.Errorf("%s: form %d has %d bytes, or others than the %d before", term, k,
					len(is), len(was[i][k]))
			}
		}
	}
	if named, _ := filepath.Glob(filepath.Join(host.StateDir(h), "terms", ".spill-*")); len(named) > 0 {
		t.Errorf("%v are left", named)
	}

}

// A terminal that prints on after it has given memory back has what one has that never did.
func TestWhatIsPrintedAfterMemoryWasGivenBackGoesOn(t *testing.T) {
	t.Parallel()
	small := func(c *host.Config) { c.ScrollbackBytes, c.LogBytes = 256<<10, 512<<10 }
	var all []any
	for _, gives := range []bool{false, true} {
		h := hosttest.New(t, small)
		term := run(t, h, carol, "x", "stty -echo; echo ready; "+
			"while read n; do seq -f 'line %07.0f of the output' $n $((n + 4000)); echo end $n; done")
		awaitOutput(t, h, term, "ready")
		p := door(t, h, carol, host.DoorSSH)
		for n := 10000; n < 60000; n += 5000 {
			if err := p.Type(t.Context(), term, fmt.Appendf(nil, "%d\r", n)); err != nil {
				t.Fatal(err)
			}
			awaitOutput(t, h, term, fmt.Sprintf("end %d\r\n", n))
			if gives {
				givesBack(t, term)
			}
		}
		l := logged(t, h, term)
		all = append(all, l.text, l.screen, l.raw[len(l.raw)-200<<10:])
	}
	for i := range all[:3] {
		if all[i] != all[3+i] {
			t.Errorf("form %d differs", i)
		}
	}
}

func TestThoseThatNobodyWatchesGiveMemoryBackFirst(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	var terms []*host.Terminal
	for _, name := range []string{"watched", "a", "b"} {
		terms = append(terms, run(t, h, carol, name, "seq 200000"))
		wait(t, "the exit", terms[len(terms)-1].Done())
	}
	connect(t, h, carol, "watcher").subscribe(terms[0].URI())
	was, total := host.Memory(terms[0]), 0
	for _, term := range terms {
		total += host.Memory(term)
	}
	host.Relieve(h, int64(total-1))
	if n := host.Memory(terms[0]); n != was {
		t.Errorf("the one that is watched has %d bytes of %d", n, was)
	}
	if n := host.Memory(terms[1]) + host.Memory(terms[2]); n > total/2 {
		t.Errorf("the others keep %d bytes of %d", n, total)
	}
	host.Relieve(h, 1)
	if n := host.Memory(terms[0]); n >= leastSpill {
		t.Errorf("the one that is watched keeps %d bytes", n)
	}
}

// Where nothing may be written to the disk, or nothing can be, only logs are shortened.
func TestWithoutADiskTheOutputStaysInMemory(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]*host.Host{
		"not wanted":   hosttest.New(t, func(c *host.Config) { c.Persist = false }),
		"not possible": hosttest.New(t),
	} {
		term := run(t, h, carol, "x", "seq 200000")
		wait(t, "the exit", term.Done())
		was, memory := seenBy(t, h, term), host.Memory(term)
		if name == "not possible" {
			terms := filepath.Join(host.StateDir(h), "terms")
			hosttest.Check(t, os.Rename(terms, terms+" elsewhere"))
			writeFile(t, terms, "a file in its place")
		}
		host.GiveBack(term)
		if is := seenBy(t, h, term); !slices.Equal(is, was) {
			t.Errorf("%s: it has changed", name)
		}
		if n := host.Memory(term); n >= memory || n < leastSpill {
			t.Errorf("%s: it keeps %d bytes of %d", name, n, memory)
		}
	}
}

func TestSpilledOutputOfAHostThatWasKilledIsDeleted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	left := filepath.Join(dir, "terms", ".spill-1")
	if err := os.MkdirAll(filepath.Dir(left), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(left, []byte("output"), 0o600); err != nil {
		t.Fatal(err)
	}
	after(t, dir)
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is there: %v", err)
	}
}
