package vt

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// historyBytes returns the scrollback in its stored form.
func historyBytes(v *Screen) string {
	var b strings.Builder
	for l := range v.model.history.newest(v.model.history.lines) {
		fmt.Fprintf(&b, "%q\n", l)
	}
	return b.String()
}

// flood returns lines that scroll fast, and some that must be drawn.
func flood(g *generator) []byte {
	var b bytes.Buffer
	odd := g.pick([]string{
		"", "", "\x1b[44m", "\x1b[K", "e\u0301", "\x1b[3;2H", "\n", "\r", "\x1b[?7l", "\x1b[2J", "\a",
		"\x1b]8;;http://a\x1b\\", "\u0600", "\xff", "\x1b[2;4r", "\x1b[1;2r\x1b[99H", "\x1b[?1049h",
	})
	for range g.IntN(20) * g.rows {
		for range g.IntN(6) {
			switch n := g.IntN(400); {
			case n == 0:
				b.WriteString(odd)
			case n < 60:
				b.WriteString(g.sgr() + g.pick([]string{"", "\x1b[49m"}))
			case n < 80:
				b.WriteString("\x1b[m")
			case n < 120:
				b.WriteString("\t")
			case n < 160:
				b.WriteString(strings.Repeat(g.pick([]string{"x", " ", "漢"}), g.IntN(2*g.cols)))
			default:
				b.WriteString(g.pick([]string{
					"hello", "the quick brown fox ", "  ", "漢字かな", "Grüße", "──┐", "日", "~",
				}))
			}
		}
		b.WriteString("\r\n")
	}
	b.WriteString(g.pick([]string{"", "$ ", "\x1b[31", "漢\x1b[H\u0301"}))
	return b.Bytes()
}

// Lines that scroll through within one chunk leave the same screen and scrollback as when they come
// byte by byte.
func TestScrollingFastEqualsDrawing(t *testing.T) {
	for seed := range uint64(1500) {
		g := newGenerator(seed, false)
		o := Options{ScrollbackLines: 1 + g.IntN(200), ScrollbackBytes: 1 + g.IntN(20_000)}
		if g.IntN(2) == 0 {
			g.rows = 1 + g.IntN(4)
		}
		one, many := New(g.cols, g.rows, o), New(g.cols, g.rows, o)
		in := []byte(g.output(10) + g.pick([]string{"", "\x1bc"}))
		for range 3 {
			in = append(in, flood(g)...)
		}
		var a, b recorder
		one.Feed(in, &a)
		for i := range in {
			many.Feed(in[i:i+1], &b)
		}
		checkGrid(t, one)
		sameState(t, one, many, fmt.Sprint("seed ", seed))
		x, y := historyBytes(one), historyBytes(many)
		n, want := one.Scrolled(), many.Scrolled()
		if x != y || n != want || a.String() != b.String() {
			t.Errorf("seed %d: scrollback\n%s\nwant\n%s\n%d lines, want %d", seed, x, y, n, want)
		}
		if t.Failed() {
			t.Fatalf("%d by %d, %d lines and %d bytes of scrollback, %q",
				g.cols, g.rows, o.ScrollbackLines, o.ScrollbackBytes, in)
		}
	}
}

func TestScrollingFastEqualsDrawingOnUnusualScreens(t *testing.T) {
	lines := strings.Repeat("\r\n", 20)
	for _, c := range []struct{ name, before, in string }{
		{"the scrollback's last line goes on in text that is written after a try",
			"0123456789abcdefghijABC\r\n2\r\n3\r\n4\r\n5\r\x1b[K\x1b[H\x1b[@\x1b[4;1H", "\n\x1b[HZ" + lines},
		{"nothing scrolls below the region", "1\r\n2\r\n3\x1b[1;2r\x1b[4H", "\n" + lines},
		{"text on a background", "\x1b[44m\x1b[4H", "\n" + strings.Repeat("x\r\n", 20)},
	} {
		one, many := newTest(), newTest()
		one.Feed([]byte(c.before), nil)
		many.Feed([]byte(c.before), nil)
		one.Feed([]byte(c.in), nil)
		for i := range c.in {
			many.Feed([]byte(c.in[i:i+1]), nil)
		}
		sameState(t, one, many, c.name)
		if x, y := historyBytes(one), historyBytes(many); x != y {
			t.Errorf("%s: scrollback\n%s\nwant\n%s", c.name, x, y)
		}
	}
}

// Lines that scroll fast are passed on unchanged, so one with too large a count must be drawn.
func TestACountInAFloodIsClamped(t *testing.T) {
	var r recorder
	v := New(20, 5, Options{ScrollbackLines: 1000})
	v.Feed([]byte(strings.Repeat("\n", 10)), nil)
	v.Feed([]byte(strings.Repeat("y\r\n\x1b[70000m", 200)), &r)
	if s := r.data.String(); strings.Contains(s, "70000") || strings.Count(s, "\x1b[9999m") != 200 {
		t.Errorf("%.100q", s)
	}
}
