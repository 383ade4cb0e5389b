package vt

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// redrawn feeds v's redraw into another terminal, which may have been used already.
func redrawn(t *testing.T, v, into *Screen, r Redraw) *recorder {
	t.Helper()
	var rec recorder
	into.Feed(v.AppendRedraw(nil, r), &rec)
	if e := rec.first("reply", "clipboard"); e != "" {
		t.Errorf("the redraw makes a terminal answer: %s", e)
	}
	return &rec
}

// The redraw brings a fresh terminal into the same state, and also one that was left in any other
// state.
func TestRedrawIsExact(t *testing.T) {
	for seed := range uint64(3000) {
		g := newGenerator(seed, false)
		v := New(g.cols, g.rows, Options{ScrollbackLines: 50})
		in := g.output(5 + g.IntN(120))
		v.Feed([]byte(in), nil)

		fresh := New(g.cols, g.rows, Options{ScrollbackLines: 50})
		redrawn(t, v, fresh, Redraw{Scrollback: -1})
		ok := sameState(t, fresh, v, fmt.Sprintf("seed %d, fresh, after %q", seed, in))
		if a, b := historyText(fresh), historyText(v); ok && a != b {
			ok = false
			x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
			for i := range min(len(x), len(y)) {
				if x[i] != y[i] {
					t.Errorf("seed %d after %q: scrollback line %d\n%q\nwant\n%q",
						seed, in, i, x[i:], y[i:])
					break
				}
			}
			t.Errorf("%d lines of scrollback, want %d", len(x), len(y))
		}

		used := New(g.cols, g.rows, Options{ScrollbackLines: 50})
		other := g.output(60)
		used.Feed([]byte(other), nil)
		used.model.modes.set(modeBackarrow|modeAltScroll, false) // as AppendRestore does
		used.model.modes.modifyOther, used.model.main.kitty, used.model.alt.kitty = 0, nil, nil
		used.titles.current = v.titles.current
		redrawn(t, v, used, Redraw{})
		used.colors, fresh.colors = v.colors, v.colors // touched only by v's own programs
		what := fmt.Sprintf("seed %d, after %q used by %q", seed, in, other)
		if !ok || !sameState(t, used, v, what) {
			return
		}
	}
}

// What a program prints after an attach has the same effect on both sides.
func TestLiveOutputContinuesARedraw(t *testing.T) {
	for seed := range uint64(1500) {
		g := newGenerator(seed, false)
		v := New(g.cols, g.rows, Options{})
		in := g.output(60)
		v.Feed([]byte(in), nil)
		fresh := New(g.cols, g.rows, Options{})
		redrawn(t, v, fresh, Redraw{})
		var rec recorder
		more := "\x1b[m" + g.output(20) // REP and clusters do not reach back over the redraw
		v.Feed([]byte(more), &rec)
		fresh.Feed([]byte(rec.data.String()), nil)
		if !sameState(t, fresh, v, fmt.Sprintf("seed %d after %q then %q", seed, in, more)) {
			return
		}
	}
}

// A viewer that attaches while a sequence is held back, or half released by Flush, sees what the
// others see.
func TestARedrawInTheMiddleOfASequenceIsContinued(t *testing.T) {
	for _, c := range [][2]string{
		{"a\x1b[3", "1mxyz"}, {"a\x1b", "[1mx"}, {"a\xe6\xbc", "\xa2x"}, {"a\xe6\xbc", "x"}, {"a\x1b[6", "nx"},
		{"a\x1b", "]0;t\ax"}, {"a\x1b", "]633;A\ax"}, {"a\x1b]0;", "t\ax"}, {"a\x1b", "_x\x1b\\x"},
	} {
		for _, flush := range []bool{false, true} {
			v, viewer := newTest(), newTest()
			v.Feed([]byte(c[0]), nil)
			if flush {
				v.Flush(&recorder{})
			}
			redrawn(t, v, viewer, Redraw{})
			var rec recorder
			v.Feed([]byte(c[1]), &rec)
			viewer.Feed([]byte(rec.data.String()), nil)
			sameState(t, viewer, v, fmt.Sprintf("%q flush=%v", c, flush))
		}
	}
}

