package vt

import (
	"fmt"
	"strings"
	"testing"
)

func TestResizeReflowsTheMainScreen(t *testing.T) {
	for _, c := range []struct {
		name       string
		cols, rows int // at first
		in         string
		to         [2]int
		screen     string // rows joined by |
		x, y       int
		history    int
	}{
		{"narrower wraps", 10, 3, "0123456789", [2]int{4, 3}, "0123|4567|89", 2, 2, 0},
		{"wider joins", 4, 3, "0123456789", [2]int{10, 3}, "0123456789||", 9, 0, 0},
		{"a line break stays", 4, 3, "0123\r\n45", [2]int{10, 3}, "0123|45|", 2, 1, 0},
		{"what does not fit scrolls off", 10, 2, "a\r\n0123456789", [2]int{5, 2}, "01234|56789", 4, 1, 1},
		{"and comes back", 5, 2, "a\r\n0123456789", [2]int{10, 2}, "a|0123456789", 9, 1, 0},
		{"shorter drops blank rows first", 10, 5, "a\r\nb", [2]int{10, 2}, "a|b", 1, 1, 0},
		{"then scrolls", 10, 5, "a\r\nb\r\nc\r\nd", [2]int{10, 2}, "c|d", 1, 1, 2},
		{"taller brings scrollback back", 10, 2, "a\r\nb\r\nc\r\nd", [2]int{10, 3}, "b|c|d", 1, 2, 1},
		{"but not above a screen with room", 10, 3, "a\r\nb\r\nc\r\nd\x1b[2J\x1b[H$", [2]int{10, 5}, "$||||", 1, 0, 1},
		{"wide characters stay whole", 8, 2, "漢字漢字", [2]int{5, 3}, "漢字|漢字|", 4, 1, 0},
		{"and take their place again", 5, 3, "漢字漢字", [2]int{8, 3}, "漢字漢字||", 7, 0, 0},
		{"one column has no room for them", 4, 3, "漢a", [2]int{1, 5}, "||a||", 0, 2, 0},
		{"the cursor stays with its character", 10, 3, "0123456789\x1b[1;6H", [2]int{4, 3}, "0123|4567|89", 1, 1, 0},
		{"a pending wrap stays pending", 4, 3, "0123", [2]int{4, 2}, "0123|", 3, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := New(c.cols, c.rows, Options{ScrollbackLines: 100})
			v.Feed([]byte(c.in), nil)
			v.Resize(c.to[0], c.to[1])
			checkGrid(t, v)
			text := strings.TrimSuffix(string(v.AppendText(nil, false)), "\n")
			x, y, _ := v.Cursor()
			text = strings.ReplaceAll(text, "\n", "|")
			got := fmt.Sprintf("%q %d,%d %d", text, x, y, v.HistoryLines())
			if want := fmt.Sprintf("%q %d,%d %d", c.screen, c.x, c.y, c.history); got != want {
				t.Errorf("screen, cursor and lines of scrollback are %s, want %s", got, want)
			}
		})
	}
}

func TestResizeKeepsThePendingWrap(t *testing.T) {
	v := New(4, 3, Options{})
	v.Feed([]byte("0123"), nil)
	v.Resize(4, 2)
	v.Feed([]byte("4"), nil)
	if got := string(v.AppendText(nil, false)); got != "0123\n4\n" {
		t.Errorf("%q", got)
	}
}

func TestResizeCutsOrExtendsTheAlternateScreen(t *testing.T) {
	v := New(10, 3, Options{ScrollbackLines: 10})
	v.Feed([]byte("0123456789abc\x1b[?1049h\x1b[3;8Halt"), nil)
	v.Resize(5, 2)
	x, y, _ := v.Cursor()
	if got := string(v.AppendText(nil, false)); got != "\n\n" || x != 4 || y != 1 {
		t.Errorf("%q, cursor %d,%d", got, x, y)
	}
	v.Feed([]byte("\x1b[?1049l!"), nil)
	if got := string(v.AppendHistoryText(nil)); got != "0123456789abc!\n" {
		t.Errorf("main screen %q", got)
	}
}

// No resize loses or changes text, wherever its lines break on the way.
func TestResizeKeepsText(t *testing.T) {
	for seed := range uint64(500) {
		g := newGenerator(seed, false)
		v := New(g.cols, g.rows, Options{ScrollbackLines: 100_000})
		var b strings.Builder
		for i := range 30 {
			fmt.Fprintf(&b, "%d", i)
			for range g.IntN(12) {
				b.WriteString(strings.TrimSpace(g.pick(genTexts)))
				if g.cols > 4 {
					b.WriteString(g.pick(genClusters))
				}
				b.WriteString(g.sgr())
			}
			b.WriteString("\x1b[m\r\n")
		}
		v.Feed([]byte(b.String()), nil)
		want := string(v.AppendHistoryText(nil))
		for range 8 {
			cols, rows := 2+g.IntN(50), 1+g.IntN(12)
			v.Resize(cols, rows)
			checkGrid(t, v)
			if got := string(v.AppendHistoryText(nil)); got != want {
				t.Fatalf("seed %d at %d by %d:\n%q\nwant\n%q", seed, cols, rows, got, want)
			}
		}
	}
}
