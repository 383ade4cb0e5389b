package history_test

import (
	"strings"
	"testing"
	"time"

	"termhost/ahp/history"
)

// What a terminal has shown is what was seen: frames (mode 2026) when they were complete, or after
// a second.
func TestFramesAreShownWhenTheyWereComplete(t *testing.T) {
	w := newWritten(t, 1, 1<<20)
	w.at = time.Now().Add(-time.Hour)
	w.checkpoint()
	for _, piece := range []struct {
		text string
		took time.Duration
	}{
		{"before", 0}, {"\x1b[?2026h\r\x1b[Khalf", 0}, {"\r\x1b[Kwhole\x1b[?2026l", time.Second / 2},
		{"\x1b[?2026h\r\x1b[Khang", 0}, {"s", time.Second},
		{"\x1b[?2026l\x1b[?2026h\r\x1b[Kends here", 0},
	} {
		w.at = w.at.Add(piece.took)
		w.print([]byte(piece.text))
	}
	log := w.history(nil)
	items, places := itemsOf(t, log)
	shows := func(until *history.Place, want string) {
		t.Helper()
		s, err := log.Show(&work{}, until, 0, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if got := string(s.Redraw()); !strings.Contains(got, want) {
			t.Errorf("%q is drawn, without %q", got, want)
		}
	}
	first := len(items) - 6
	for i, want := range []string{"before", "before", "whole", "whole", "hangs", "hangs"} {
		shows(&places[first+i], want)
	}
	shows(nil, "ends here") // that was long ago
}