// A window of another size shows the screen's top left or the part around the cursor, and never a
// byte beyond.
func TestARedrawForASmallerWindowIsClipped(t *testing.T) {
	for seed := range uint64(1500) {
		g := newGenerator(seed, false)
		v := New(g.cols, g.rows, Options{ScrollbackLines: 20})
		viewer := New(1+g.IntN(40), 1+g.IntN(14), Options{ScrollbackLines: 100})
		for round := range 3 {
			in := g.output(40)
			v.Feed([]byte(in), nil)
			cols, rows := viewer.Size()
			redrawn(t, v, viewer, Redraw{Cols: cols, Rows: rows, Scrollback: -1, Update: round > 0})
			if cols == g.cols && rows == g.rows {
				continue
			}
			cur, got := v.model.cur, viewer.model.cur
			x0, y0 := max(0, cur.x-cols+1), max(0, cur.y-rows+1)
			if got.x != cur.x-x0 || got.y != cur.y-y0 {
				t.Fatalf("seed %d: cursor %d,%d", seed, got.x, got.y)
			}
			for y := range rows {
				got, want := clipText(viewer, y, 0, cols), ""
				if y+y0 < g.rows {
					want = clipText(v, y+y0, x0, cols)
				}
				if got != want {
					t.Fatalf("seed %d round %d row %d after %q:\n%q\nwant\n%q",
						seed, round, y, in, got, want)
				}
			}
		}
	}
}

// clipText returns columns [from,from+n) of a row, half characters as blanks.
func clipText(v *Screen, y, from, n int) string {
	var b []byte
	cells := v.model.grid.rows[y].cells
	for x := from; x < min(len(cells), from+n); x++ {
		c := cells[x]
		switch {
		case c&cellTail != 0 && x == from, c&cellWide != 0 && x+1 == min(len(cells), from+n):
			b = append(b, ' ')
		default:
			b = v.model.table.text(b, c)
		}
	}
	return strings.TrimRight(string(b), " ")
}

func TestRestoreLeavesTheTerminalSane(t *testing.T) {
	for seed := range uint64(500) {
		g := newGenerator(seed, false)
		v := New(g.cols, g.rows, Options{})
		v.Feed([]byte(g.output(80)), nil)
		viewer := New(g.cols, g.rows, Options{})
		redrawn(t, v, viewer, Redraw{})
		viewer.Feed(v.AppendRestore(nil), nil)
		s := &viewer.model
		s.modes.set(modeAltScroll|modeGraphemes, true)
		want := modes{on: defaultModes | modeAltScroll | modeGraphemes, touched: s.modes.touched,
			kittyUsed: s.modes.kittyUsed, modifyUsed: s.modes.modifyUsed, knowsClusters: true}
		if s.altShown() || s.modes != want || s.pen != (style{}) || s.grid.kitty.flags() != 0 ||
			s.main.top != 0 || s.main.bottom != s.height()-1 ||
			s.cur.charsets != powerUpCursor.charsets ||
			s.cur.x != 0 || s.main.rows[s.cur.y].used() != 0 {
			t.Fatalf("seed %d: %s", seed, state(viewer))
		}
	}
}

