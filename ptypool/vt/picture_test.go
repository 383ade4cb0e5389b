package vt

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// What is drawn over a picture shows the screen and sets its modes, whatever the program has done
// since, and however many of the last rows something else covers, or covered before.
func TestOnlyWhatDiffersIsDrawn(t *testing.T) {
	for seed := range uint64(1500) {
		g := newGenerator(seed, false)
		v := New(g.cols, g.rows, Options{ScrollbackLines: 20})
		cols, rows := g.cols, g.rows
		if seed%3 == 0 {
			cols, rows = 1+g.IntN(40), 1+g.IntN(14)
		}
		viewer := New(cols, rows, Options{ScrollbackLines: 100})
		viewer.Feed([]byte(g.output(20)), nil) // it was used before
		// What old terminals do not know is reset only where the program has used it.
		viewer.Feed([]byte("\x1b\\\x1b[?1049l"+resetKitty+resetModify+"\x1b[?67;1007l"), nil)
		viewer.Feed([]byte("\x1b]104\a\x1b]110\a\x1b]111\a\x1b]112\a\x1b]2;\a"), nil)
		var p Picture
		for round := range 5 {
			in := g.output(1 + g.IntN(40))
			v.Feed([]byte(in), nil)
			before := viewer.Scrolled()
			covered := max(0, g.IntN(rows+5)-4)
			draw := v.AppendOver(nil, cols, rows, Covered{Last: covered}, &p)
			var rec recorder
			viewer.Feed(draw, &rec)
			if e := rec.first("reply", "clipboard"); e != "" {
				t.Fatalf("the drawing makes a terminal answer: %s", e)
			}
			if n := viewer.Scrolled() - before; n != 0 {
				t.Fatalf("seed %d: %d lines scrolled by %q", seed, n, draw)
			}
			fresh := New(cols, rows, Options{ScrollbackLines: 100})
			whole := Picture{x: p.x, y: p.y} // the same part of the screen
			fresh.Feed(v.AppendOver(nil, cols, rows, Covered{Last: covered}, &whole), nil)
			for y := rows - covered; y < rows; y++ {
				over := fmt.Appendf(nil, "\x1b7\x1b[%d;1H\x1b[0;7m\x1b[2Ko\x1b[m\x1b8", y+1)
				viewer.Feed(over, nil)
				fresh.Feed(over, nil)
			}
			if a, b := seen(viewer), seen(fresh); a != b {
				t.Fatalf("seed %d round %d after %q, drawn by %q:\n%s\nwant\n%s", seed, round, in, draw, a, b)
			}
			if again := v.AppendOver(nil, cols, rows, Covered{Last: covered}, &p); len(again) > 40 {
				t.Fatalf("seed %d: nothing has changed, and %q is drawn", seed, again)
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

// seen returns what a terminal shows, with the cursor, and its modes.
func seen(v *Screen) string {
	x, y, visible := v.Cursor()
	modes := v.model.modes
	return fmt.Sprintf("%s%d,%d %v %x %d %d %d %d %v %q %v %v", v.AppendText(nil, true), x, y, visible,
		modes.on, modes.mouse, modes.mouseEncoding, modes.cursorStyle, modes.modifyOther,
		v.model.grid.kitty.flags(), v.titles.current, v.colors.palette, v.colors.dynamic)
}

// When numbers of styles change their meaning, a picture no longer knows what its cells show.
func TestAPictureOutlivesASweepOfStyles(t *testing.T) {
	v, viewer := New(40, 4, Options{}), New(40, 4, Options{})
	var p Picture
	for i := range 3 * minStyles {
		v.Feed(fmt.Appendf(nil, "\x1b[%d;1H\x1b[38;2;1;%d;%dmx", i%3+1, i>>8, i&255), nil)
		viewer.Feed(v.AppendOver(nil, 40, 4, Covered{}, &p), nil)
		if a, b := seen(viewer), seen(v); a != b {
			t.Fatalf("after %d styles:\n%s\nwant\n%s", i, a, b)
		}
	}
	if v.model.table.sweeps < 2 {
		t.Error("the table was not swept")
	}
}

// What somebody types past the end of a smaller window moves that once, and then costs as little as
// elsewhere.
func TestKeysInASmallerWindowMoveItSeldom(t *testing.T) {
	v := New(80, 24, Options{})
	for range 24 {
		v.Feed([]byte("the quick brown fox jumps over the lazy dog and much more of that kind\r\n"), nil)
	}
	var p Picture
	whole := len(v.AppendOver(nil, 60, 20, Covered{}, &p))
	sum := 0
	for range 80 {
		v.Feed([]byte("x"), nil)
		sum += len(v.AppendOver(nil, 60, 20, Covered{}, &p))
	}
	if limit := 80*50 + 3*whole; sum > limit {
		t.Errorf("a line costs %d bytes, the screen %d", sum, whole)
	}
}

// A new line moves what is above it, under a notice too, and is drawn itself.
func TestANewLineCostsLittleMoreThanItself(t *testing.T) {
	v, viewer := New(80, 24, Options{}), New(80, 24, Options{ScrollbackLines: 100})
	line := func(i int) {
		v.Feed(fmt.Appendf(nil, "\r\n%d: line %d of some output, which is as long as they are", i, i), nil)
	}
	for i := range 30 {
		line(i)
	}
	for _, covered := range []int{0, 2} {
		var p Picture
		whole := len(v.AppendOver(nil, 80, 24, Covered{Last: covered}, &p))
		p = Picture{}
		viewer.Feed(v.AppendOver(nil, 80, 24, Covered{Last: covered}, &p), nil)
		for i := range 8 {
			line(1000*covered + i)
			draw := v.AppendOver(nil, 80, 24, Covered{Last: covered}, &p)
			viewer.Feed(draw, nil)
			if len(draw) > whole/5 {
				t.Errorf("with %d rows covered a line costs %d bytes, the screen %d", covered, len(draw), whole)
			}
		}
		rows := func(v *Screen) []string {
			return strings.Split(string(v.AppendText(nil, true)), "\n")[:24-covered]
		}
		if a, b := rows(viewer), rows(v); !slices.Equal(a, b) {
			t.Errorf("with %d rows covered:\n%q\nwant\n%q", covered, a, b)
		}
	}
	if n := viewer.Scrolled(); n > 0 {
		t.Errorf("%d lines are in the viewer's scrollback", n)
	}
}

func TestAKeyUnderANoticeCostsItsCell(t *testing.T) {
	v := New(100, 30, Options{})
	for i := range 40 {
		v.Feed(fmt.Appendf(nil, "line %d of some output of a program, as long as they are\r\n", i), nil)
	}
	var p Picture
	whole := len(v.AppendOver(nil, 100, 30, Covered{}, &p))
	v.Feed([]byte("$ l"), nil)
	v.AppendOver(nil, 100, 30, Covered{Last: 1}, &p)
	v.Feed([]byte("s"), nil)
	if n := len(v.AppendOver(nil, 100, 30, Covered{Last: 1}, &p)); n > 50 {
		t.Errorf("a key costs %d bytes, the whole screen %d", n, whole)
	}
}
