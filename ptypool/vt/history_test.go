package vt

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestTheScrollbackIsBoundedInPrintedBytes(t *testing.T) {
	const most = 256 << 10
	for name, line := range map[string]string{
		"short":   "%d\r\n",
		"wide":    "%d 日本語のテキスト 日本語のテキスト\r\n",
		"wrapped": "%0200d\r\n",
		"coloured": "\x1b[32m%06d\x1b[0m \x1b[1;34mdrwxr-xr-x\x1b[0m 2 root root 4096 Jan  1 12:00 " +
			"\x1b[1;34mname\x1b[0m\r\n",
	} {
		v := New(80, 24, Options{ScrollbackLines: most, ScrollbackBytes: most})
		printed, lines := 0, 0
		for printed < 4*most {
			p := fmt.Appendf(nil, line, lines)
			v.Feed(p, &recorder{})
			printed += len(p)
			lines++
			if n := v.model.history.bytes; n > most {
				t.Fatalf("%s: %d bytes are kept, want at most %d", name, n, most)
			}
		}
		kept := bytes.Count(v.AppendHistoryText(nil), []byte("\n"))
		if share := float64(kept) / (float64(lines) * most / float64(printed)); share < 0.6 {
			t.Errorf("%s: %d lines of %d are kept, %.2f of what their bytes allow",
				name, kept, lines, share)
		}
		held := 0
		for _, b := range v.model.history.blocks {
			held += cap(b.buf) + 4*cap(b.ends)
		}
		if held > 3*most { // the shortest lines take as much again for their places
			t.Errorf("%s: %d bytes of memory for %d", name, held, most)
		}
	}
}

// What else a terminal without scrollback takes is in BenchmarkMemory.
func TestAnEmptyScrollbackTakesNoMemory(t *testing.T) {
	v := New(80, 24, Options{ScrollbackLines: 1 << 30, ScrollbackBytes: 1 << 30})
	v.Feed([]byte("$ "), &recorder{})
	if h := v.model.history; cap(h.blocks) > 0 || cap(h.spare.buf) > 0 || cap(h.line) > 0 {
		t.Errorf("room for %d blocks, %d bytes of a block and %d of a line", cap(h.blocks),
			cap(h.spare.buf), cap(h.line))
	}
}

// Lines with their styles have the plain text, and each begins and ends in the default style.
func TestHistoryLinesAreThoseOfTheText(t *testing.T) {
	for seed := range uint64(500) {
		g := newGenerator(seed, false)
		v := New(g.cols, g.rows, Options{ScrollbackLines: 200})
		v.Feed([]byte(g.output(200)), nil)
		want := strings.SplitAfter(string(v.AppendHistoryText(nil)), "\n")
		want = want[:len(want)-1]
		styled := strings.SplitAfter(string(v.AppendHistoryLines(nil, 0, len(want))), "\n")
		if len(styled) != len(want)+1 {
			t.Fatalf("seed %d: %d lines, want %d", seed, len(styled)-1, len(want))
		}
		for i, line := range want {
			if got := string(v.AppendHistoryLines(nil, i, i+1)); got != styled[i] {
				t.Fatalf("seed %d: line %d alone is %q, and among others %q", seed, i, got, styled[i])
			}
			var s Stripper
			got := strings.TrimRight(string(s.Append(nil, []byte(styled[i]))), " \n")
			if got != strings.TrimRight(line, " \n") {
				t.Fatalf("seed %d: line %d is %q, want %q", seed, i, styled[i], line)
			}
		}
	}
}
