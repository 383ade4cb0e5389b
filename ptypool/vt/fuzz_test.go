package vt

import (
	"testing"
)

// chunks feeds in, cut where the bits of cuts say, and checks invariants in between.
func chunks(t *testing.T, v *Screen, in []byte, cuts uint64, s Sink) {
	for len(in) > 0 {
		n := 1 + int(cuts&7)
		cuts = cuts>>3 | cuts<<61
		if n == 8 {
			n = len(in)
		}
		n = min(n, len(in))
		v.Feed(in[:n], s)
		in = in[n:]
		if len(v.parser.held) > maxOSC {
			t.Fatalf("%d bytes held back", len(v.parser.held))
		}
	}
}

// checkGrid fails if a wide character has lost a half or a cell refers to nothing.
func checkGrid(t *testing.T, v *Screen) {
	t.Helper()
	s := &v.model
	for _, g := range []*grid{&s.main, &s.alt} {
		for y := range g.rows {
			cells := g.rows[y].cells
			if cells != nil && len(cells) != s.width {
				t.Fatalf("row %d has %d cells of %d", y, len(cells), s.width)
			}
			for x, c := range cells {
				tail := x+1 < len(cells) && cells[x+1]&cellTail != 0
				if c&cellWide != 0 != tail {
					t.Fatalf("row %d column %d: half a wide character", y, x)
				}
				noCluster := c&cellCluster != 0 && int(c&cellRune) >= len(s.table.clusters)
				if noCluster || int(c.style()) >= len(s.table.styles) {
					t.Fatalf("row %d column %d: cell %x refers to nothing", y, x, c)
				}
			}
		}
	}
	if c := s.cur; c.x < 0 || c.x >= s.width || c.y < 0 || c.y >= s.height() {
		t.Fatalf("cursor at %d,%d", c.x, c.y)
	}
}

// Whatever the output and its chunks, data, events and screen are the same as in one chunk; what
// viewers get has no queries and gives them the same screen; so does a redraw; and a resize keeps
// the grid intact.
func FuzzFeed(f *testing.F) {
	for _, c := range feedCases {
		f.Add([]byte(c.in), uint64(0x1234567890abcdef), uint16(7), uint16(3))
	}
	for _, in := range []string{ // each failed once
		"\xe2\xe2", "\xc2\u009b", "\xf4\x98\u009c", "a\xe0\xe0\x1b^", "\x1bZ00\x1b[?u\x1b[b0",
		"\xd8\xf1\xf1\xf1\xf1\xf1\xf1\u0600\xd8", "\x1b]2;reply\x07",
	} {
		f.Add([]byte(in), uint64(0xd2), uint16(1), uint16(3))
	}
	for _, in := range sessions(f) {
		f.Add(in[:min(len(in), 2000)], uint64(0xfedcba987654321), uint16(80), uint16(24))
	}
	for seed := range uint64(20) {
		g := newGenerator(seed, false)
		f.Add([]byte(g.output(40)), seed*0x9e3779b97f4a7c15, uint16(g.cols), uint16(g.rows))
		f.Add(flood(g), seed*0x9e3779b97f4a7c15, uint16(g.cols), uint16(g.rows))
	}
	f.Fuzz(func(t *testing.T, in []byte, cuts uint64, cols, rows uint16) {
		w, h := 1+int(cols)%100, 1+int(rows)%30
		o := Options{ScrollbackLines: 20}
		if cuts%2 == 0 {
			o.Nonce = "n0nce"
		}
		one, many := New(w, h, o), New(w, h, o)
		var a, b recorder
		one.Feed(in, &a)
		chunks(t, many, in, cuts, &b)
		if a.String() != b.String() {
			t.Fatalf("in chunks\n%s\nin one\n%s", &b, &a)
		}
		sameState(t, many, one, "in chunks")
		if x, y := historyBytes(one), historyBytes(many); x != y {
			t.Fatalf("scrollback in one\n%s\nin chunks\n%s", x, y)
		}
		checkGrid(t, one)
		if one.model.history.lines > 20 || len(one.parser.held) > maxOSC {
			t.Fatal("grows")
		}

		one.Feed([]byte("\x18"), &a) // ends what is held back; TestFlushReleasesPartialSequences has the rest
		viewer := New(w, h, o)
		var c recorder
		viewer.Feed([]byte(a.data.String()), &c)
		if e := c.first("reply", "clipboard", "executed"); e != "" {
			t.Fatalf("what viewers get has %s", e)
		}
		sameState(t, viewer, one, "a viewer")

		fresh := New(w, h, o)
		redrawn(t, one, fresh, Redraw{Scrollback: -1})
		sameState(t, fresh, one, "redraw")

		for _, size := range [][2]int{{h, w}, {w, h}, {1 + w/2, 1 + h/2}} {
			one.Resize(size[0], size[1])
			checkGrid(t, one)
			one.Feed(in[:min(len(in), 100)], nil)
			checkGrid(t, one)
		}
	})
}
