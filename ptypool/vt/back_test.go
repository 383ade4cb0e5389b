package vt

import (
	"fmt"
	"strings"
	"testing"
)

// drawOver returns what draws a notice over some rows of a terminal in any state, with all that it
// may change.
func drawOver(cols int, rows ...int) []byte {
	out := []byte("\x18\x1b[?2026l\x1b]8;;\x1b\\\x1b[?6l\x0f\x1b(B")
	for _, y := range rows {
		out = fmt.Appendf(out, "\x1b[%d;1H \r\x1b[0;7m\x1b[2K%.*s", y+1, cols-1, "~~~~~~")
	}
	return append(out, "\x1b[m\x1b[2;3H"...)
}

// What was drawn once over a viewer's terminal that follows the program's output is taken away
// without a trace: the output goes on as if it had never been there.
func TestWhatWasDrawnOverIsTakenBackExactly(t *testing.T) {
	for seed := range uint64(3000) {
		g := newGenerator(seed, false)
		v := New(g.cols, g.rows, Options{ScrollbackLines: 50})
		viewer := New(g.cols, g.rows, Options{ScrollbackLines: 50})
		feed := func(in string) {
			var rec recorder
			v.Feed([]byte(in), &rec)
			viewer.Feed([]byte(rec.data.String()), nil)
		}
		for round := range 4 {
			in := "\x1b[m" + g.output(1+g.IntN(60)) // REP and clusters do not reach back over it
			feed(in)
			rows := make([]int, 1+g.IntN(2))
			for i := range rows {
				rows[i] = g.IntN(g.rows)
			}
			back, ok := v.AppendBack(nil, rows)
			if !ok {
				continue
			}
			before := viewer.Scrolled()
			viewer.Feed(drawOver(g.cols, rows...), nil)
			if g.cols > 1 && !strings.Contains(string(viewer.AppendText(nil, false)), "~") {
				t.Fatalf("seed %d: there is no notice", seed)
			}
			viewer.Feed(back, nil)
			what := fmt.Sprintf("seed %d round %d rows %v, after %q, back %q", seed, round, rows, in, back)
			if !sameState(t, viewer, v, what) {
				return
			}
			if n := viewer.Scrolled() - before; n > 0 {
				t.Fatalf("%s: %d lines scrolled", what, n)
			}
			if a, b := unwrapped(viewer), unwrapped(v); a != b {
				t.Fatalf("%s: the scrollback is %q, want %q", what, a, b)
			}
		}
	}
}

// What is drawn back is what was drawn over, and the rest of its lines.
func TestTakingBackDrawsFewRows(t *testing.T) {
	v := New(40, 10, Options{})
	for i := range 10 {
		v.Feed(fmt.Appendf(nil, "\x1b[%d;1Hrow %d.", i+1, i), nil)
	}
	v.Feed([]byte("\x1b[4;1Hlong "+strings.Repeat("abcd", 15)), nil) // rows 3 and 4
	for _, c := range []struct {
		rows []int
		want string
	}{
		{[]int{9}, "9"}, {[]int{0, 8, 9}, "089"}, {[]int{4}, ""}, {[]int{5}, "5"},
	} {
		back, _ := v.AppendBack(nil, c.rows)
		got := ""
		for i := range 10 {
			if strings.Contains(string(back), fmt.Sprintf("row %d.", i)) {
				got += fmt.Sprint(i)
			}
		}
		if long := strings.Contains(string(back), "long"); got != c.want || long != (c.want == "") {
			t.Errorf("for %v it draws %q", c.rows, back)
		}
		if s := string(back); strings.Contains(s, "\x1b7") || strings.Contains(s, "?1049") ||
			strings.Contains(s, "?1000") || strings.Contains(s, "\x1b]2;") {
			t.Errorf("it touches what no notice does: %q", back)
		}
	}
}

// A notice over a terminal that has got the half of a sequence does not end it, and waits for the
// end of a character.
func TestASequenceGoesOnAfterWhatWasDrawnOver(t *testing.T) {
	for _, c := range []struct {
		half, rest string
		ok         bool
	}{
		{"a\x1b[3", "1mxyz", true}, {"a\x1b", "[1mx", true}, {"a\x1b[6", "nx", true},
		{"a\x1b]0;", "t\ax", true}, {"a\x1b", "]0;t\ax", true},
		{"a\xe6\xbc", "\xa2x", false}, {"a\xe6\xbc", "x", false},
	} {
		v, viewer := newTest(), newTest()
		var rec recorder
		v.Feed([]byte(c.half), &rec)
		v.Flush(&rec)
		viewer.Feed([]byte(rec.data.String()), nil)
		back, ok := v.AppendBack(nil, []int{1})
		if ok != c.ok {
			t.Errorf("%q: it can be taken away: %v", c.half, ok)
		}
		if ok {
			viewer.Feed(append(drawOver(20, 1), back...), nil)
		}
		rec = recorder{}
		v.Feed([]byte(c.rest), &rec)
		viewer.Feed([]byte(rec.data.String()), nil)
		sameState(t, viewer, v, fmt.Sprintf("%q", c.half+c.rest))
	}
}

// A program that draws a frame goes on with it.
func TestAFrameGoesOnAfterWhatWasDrawnOver(t *testing.T) {
	v := newTest()
	v.Feed([]byte("\x1b[?2026hhalf"), nil)
	if back, _ := v.AppendBack(nil, []int{1}); strings.HasSuffix(string(back), "\x1b[?2026l") {
		t.Errorf("%q ends the program's frame", back)
	}
	v.Feed([]byte("\x1b[?2026l"), nil)
	if back, _ := v.AppendBack(nil, []int{1}); !strings.HasSuffix(string(back), "\x1b[?2026l") {
		t.Errorf("%q does not end its own frame", back)
	}
}
