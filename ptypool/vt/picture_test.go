package vt

import (
	"fmt"
	"testing"
)

// What is drawn over a picture shows the screen, whatever the program has done since, and whatever
// was drawn over the last rows and is drawn there again.
func TestOnlyRowsThatDifferAreDrawn(t *testing.T) {
	for seed := range uint64(1500) {
		g := newGenerator(seed, false)
		v := New(g.cols, g.rows, Options{ScrollbackLines: 20})
		cols, rows := g.cols, g.rows
		if seed%3 == 0 {
			cols, rows = 1+g.IntN(40), 1+g.IntN(14)
		}
		viewer := New(cols, rows, Options{ScrollbackLines: 100})
		viewer.Feed([]byte(g.output(20)), nil) // it was used before
		var p Picture
		for round := range 5 {
			in := g.output(1 + g.IntN(40))
			v.Feed([]byte(in), nil)
			before := viewer.Scrolled()
			draw := v.AppendOver(nil, cols, rows, &p)
			var rec recorder
			viewer.Feed(draw, &rec)
			if e := rec.first("reply", "clipboard"); e != "" {
				t.Fatalf("the drawing makes a terminal answer: %s", e)
			}
			if n := viewer.Scrolled() - before; n != 0 {
				t.Fatalf("seed %d: %d lines scrolled by %q", seed, n, draw)
			}
			fresh := New(cols, rows, Options{ScrollbackLines: 100})
			var whole Picture
			fresh.Feed(v.AppendOver(nil, cols, rows, &whole), nil)
			if a, b := seen(viewer), seen(fresh); a != b {
				t.Fatalf("seed %d round %d after %q, drawn by %q:\n%s\nwant\n%s", seed, round, in, draw, a, b)
			}
			if again := v.AppendOver(nil, cols, rows, &p); len(again) > 600 || len(again) > len(draw) {
				t.Fatalf("seed %d: nothing has changed, and %d bytes are drawn: %q", seed, len(again), again)
			}
		}
		// An exact redraw follows before output does.
		if cols == g.cols && rows == g.rows {
			viewer.Feed(v.AppendRedraw(nil, Redraw{Update: true}), nil)
			exact := New(cols, rows, Options{})
			exact.Feed(v.AppendRedraw(nil, Redraw{}), nil)
			if a, b := seen(viewer), seen(exact); a != b {
				t.Fatalf("seed %d: redrawn:\n%s\nwant\n%s", seed, a, b)
			}
		}
	}
}

// seen returns what a terminal shows, with the cursor.
func seen(v *Screen) string {
	x, y, visible := v.Cursor()
	return fmt.Sprintf("%s%d,%d %v %v", v.AppendText(nil, true), x, y, visible, v.model.modes.has(modeReverse))
}

func TestAKeyUnderANoticeCostsARow(t *testing.T) {
	v := New(100, 30, Options{})
	for i := range 40 {
		v.Feed(fmt.Appendf(nil, "line %d of some output of a program, as long as they are\r\n", i), nil)
	}
	var p Picture
	whole := len(v.AppendOver(nil, 100, 30, &p))
	v.Feed([]byte("$ l"), nil)
	if n := len(v.AppendOver(nil, 100, 30, &p)); n > 250 || n > whole/4 {
		t.Errorf("a key costs %d bytes, the whole screen %d", n, whole)
	}
}
