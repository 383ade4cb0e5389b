package vt

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"termhost/ptypool/smalldisk"
)

// everything returns all that can be seen of a Screen, now and after it has grown.
func everything(t *Screen) string {
	r := t.AppendRedraw(nil, Redraw{Scrollback: -1})
	c := t.Clone()
	cols, rows := c.Size()
	c.Resize(cols+20, rows+30)
	return string(c.AppendText(append(r, c.AppendMarks(nil)...), true))
}

// Wherever a Screen is cloned, the clone continues exactly like it, and neither changes the other.
func TestACloneIsEqualAndIndependent(t *testing.T) {
	for seed := range uint64(150) {
		g := newGenerator(seed, false)
		var d smalldisk.Spill
		v := New(g.cols, g.rows, Options{ScrollbackLines: 1 << 20, ScrollbackBytes: 1 << 20})
		in := g.output(5 + g.IntN(120))
		v.Feed([]byte(in[:len(in)-g.IntN(5)]), nil)
		if g.IntN(2) == 0 {
			v.Feed([]byte(strings.Repeat("\x1b[31ma line of a flood\x1b[m\r\n", 3000)), nil)
			if err := v.SpillHistory(d.Save); err != nil {
				t.Fatal(err)
			}
		}
		before := everything(v)
		c := v.Clone()
		if got := everything(c); got != before {
			t.Fatalf("seed %d: the clone is\n%q\nand not\n%q", seed, got, before)
		}
		more := g.output(5 + g.IntN(60))
		var want, is recorder
		v.Feed([]byte(more), &want)
		if got := everything(c); got != before {
			t.Fatalf("seed %d: the clone has changed with what it is of, after %q", seed, more)
		}
		after := everything(v)
		c.Feed([]byte(more), &is)
		if got := everything(c); got != after || is.data.String() != want.data.String() ||
			fmt.Sprint(is.events) != fmt.Sprint(want.events) {
			t.Fatalf("seed %d: after %q the clone is\n%q\nand not\n%q", seed, more, got, after)
		}
		for range 3 { // what pulls lines back, and begins others
			c.Resize(10+g.IntN(60), 5+g.IntN(40))
			c.Feed([]byte("\x1b[2J\x1b[H"+strings.Repeat("another line\r\n", g.IntN(300))), nil)
		}
		if got := everything(v); got != after {
			t.Fatalf("seed %d: what a clone is of has changed with it", seed)
		}
	}
}

// The lines that are counted and looked up by their numbers are those of the whole text.
func TestLinesAreAppendedByTheirNumbers(t *testing.T) {
	for seed := range uint64(100) {
		g := newGenerator(seed, false)
		var d smalldisk.Spill
		v := New(g.cols, g.rows, Options{ScrollbackLines: 1 << 20,
			ScrollbackBytes: 64<<10 + g.IntN(1<<20)})
		for range 4 {
			v.Feed([]byte(g.output(40)), nil)
			v.Feed([]byte(strings.Repeat(g.output(3)+"long enough to be wrapped\r\n", g.IntN(900))), nil)
			if g.IntN(2) == 0 {
				v.Feed([]byte("\x1b[H\x1b[2J"+strings.Repeat("\r\n", g.IntN(400))), nil)
			}
			if g.IntN(2) == 0 {
				if err := v.SpillHistory(d.Save); err != nil {
					t.Fatal(err)
				}
			}
			text := v.AppendHistoryText(nil)
			n := bytes.Count(text, []byte("\n"))
			if got := v.HistoryTextLines(nil); got != n {
				t.Fatalf("seed %d: %d lines, want %d", seed, got, n)
			}
			from := g.IntN(n + 1)
			to := from + g.IntN(50)
			all := bytes.SplitAfter(v.AppendHistoryLines(nil, 0, n), []byte("\n"))
			want := bytes.Join(all[min(from, len(all)):min(to, n, len(all))], nil)
			if got := v.AppendHistoryLines(nil, from, min(to, n)); !bytes.Equal(got, want) {
				t.Fatalf("seed %d: lines %d to %d of %d are\n%q\nand not\n%q", seed, from, to, n, got, want)
			}
		}
	}
}
