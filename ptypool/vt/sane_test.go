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
