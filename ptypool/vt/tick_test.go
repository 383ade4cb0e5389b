package vt

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// halfStrings are the beginnings of strings whose ends are missing.
var halfStrings = []string{"\x1b]0;half a title", "\x1b]", "\x1bPhalf", "\x1bP$q", "\x1b_half",
	"\x1b_Gi=1;", "\x1bXhalf", "\x1b^half", "\u009d0;half", "\u0090half", "\x1b]0;half\x1b",
	"\x1b]52;c;aGFsZg", "\x1b]1337;File=inline=1:aGFsZg", "\x1bP0;1q#0"}

// text returns what a screen shows.
func text(s *Screen) string { return strings.TrimSpace(string(s.AppendText(nil, false))) }

// As in tmux, a string ends after five seconds, and what comes then is shown.
func TestAnUnendedStringEndsAfterFiveSeconds(t *testing.T) {
	for _, half := range halfStrings {
		for _, flushed := range []bool{false, true} {
			var r recorder
			s := New(40, 5, Options{Pictures: true})
			now := time.Unix(100, 0)
			s.Tick(now, &r)
			s.Feed([]byte("before\r\n"), &r)
			if flushed && half[0] == esc { // viewers have that
				s.Feed([]byte(half[:1]), &r)
				s.Flush(&r)
				s.Feed([]byte(half[1:]), &r)
			} else {
				s.Feed([]byte(half), &r)
			}
			if want := now.Add(5 * time.Second); !s.Due().Equal(want) {
				t.Errorf("%q is due at %v, not %v", half, s.Due(), want)
			}
			s.Tick(now.Add(5*time.Second-1), &r)
			if !s.InSequence() {
				t.Errorf("%q has ended too early", half)
			}
			s.Tick(now.Add(5*time.Second), &r)
			s.Feed([]byte("after"), &r)
			viewer := New(40, 5, Options{})
			viewer.Feed([]byte(r.data.String()), nil)
			if text(s) != "before\nafter" || text(viewer) != "before\nafter" {
				t.Errorf("%q: the screen has %q, the viewer %q", half, text(s), text(viewer))
			}
			if s.Title() != "" || !s.Due().IsZero() {
				t.Errorf("%q: title %q, due %v", half, s.Title(), s.Due())
			}
		}
	}
}

// A program that prints on does not put the end off; a picture or a clipboard that comes slowly
// does.
func TestOnlyLongStringsMayComeSlowly(t *testing.T) {
	for _, half := range halfStrings {
		s := New(40, 5, Options{Pictures: true})
		now := time.Unix(100, 0)
		for i := range 6 {
			s.Tick(now.Add(time.Duration(i)*time.Second), nil)
			s.Feed([]byte(half[:max(0, len(half)*(1-i))]), nil)
			s.Feed([]byte("A"), nil)
		}
		slow := mayBeLong([]byte(half))
		if s.InSequence() != slow {
			t.Errorf("after %q and five slow pieces, in a string: %v", half, s.InSequence())
		}
	}
}

// A string of 64 KiB ends with the line: what comes then is shown, however the output is cut.
func TestAnUnendedStringEndsWithALineAfter64KiB(t *testing.T) {
	flood := strings.Repeat("a line of text\r\n", 64<<10/16+2)
	for _, half := range halfStrings {
		in := half + flood + "after"
		if half[len(half)-1] == esc {
			continue // it ends with the flood's first character
		}
		for _, chunk := range []int{len(in), 1000, 7} {
			s := New(40, 5, Options{ScrollbackLines: 10_000, Pictures: true})
			var lines Lines
			var found []byte
			for i := 0; i < len(in); i += chunk {
				piece := []byte(in[i:min(len(in), i+chunk)])
				s.Feed(piece, nil)
				found = lines.Append(found, piece)
			}
			slow := mayBeLong([]byte(half))
			if shown := strings.HasSuffix(text(s), "a line of text\nafter"); shown == slow {
				t.Errorf("%q in pieces of %d: the screen has %q", half, chunk, text(s))
			}
			if s.HistoryLines() > 20 {
				t.Errorf("%q has ended %d lines too early", half, s.HistoryLines())
			}
			if got := strings.Contains(string(found), "a line of text\n"); got == slow {
				t.Errorf("%q in pieces of %d: Lines finds %d bytes", half, chunk, len(found))
			}
		}
	}
}

// What tmux -CC says is seen, and it is recognised, wherever the output is cut.
func TestTmuxsControlModeIsSeen(t *testing.T) {
	const in = "$ tmux -CC\r\n" + controlMode + "%begin 1\r\n%exit\r\n\x1b\\done"
	for cut := range len(in) {
		var r recorder
		s := New(40, 10, Options{})
		s.Feed([]byte(in[:cut]), &r)
		s.Feed([]byte(in[cut:]), &r)
		if got, want := text(s), "$ tmux -CC\n%begin 1\n%exit\ndone"; got != want {
			t.Errorf("cut at %d the screen has %q", cut, got)
		}
		if got := fmt.Sprint(r.events); got != "[12:control mode]" {
			t.Errorf("cut at %d: %s", cut, got)
		}
	}
}
