package vt

import (
	"fmt"
	"strings"
	"testing"
)

// drawing is a recorder for a terminal that some viewer draws pictures of.
type drawing struct{ recorder }

func (*drawing) DrawsPictures() bool { return true }

func TestSizesInPixelsAreTheWindowsOrNone(t *testing.T) {
	const asks = "\x1b[14t\x1b[16t\x1b[18t"
	for _, c := range []struct {
		width, height int
		draws         bool
		want          string
	}{
		{0, 0, false, `0:reply "\x1b[8;5;20t"`},
		{205, 107, false, `0:reply "\x1b[4;107;205t", 0:reply "\x1b[6;21;10t", 0:reply "\x1b[8;5;20t"`},
		{205, 107, true, `0:reply "\x1b[4;107;205t", 0:reply "\x1b[6;21;10t", 0:reply "\x1b[8;5;20t"`},
		// Pictures are measured by these.
		{0, 0, true, `0:reply "\x1b[4;80;160t", 0:reply "\x1b[6;16;8t", 0:reply "\x1b[8;5;20t"`},
	} {
		r, v := drawing{}, newTest()
		v.SetPixels(c.width, c.height)
		if c.draws {
			v.Feed([]byte(asks), &r)
		} else {
			v.Feed([]byte(asks), &r.recorder)
		}
		if got := strings.Join(r.events, ", "); got != c.want {
			t.Errorf("%dx%d, pictures %v: %s, want %s", c.width, c.height, c.draws, got, c.want)
		}
	}
}

func TestTheMouseIsInPixelsWhereTheyAreKnown(t *testing.T) {
	const set, asks = "\x1b[?1003;1016h", "\x1b[?1016$p\x1b[?1006$p"
	for _, c := range []struct {
		width    int
		cells    bool
		is, then int // what DECRQM says before the mode is set, and then
	}{{0, false, 0, 0}, {200, true, 0, 0}, {200, false, 2, 1}} {
		var r recorder
		v := newTest()
		v.SetPixels(c.width, c.width)
		v.SetCellMouse(c.cells)
		v.Feed([]byte(asks+set+asks), &r)
		want := fmt.Sprintf(`0:reply "\x1b[?1016;%d$y", 0:reply "\x1b[?1006;2$y", `+
			`13:reply "\x1b[?1016;%d$y", 13:reply "\x1b[?1006;%d$y"`, c.is, c.then, 1+c.then)
		if got := strings.Join(r.events, ", "); got != want {
			t.Errorf("%+v: %s, want %s", c, got, want)
		}
		// What viewers get, and a log has, does not depend on the window.
		if got := r.data.String(); got != "\x1b[?1003;1006h" || v.MouseEncoding() != 1006 {
			t.Errorf("%+v: viewers get %q, and report in mode %d", c, got, v.MouseEncoding())
		}
		if got, want := v.MousePixels(), c.then == 1; got != want {
			t.Errorf("%+v: the program gets pixels: %v", c, got)
		}
	}
}

func TestTheMouseIsInPixelsUntilAnotherModeIsSet(t *testing.T) {
	for in, want := range map[string]struct {
		pixels   bool
		encoding int
		data     string
	}{
		"\x1b[?1006;1016h":             {true, 1006, "\x1b[?1006;1006h"},
		"\x1b[?1016;1006h":             {false, 1006, "\x1b[?1006;1006h"},
		"\x1b[?1016h\x1b[?1016l":       {false, 0, "\x1b[?1006h\x1b[?1006l"},
		"\x1b[?1016h\x1b[?1006l":       {false, 0, "\x1b[?1006h\x1b[?1006l"},
		"\x1b[?1016h\x1bc":             {false, 0, "\x1b[?1006h\x1bc\x1b[?2027l"},
		"\x1b[?1016h\x1b[?1000;25l":    {true, 1006, "\x1b[?1006h\x1b[?1000;25l"},
		"\x1b[?9999;1016;25h":          {true, 1006, "\x1b[?1006;25h"},
		"\x1b[1016h\x1b[?1015;1016;5l": {false, 0, "\x1b[?1015;1006;5l"},
	} {
		var r recorder
		v := newTest()
		v.SetPixels(200, 100)
		v.Feed([]byte(in), &r)
		if v.MousePixels() != want.pixels || v.MouseEncoding() != want.encoding || r.data.String() != want.data {
			t.Errorf("%q: pixels %v, mode %d, viewers get %q; want %+v", in, v.MousePixels(),
				v.MouseEncoding(), r.data.String(), want)
		}
		again := newTest()
		again.SetPixels(200, 100)
		again.Feed(v.AppendMousePixels(v.AppendRedraw(nil, Redraw{})), nil)
		if again.MousePixels() != want.pixels || again.MouseEncoding() != want.encoding {
			t.Errorf("%q: in a new screen pixels %v, mode %d", in, again.MousePixels(), again.MouseEncoding())
		}
	}
}

func TestAPictureIsMeasuredByTheWindowsCells(t *testing.T) {
	p := newPictured(80, 24)
	p.SetPixels(800, 576) // cells of 10 by 24
	p.prints(t, sixels(160, 48))
	if img := p.image(t); img.Cols != 16 || img.Rows != 2 {
		t.Errorf("it has %dx%d cells", img.Cols, img.Rows)
	}
}
