package main

import (
	"fmt"
	"testing"

	"termhost/ptypool/vt"
)

// TestASaneTerminalHasNoModeOfTheProgramLeft sets each mode wrongly, as a program may have done
// when the host is lost, then resets the terminal and asks for the mode (DECRQM).
func TestASaneTerminalHasNoModeOfTheProgramLeft(t *testing.T) {
	const set, reset = 1, 2
	for mode, want := range map[int]int{
		1: reset, 5: reset, 6: reset, 7: set, 9: reset, 25: set, 45: reset, 66: reset,
		1000: reset, 1002: reset, 1003: reset, 1004: reset, 1006: reset, 1007: set, 1049: reset,
		2004: reset, 2026: reset, 2027: set,
	} {
		screen := vt.New(80, 24, vt.Options{})
		wrong := 'h'
		if want == set {
			wrong = 'l'
		}
		screen.Feed(fmt.Appendf(nil, "\x1b[?%d%c", mode, wrong), nil)
		screen.Feed([]byte(vt.Sane), nil)
		var r vtAnswers
		screen.Feed(fmt.Appendf(nil, "\x1b[?%d$p", mode), &r)
		if answer := fmt.Sprintf("\x1b[?%d;%d$y", mode, want); r.text != answer {
			t.Errorf("mode %d: the terminal answers %q, want %q", mode, r.text, answer)
		}
	}
}