func TestHistoryTextJoinsWrappedLines(t *testing.T) {
	v := New(10, 3, Options{ScrollbackLines: 100})
	long := strings.Repeat("0123456789", 4) + "!\r\n"
	v.Feed([]byte("\x1b[31mone\x1b[m\r\n"+long+"漢字漢字漢字\r\n\r\nlast  \r\n\r\n"), nil)
	want := "one\n" + strings.Repeat("0123456789", 4) + "!\n漢字漢字漢字\n\nlast\n"
	if got := string(v.AppendHistoryText(nil)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, cols := range []int{3, 9, 100, 10} {
		v.Resize(cols, 3)
		if got := string(v.AppendHistoryText(nil)); got != want {
			t.Errorf("at %d columns: %q, want %q", cols, got, want)
		}
	}
}

func TestAppendTextIsPlain(t *testing.T) {
	v := newTest()
	v.Feed([]byte("\x1b]8;;http://x\x1b\\\x1b[1;31mred\x1b[m  \r\n\x1b[42m \x1b[m\x1b[?1000h"), nil)
	if got := string(v.AppendText(nil, false)); got != "red\n\n\n\n\n" {
		t.Errorf("%q", got)
	}
	const want = "\x1b]8;;http://x\x1b\\\x1b[0;1;31mred\x1b]8;;\x1b\\\x1b[0m\n" +
		"\x1b]8;;http://x\x1b\\\x1b[0;42m \x1b]8;;\x1b\\\x1b[0m\n\n\n\n"
	if got := string(v.AppendText(nil, true)); got != want {
		t.Errorf("%q", got)
	}
}

// A program cannot leave anything in its history that makes a viewer's terminal answer at an
// attach, whatever the query and wherever its bytes end up: as text, title, hyperlink, colour or
// scrollback.
func TestARedrawMakesNoTerminalAnswer(t *testing.T) {
	queries := []string{
		"\x1b[c", "\x1b[>c", "\x1b[=c", "\x1b[5n", "\x1b[6n", "\x1b[?6n", "\x1b[>q", "\x1b[?u", "\x1b[14t",
		"\x1b[21t", "\x1b[?25$p", "\x1bP$qm\x1b\\", "\x1bP+q544e\x1b\\", "\x1b]10;?\a", "\x1b]11;?\a",
		"\x1b]4;1;?\a", "\x1b]52;c;?\a", "\x1b]52;c;eA==\a", "\x05", "\x1bZ",
		"\u009bc", "\u009b6n", "\x9b6n", "\xc2\x9b6n",
	}
	v := New(40, 10, Options{ScrollbackLines: 1000})
	for _, q := range queries {
		for _, format := range []string{
			"%s\r\n", "\x1b]0;%s\a", "\x1b]8;;http://x/%s\x1b\\l\x1b]8;;\a", "\x1b]11;%s\a",
			"\x1b]2;\u0090%s\x1b\\", "\x1b[1%s", "\x1bP%s", "\x18",
		} {
			v.Feed(fmt.Appendf(nil, format, q), nil)
		}
	}
	for range 1000 {
		viewer := New(40, 10, Options{})
		rec := redrawn(t, v, viewer, Redraw{Scrollback: -1})
		if len(rec.events) > 2 { // the title, and the same again
			t.Fatal(rec.events)
		}
	}
}

// An idle terminal takes little memory, and a flood no more than its bounds.
func TestMemoryIsBounded(t *testing.T) {
	const lines = 1000
	v := New(80, 24, Options{ScrollbackLines: lines})
	v.Feed(coloredText(4<<20), nil)
	size := 0
	for _, b := range v.model.history.blocks {
		size += cap(b.buf) + 4*cap(b.ends)
	}
	if v.model.history.lines != lines || size > lines*256 {
		t.Errorf("%d lines of scrollback in %d bytes", v.model.history.lines, size)
	}
	uri := "\x1b]8;;http://" + strings.Repeat("x", 2000)
	for i := range 20_000 {
		v.Feed(fmt.Appendf(nil, "%s%d\x1b\\", uri, i), nil)
		v.Feed(fmt.Appendf(nil, "\x1b[38;2;%d;%d;%dmlinked\r\n", i&255, i>>8, i&15), nil)
	}
	size = 0
	for _, b := range v.model.history.blocks {
		size += cap(b.buf) + 4*cap(b.ends)
	}
	if size > 2*lines*historyLineBytes {
		t.Errorf("%d bytes of scrollback", size)
	}
	wide := New(1000, 10, Options{}) // room for far more hyperlinks than are allowed
	for i := range 10_000 {
		wide.Feed(fmt.Appendf(nil, "%s%d\x1b\\x", uri, i), nil)
	}
	for _, v := range []*Screen{v, wide} {
		cols, rows := v.Size()
		if n := v.model.table.hyperlinkBytes; n > maxHyperlinks+maxURI+100 {
			t.Errorf("%d bytes of hyperlinks on a screen of %d by %d", n, cols, rows)
		}
		if n := len(v.model.table.styles); n > 2*minStyles+cols*rows {
			t.Errorf("%d styles on a screen of %d by %d", n, cols, rows)
		}
	}
}

// The column that was left empty for a wide character keeps its background when another character
// replaces the wide one.
func TestTheColumnBeforeAWideCharacterIsRedrawn(t *testing.T) {
	for _, in := range []string{
		"abcd漢\r\x1b[41m字", "\x1b[41mabcd漢\r\x1b[42m字", "\x1b[41mabcd漢\r\x1b[m字x",
	} {
		v, viewer := New(5, 3, Options{}), New(5, 3, Options{})
		v.Feed([]byte(in), nil)
		redrawn(t, v, viewer, Redraw{})
		sameState(t, viewer, v, in)
		bg := func(v *Screen) color {
			return v.model.table.at(v.model.main.rows[0].cells[4].style()).bg
		}
		if bg(viewer) != bg(v) {
			t.Errorf("%q: background %x, want %x", in, bg(viewer), bg(v))
		}
	}
}

// A viewer on the alternate screen that missed output there gets its state, and keeps the main
// screen.
func TestAlternateIsRedrawnExactly(t *testing.T) {
	const seeds = 1000
	leaves := regexp.MustCompile(`\x1bc|\x1b\[\?[\d;]*(47|1048|1049)[\d;]*[hl]`)
	drawn := 0
	for seed := range uint64(seeds) {
		g := newGenerator(seed, false)
		v := New(g.cols, g.rows, Options{})
		v.Feed([]byte(g.output(40)+"\x1b[?1049h"+g.output(60)), nil)
		if !v.AltScreen() {
			continue
		}
		drawn++
		used := New(g.cols, g.rows, Options{})
		redrawn(t, v, used, Redraw{})
		var missed strings.Builder
		for range 60 {
			if s := g.next(); !leaves.MatchString(s) {
				missed.WriteString(s)
			}
		}
		used.Feed([]byte(missed.String()), nil)
		used.model.modes.set(modeBackarrow|modeAltScroll, false)
		used.titles.current, used.model.modes.modifyOther, used.model.alt.kitty = "kept", 0, nil
		used.Feed(v.AppendAlternate(nil), nil)
		if used.titles.current != "kept" {
			t.Errorf("seed %d: the title is sent", seed)
		}
		used.titles.current, used.titles.set, used.colors = v.titles.current, v.titles.set, v.colors
		if !sameState(t, used, v, fmt.Sprintf("seed %d, which missed %q", seed, missed.String())) {
			return
		}
	}
	if drawn < seeds/10 {
		t.Errorf("only %d were on the alternate screen", drawn)
	}
}

// A mouse pointer and a progress bar that a program leaves behind would stay with the viewer's
// terminal for good.
func TestRestoreUndoesPointerShapeAndProgress(t *testing.T) {
	const pointer, progress = "\x1b]22;\x1b\\", "\x1b]9;4;0\x1b\\"
	for in, want := range map[string][2]int{
		"text":                              {0, 0}, // what was not used is not touched
		"\x1b]9;done\a\x1b]22;?\a":          {0, 0},
		"\x1b]22;wait\a":                    {2, 0}, // once on each screen
		"\x1b]9;4;1;50\a":                   {0, 1},
		"\x1b]22;wait\a\x1b]9;4;3\a\x1bc":   {2, 1},
		"\x1b[?1049h\x1b]22;>wait\x1b\\end": {2, 0},
	} {
		v := newTest()
		v.Feed([]byte(in), nil)
		got := string(v.AppendRestore(nil))
		if n := [2]int{strings.Count(got, pointer), strings.Count(got, progress)}; n != want {
			t.Errorf("after %q: %v of %q and %q, want %v", in, n, pointer, progress, want)
		}
	}
}
