package vt

import (
	"fmt"
	"strings"
	"testing"
)

// guessAt returns a guess at the cursor of a screen whose Spot is ok.
func guessAt(g *generator, s *Screen, x, y int) Guess {
	guess := Guess{X: x, Y: y, Cursor: x}
	for guess.End() < min(x+8, g.cols-1) && s.Char(guess.End(), y) != 0 {
		guess.Text = append(guess.Text, []rune("aü ~\x00")[g.IntN(5)])
		guess.Cursor = guess.End()
		if g.IntN(4) == 0 {
			break
		}
	}
	return guess
}

// What was guessed and drawn is taken away without a trace: the output goes on as if it had never
// been there, whatever the program has set.
func TestAGuessIsTakenAwayExactly(t *testing.T) {
	drawn := 0
	for seed := range uint64(300) {
		g := newGenerator(seed, false)
		s := New(g.cols, g.rows, Options{ScrollbackLines: 50})
		viewer := New(g.cols, g.rows, Options{ScrollbackLines: 50})
		for round := range 6 {
			in := "\x1b[m" + g.output(1+g.IntN(30)) // REP and clusters do not reach back over it
			var rec recorder
			s.Feed([]byte(in), &rec)
			s.Flush(&rec)
			viewer.Feed([]byte(rec.data.String()), nil)
			x, y, ok := s.Spot()
			if !ok {
				continue
			}
			guess := guessAt(g, s, x, y)
			before := viewer.Scrolled()
			drawing := s.AppendGuess(nil, guess)
			viewer.Feed(drawing, nil)
			what := fmt.Sprintf("seed %d round %d, after %q, %+v by %q", seed, round, in, guess, drawing)
			if cx, cy, _ := viewer.Cursor(); cx != guess.Cursor || cy != y {
				t.Fatalf("%s: the cursor is in %d,%d", what, cx, cy)
			}
			for i, r := range guess.Text {
				if r == 0 {
					r = ' '
				}
				if got := viewer.Char(x+i, y); got != r {
					t.Fatalf("%s: cell %d is %q", what, i, got)
				}
				drawn++
			}
			back := s.AppendGuessAway(nil, guess)
			viewer.Feed(back, nil)
			if !sameState(t, viewer, s, fmt.Sprintf("%s, back %q", what, back)) {
				return
			}
			if n := viewer.Scrolled() - before; n > 0 {
				t.Fatalf("%s: %d lines scrolled", what, n)
			}
		}
	}
	if drawn < 300 {
		t.Errorf("only %d cells were guessed", drawn)
	}
}

// A guess is underlined, but for what it erases, and on the background that the program has drawn.
func TestAGuessIsUnderlined(t *testing.T) {
	s := New(20, 3, Options{})
	s.Feed([]byte("\x1b[44m$ x\x1b[K\b"), nil)
	x, y, ok := s.Spot()
	if x != 2 || y != 0 || !ok {
		t.Fatal(x, y, ok)
	}
	viewer := New(20, 3, Options{})
	viewer.Feed(s.AppendGuess(nil, Guess{X: 2, Text: []rune("l\x00"), Cursor: 3}), nil)
	got := string(viewer.AppendText(nil, true))
	if !strings.Contains(got, "\x1b[0;4;44ml\x1b[0;44m ") {
		t.Errorf("%q", got)
	}
}

// Where the next character would not be exactly in the cursor's cell, or not in every terminal,
// nothing is guessed.
func TestWhereNothingIsGuessed(t *testing.T) {
	for what, c := range map[string]struct {
		out string
		ok  bool
	}{
		"a prompt":               {"$ ", true},
		"the empty screen":       {"", true},
		"a wide character":       {"\u6f22 ", true},
		"the last column":        {"1234567890123456789", false},
		"a line that wraps":      {"12345678901234567890", false},
		"the next line":          {"123456789012345678901", true},
		"a sequence":             {"$ \x1b[3", false},
		"a title":                {"$ \x1b]0;x", false},
		"half a character":       {"$ \xc3", false},
		"a frame":                {"$ \x1b[?2026h", false},
		"after a frame":          {"$ \x1b[?2026h\x1b[?2026l", true},
		"no cursor":              {"$ \x1b[?25l", false},
		"insert mode":            {"$ \x1b[4h", false},
		"line drawing":           {"$ \x1b(0", false},
		"invisible text":         {"$ \x1b[8m", false},
		"a disputed character":   {"\u231a\ufe0e$ ", false},
		"behind it, in a line":   {"\u231a\ufe0e$ \r\nx", true},
		"before it, in a line":   {"\u231a\ufe0e$ \r", true},
		"an icon of a prompt":    {"\U000f0001 $ ", false},
		"a letter with an acute": {"e\u0301 ", false},
	} {
		s := New(20, 3, Options{})
		s.Feed([]byte(c.out), nil)
		if _, _, ok := s.Spot(); ok != c.ok {
			t.Errorf("%s: %v", what, ok)
		}
	}
}

// Char returns characters of one cell only.
func TestTheCharactersOfCells(t *testing.T) {
	s := New(10, 2, Options{})
	s.Feed([]byte("a\u00fc\u6f22e\u0301 b"), nil)
	want := []rune{'a', '\u00fc', 0, 0, 0, ' ', 'b', ' ', ' ', ' ', 0}
	for x, r := range want {
		if got := s.Char(x, 0); got != r {
			t.Errorf("%d: %q, want %q", x, got, r)
		}
	}
	if s.Char(3, 1) != ' ' || s.Char(0, 2) != 0 || s.Char(-1, 0) != 0 {
		t.Error("beyond it")
	}
}
