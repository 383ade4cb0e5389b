package vt

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// viewerWith returns a viewer's terminal that shows its own lines, and the text of its scrollback
// and screen.
func viewerWith(cols, rows, lines int) *Screen {
	v := New(cols, rows, Options{ScrollbackLines: 1000})
	for i := range lines {
		v.Feed(fmt.Appendf(nil, "own %d\r\n", i), nil)
	}
	return v
}

// The first redraw moves what the viewer's terminal showed to its scrollback, once and without
// blank lines, wherever its cursor was; the scrollback of a fresh terminal stays empty.
func TestTheFirstRedrawKeepsTheViewersOwnLines(t *testing.T) {
	for _, alt := range []string{"", "\x1b[?1049halt"} {
		v := New(20, 6, Options{ScrollbackLines: 100})
		v.Feed([]byte("h1\r\nh2\r\n1\r\n2\r\n3\r\n4\r\n5\r\n6"+alt), nil)
		for _, window := range [][2]int{{20, 6}, {30, 9}, {10, 4}} {
			for own := range 12 {
				// What the viewer's terminal shows last, and what of it is a line of its own.
				for last, line := range map[string]string{
					"": "", "no newline": "no newline", "\x1b[42mcolored\x1b[4h": "colored",
					"\x1b[?1049hfull screen": "",
				} {
					checkOwnLines(t, v, window, own, last, line)
				}
			}
		}
	}
}

// checkOwnLines draws v for a viewer whose terminal shows some lines of its own and then last, of
// which line is a line.
func checkOwnLines(t *testing.T, v *Screen, window [2]int, own int, last, line string) {
	t.Helper()
	viewer := viewerWith(window[0], window[1], own)
	viewer.Feed([]byte(last), nil)
	redraw := Redraw{Cols: window[0], Rows: window[1], Scrollback: -1}
	viewer.Feed(v.AppendRedraw(nil, redraw), nil)
	var want []string
	for i := range own {
		want = append(want, fmt.Sprintf("own %d", i))
	}
	if line != "" {
		want = append(want, line)
	}
	want = append(want, "h1", "h2")
	got := strings.Fields(strings.ReplaceAll(unwrapped(viewer), "|false", ""))
	n := viewer.model.history.lines
	if !slices.Equal(got, strings.Fields(strings.Join(want, " "))) || n != len(want) {
		t.Fatalf("%d own lines, then %q, in a window of %v: %d lines of scrollback %q, want %q",
			own, last, window, n, got, want)
	}
}

// Drawing over an earlier redraw adds nothing to the viewer's scrollback and never clears the main
// screen, which some terminals would scroll into it.
func TestRedrawInPlaceScrollsNothing(t *testing.T) {
	for seed := range uint64(500) {
		g := newGenerator(seed, false)
		v := New(g.cols, g.rows, Options{ScrollbackLines: 50})
		cols, rows := v.model.width, v.model.height()
		if seed%3 == 0 {
			cols, rows = 1+g.IntN(40), 1+g.IntN(14)
		}
		viewer := New(cols, rows, Options{ScrollbackLines: 1000})
		for round := range 4 {
			in := g.output(30)
			v.Feed([]byte(in), nil)
			before := viewer.Scrolled()
			draw := v.AppendRedraw(nil, Redraw{Cols: cols, Rows: rows, Update: round > 1})
			viewer.Feed(draw, nil)
			if n := viewer.Scrolled() - before; n != 0 {
				t.Fatalf("seed %d: %d lines scrolled by %q", seed, n, draw)
			}
			if bytes.Contains(draw, []byte("J")) && !strings.Contains(state(v), "J") {
				t.Fatalf("seed %d: erases the screen: %q", seed, draw)
			}
		}
	}
}

func sameMainText(a, b *Screen) bool {
	text := func(v *Screen) string {
		return strings.TrimRight(string(v.AppendText(nil, true)), "\n")
	}
	return text(a) == text(b)
}

// A viewer that missed output gets a redraw with the lines that scrolled meanwhile, and then has
// the same scrollback as one that missed nothing.
func TestARedrawAddsTheMissedLines(t *testing.T) {
	for seed := range uint64(500) {
		g := newGenerator(seed, true)
		v := New(g.cols, g.rows, Options{ScrollbackLines: 1000})
		viewer := New(g.cols, g.rows, Options{ScrollbackLines: 1000})
		for range 4 {
			in := strings.Repeat("\x1b[m", g.IntN(2)) + lineOutput(g)
			var rec recorder
			v.Feed([]byte(in), &rec)
			viewer.Feed([]byte(rec.data.String()), nil)
			before := v.Scrolled()
			v.Feed([]byte(lineOutput(g)), nil)
			if seed%2 == 0 { // covered by a notice, say
				viewer.Feed(v.AppendRedraw(nil, Redraw{Update: true}), nil)
			} else {
				var p Picture
				viewer.Feed(v.AppendOver(nil, g.cols, g.rows, Covered{}, &p), nil)
			}
			viewer.Feed([]byte("\x1b7\x1b[1;1H\x1b[7mnotice\x1b[m\x1b8"), nil)
			v.Feed([]byte(lineOutput(g)), nil)
			missed := int(v.Scrolled() - before)
			viewer.Feed(v.AppendRedraw(nil, Redraw{Update: true, Scrollback: missed}), nil)
			if a, b := unwrapped(viewer), unwrapped(v); a != b {
				t.Fatalf("seed %d: the viewer's scrollback\n%s\nthe host's\n%s", seed, a, b)
			}
			if !sameMainText(viewer, v) {
				t.Fatalf("seed %d: the screens differ", seed)
			}
		}
	}
}

// unwrapped returns the scrollback's text without line breaks: which lines are wrapped may be lost
// while others are drawn below them.
func unwrapped(v *Screen) string {
	return strings.ReplaceAll(historyText(v), "|true", "|false")
}

// lineOutput is output of a program that prints lines.
func lineOutput(g *generator) string {
	var b strings.Builder
	for range g.IntN(25) {
		b.WriteString(g.pick([]string{
			"one two three four five ", "é", "漢字", "x", "\r\n", "\r\n", "\x1b[31mred\x1b[m ",
			"\x1b[44mblue\r\n\x1b[m", "──┐",
		}))
	}
	return b.String()
}

// A cursor that was saved in origin mode before the scroll region was set is restored after the
// program leaves the alternate screen.
func TestARedrawKeepsACursorSavedOutsideTheMargins(t *testing.T) {
	v, viewer := newTest(), newTest()
	v.Feed([]byte("\x1b[?6h\x1b[5;3H\x1b7\x1b[2;4r\x1b[?47h"), nil)
	redrawn(t, v, viewer, Redraw{})
	const more = "\x1b[?47l\x1b[r\x1b8x"
	v.Feed([]byte(more), nil)
	viewer.Feed([]byte(more), nil)
	sameState(t, viewer, v, "after leaving the alternate screen")
}

// A character without width on an erased cell looks the same if the cell was drawn as a space.
func TestCombiningCharactersJoinErasedCells(t *testing.T) {
	v, viewer := newTest(), newTest()
	v.Feed([]byte("a\x1b[2Cb"), nil)
	redrawn(t, v, viewer, Redraw{})
	const more = "\x1b[1;3H\u200b"
	v.Feed([]byte(more), nil)
	viewer.Feed([]byte(more), nil)
	sameState(t, viewer, v, "U+200B")
}
