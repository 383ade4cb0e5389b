package vt

import (
	"fmt"
	"strings"
	"testing"
)

// Each mode is set as a shell does not expect it, and queried afterwards (DECRQM).
func TestSaneResetsEveryMode(t *testing.T) {
	const set, reset = 1, 2
	for mode, want := range map[int]int{
		1: reset, 5: reset, 6: reset, 7: set, 9: reset, 25: set, 45: reset, 66: reset,
		1000: reset, 1002: reset, 1003: reset, 1004: reset, 1006: reset, 1007: set, 1049: reset,
		2004: reset, 2026: reset, 2027: set,
	} {
		screen := New(80, 24, Options{})
		wrong := 'h'
		if want == set {
			wrong = 'l'
		}
		screen.Feed(fmt.Appendf(nil, "\x1b[?%d%c", mode, wrong), nil)
		screen.Feed([]byte(Sane), nil)
		var r recorder
		screen.Feed(fmt.Appendf(nil, "\x1b[?%d$p", mode), &r)
		want := fmt.Sprintf("reply %q", fmt.Sprintf("\x1b[?%d;%d$y", mode, want))
		if got := strings.Join(r.events, ", "); got != "0:"+want {
			t.Errorf("mode %d: the terminal says %s, want %s", mode, got, want)
		}
	}
}

// What is said over a screen that stays changes no other row, whatever state the terminal is in.
func TestWhatIsSaidOverAStillScreenHasOnlyItsLastRow(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"", "\x1b[2;3r\x1b[?6h", "\x1b[?1049h\x1b[?1000;2004h\x1b[44m", "\x1b[?2026h",
		"\x1b]0;cut", "\x1b(0", "\x1b[>5u\x1b[?1h"} {
		s := New(20, 4, Options{})
		s.Feed([]byte("one\r\ntwo\r\nthree\r\nfour\x1b[2;2H"+state), nil)
		lines := strings.Split(string(s.AppendText(nil, false)), "\n")
		x, y, _ := s.Cursor()
		s.Feed(AppendStill(nil, 20, 4, " lost: Ctrl-C gives up"), nil)
		got := strings.Split(string(s.AppendText(nil, false)), "\n")
		lines[3] = " lost: Ctrl-C give…"
		if strings.Join(got, "|") != strings.Join(lines, "|") {
			t.Errorf("%q: it shows %q, want %q", state, got, lines)
		}
		if gotX, gotY, _ := s.Cursor(); gotX != x || gotY != y {
			t.Errorf("%q: the cursor is at %d,%d, not at %d,%d", state, gotX, gotY, x, y)
		}
	}
}

func TestABlankScreenLeavesNothingInTheScrollback(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"", "\x1b[2;3r\x1b[?6h", "\x1b[?1049halternate", "\x1b[?2026h"} {
		s := New(20, 4, Options{ScrollbackLines: 10})
		s.Feed([]byte("one\r\ntwo\r\nthree\r\nfour"+state), nil)
		s.Feed(AppendBlank(nil, 4), nil)
		x, y, _ := s.Cursor()
		if got := strings.TrimSpace(string(s.AppendHistoryText(nil))); got != "" || x+y > 0 {
			t.Errorf("%q: there is %q, and the cursor at %d,%d", state, got, x, y)
		}
	}
}
