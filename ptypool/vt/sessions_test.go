package vt

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sessions returns the recordings of real programs by name.
func sessions(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("testdata/sessions/*.raw")
	if err != nil || len(names) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	all := make(map[string][]byte)
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(name), ".raw")] = b
	}
	return all
}

// At every moment of a recording, xterm.js shows the same when it is fed the program's output, what
// a viewer gets from the start, and a redraw.
func TestRecordedSessionsEqualXterm(t *testing.T) {
	x := startXterm(t)
	for name, in := range sessions(t) {
		r := rand.New(rand.NewPCG(5, uint64(len(in))))
		for range 12 {
			cut := 1 + r.IntN(len(in))
			v := New(80, 24, Options{ScrollbackLines: 1000})
			var rec recorder
			v.Feed(in[:cut], &rec)
			ours := xtermView(v)
			for _, c := range []struct {
				name string
				data []byte
			}{
				{"output", in[:cut]}, {"data", []byte(rec.data.String())},
				{"redraw", v.AppendRedraw(nil, Redraw{Scrollback: -1})},
			} {
				job := xtermJob{80, 24, 1000, []xtermStep{{Data: c.data}}}
				if diff := ours.diff(x.run(t, job), true); diff != "" {
					t.Fatalf("%s, %d of %d bytes, %s: %s", name, cut, len(in), c.name, diff)
				}
			}
		}
	}
}

// A recording that is fed in any chunks, redrawn at any moment and continued, ends with the same
// screen.
func TestRecordedSessionsContinueAfterARedraw(t *testing.T) {
	for name, in := range sessions(t) {
		whole := New(80, 24, Options{ScrollbackLines: 1000})
		var all recorder
		whole.Feed(in, &all)
		r := rand.New(rand.NewPCG(6, uint64(len(in))))
		for range 20 {
			cut := r.IntN(len(in))
			v := New(80, 24, Options{ScrollbackLines: 1000})
			var rec recorder
			v.Feed(in[:cut], &rec)
			if r.IntN(2) == 0 {
				v.Flush(&rec)
			}
			viewer := New(80, 24, Options{ScrollbackLines: 1000})
			redrawn(t, v, viewer, Redraw{Scrollback: -1})
			sofar := rec.data.Len()
			for p := in[cut:]; len(p) > 0; {
				n := min(len(p), 1+r.IntN(500))
				v.Feed(p[:n], &rec)
				p = p[n:]
			}
			viewer.Feed([]byte(rec.data.String()[sofar:]), nil)
			what := fmt.Sprintf("%s cut at %d", name, cut)
			if !sameState(t, v, whole, what) ||
				!sameState(t, viewer, whole, what+", attached there") {
				return
			}
		}
	}
}

// The golden files have the screens of the recordings and of some hand-written output, row by row.
// Run with -update after an intended change, and read the difference.
func TestScreensOfRecordedSessionsAreGolden(t *testing.T) {
	for name, in := range sessions(t) {
		v := New(80, 24, Options{ScrollbackLines: 1000})
		var b strings.Builder
		step := len(in)/4 + 1
		for i := 0; i < len(in); i += step {
			v.Feed(in[i:min(len(in), i+step)], nil)
			fmt.Fprintf(&b, "==== after %d bytes\n%s", min(len(in), i+step), state(v))
		}
		golden(t, filepath.Join("testdata/golden", name+".txt"), b.String())
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	a, b := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("%s:%d:\ngot  %s\nwant %s", name, i+1, a[i], b[i])
		}
	}
	t.Fatalf("%s: %d lines, want %d", name, len(a), len(b))
}
