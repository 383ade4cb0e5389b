package vt

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// turns finds what changes which screen a terminal shows.
var turns = regexp.MustCompile(`\x1b\[\?([\d;]*;)?(47|1047|1049)(;[\d;]*)?[hl]`)

// covering is a viewer's terminal over which something is drawn, as the host does.
type covering struct {
	v, viewer *Screen
	p         Picture
	scrolled  uint64
}

func (c *covering) draw(covered Covered) (drawn string) {
	cols, rows := c.viewer.Size()
	var out []byte
	if c.p.NeedsMain(c.v, cols, rows) {
		out = c.v.AppendRedraw(out, c.redraw())
		c.p.Begin(c.v)
	}
	out = c.v.AppendOver(out, cols, rows, covered, &c.p)
	for y := range rows {
		if y < covered.First || y >= rows-covered.Last {
			out = fmt.Appendf(out, "\x1b7\x1b[%d;1H\x1b[0;7m\x1b[2Ko\x1b[m\x1b8", y+1)
		}
	}
	c.viewer.Feed(out, nil)
	return string(out)
}

func (c *covering) redraw() Redraw {
	missed := c.v.Scrolled() - c.scrolled
	c.scrolled = c.v.Scrolled()
	return Redraw{Update: true, Scrollback: int(missed), Live: true}
}

func (c *covering) uncover() (drawn string) {
	var out []byte
	if c.p.OnAlternate(c.v) {
		out = c.v.AppendAlternate(c.v.AppendTitle(nil))
	} else {
		out = c.v.AppendRedraw(nil, c.redraw())
	}
	c.p = Picture{}
	c.viewer.Feed(out, nil)
	return string(out)
}

// A viewer's terminal leaves the alternate screen, and goes there, only as the program does while
// something is drawn over it; and when that is gone, both of its screens are the program's.
func TestOnlyTheProgramTurnsToTheOtherScreen(t *testing.T) {
	stayed := 0
	for seed := range uint64(1500) {
		g := newGenerator(seed, false)
		v := New(g.cols, g.rows, Options{ScrollbackLines: 1000})
		c := covering{v: v, viewer: New(g.cols, g.rows, Options{ScrollbackLines: 1000})}
		c.viewer.Feed([]byte("\x1b[?67;1007l"), nil) // these are the person's: see resetTouched
		feed := func(n int) (turned bool) {
			before := v.model.turns
			var rec recorder
			for range n {
				in := g.next()
				if g.IntN(20) == 0 {
					in = g.pick([]string{"\x1b[?1049h", "\x1b[?1049l", "\x1b[?47h", "\x1b[?47l"})
				}
				if !strings.Contains(in, "\x1bc") && !strings.Contains(in, "3J") { // these drop scrollback
					v.Feed([]byte(in), &rec)
				}
			}
			if c.p.of == nil {
				c.viewer.Feed([]byte(rec.data.String()), nil)
				c.scrolled = v.Scrolled()
			}
			return v.model.turns != before
		}
		for range 3 {
			v.Feed([]byte("\x1b[m"), nil)
			c.viewer.Feed([]byte("\x1b[m"), nil)
			feed(1 + g.IntN(40))
			c.p.Begin(v)
			turned := false
			for round := range 3 {
				turned = round > 0 && feed(g.IntN(20))
				rows := g.IntN(g.rows)
				drawn := c.draw(Covered{First: g.IntN(2) * (g.rows - rows - 1), Last: rows})
				if !turned && turns.MatchString(drawn) {
					t.Fatalf("seed %d round %d: drawn by %q", seed, round, drawn)
				}
				alt := c.viewer.AltScreen()
				if alt != v.AltScreen() {
					t.Fatalf("seed %d: alternate screen %v, the program's %v", seed, alt, v.AltScreen())
				}
			}
			turned = feed(g.IntN(5))
			drawn := c.uncover()
			if v.AltScreen() && !turned {
				stayed++
				if turns.MatchString(drawn) {
					t.Fatalf("seed %d: redrawn by %q", seed, drawn)
				}
			}
			c.viewer.colors, c.viewer.titles.current = v.colors, v.titles.current
			if !sameState(t, c.viewer, v, fmt.Sprintf("seed %d, redrawn by %q", seed, drawn)) {
				return
			}
			if a, b := unwrapped(c.viewer), unwrapped(v); a != b {
				t.Fatalf("seed %d: the scrollback is\n%s\nnot\n%s", seed, a, b)
			}
		}
	}
	if stayed < 200 {
		t.Errorf("only %d stayed on the alternate screen", stayed)
	}
}

// A window of another size shows a full-screen program on the alternate screen, and what is printed
// before and after it on the main one.
func TestAWindowOfAnotherSizeTurnsWithTheProgram(t *testing.T) {
	v := New(20, 6, Options{})
	c := covering{v: v, viewer: New(30, 8, Options{ScrollbackLines: 10})}
	for _, step := range []struct {
		in, turns string
		alt       bool
		shows     string
	}{
		{"before", "\x1b[?1049h \x1b[?1049l", false, "before"}, // it may show any
		{"\x1b[?1049h\x1b[Hfull", "\x1b[?1049h", true, "full"},
		{" screen", "", true, "full screen"},
		{"\x1b[?1049l", "\x1b[?1049l", false, "before"},
		{"\x1b[?47h\x1b[Hagain\x1b[?47l,", "", false, "befor,"},
	} {
		v.Feed([]byte(step.in), nil)
		drawn := c.draw(Covered{})
		if got := strings.Join(turns.FindAllString(drawn, -1), " "); got != step.turns {
			t.Errorf("after %q the screens are turned by %q, want %q", step.in, got, step.turns)
		}
		text := strings.TrimSpace(string(c.viewer.AppendText(nil, false)))
		if c.viewer.AltScreen() != step.alt || text != step.shows {
			t.Errorf("after %q it shows %q", step.in, text)
		}
	}
}
