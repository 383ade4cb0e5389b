package vt

import (
	"strings"
	"testing"
)

// In mode 2027 clusters take the cells that package width gives them, split or not, and keep their
// text.
func TestCharactersOfAClusterShareACell(t *testing.T) {
	for _, c := range []struct {
		text string
		x    int
	}{
		{"e\u0301", 1}, {"👍🏽", 2}, {"👩\u200d👩\u200d👧\u200d👦", 2}, {"🇩🇪🇫🇷", 4}, {"❤️", 2}, {"❤︎", 1}, {"각", 2},
		{"\u1100\u1161\u11a8", 2}, {"ñ̃̂", 1}, {"🏴󠁧󠁢󠁥󠁮󠁧󠁿", 2}, {"नि", 2}, {"1️⃣", 1}, {"\u0600x", 2}, {"漢\u3099字", 4}, {"각각", 4},
	} {
		for i := range len(c.text) {
			v := New(20, 2, Options{})
			v.Feed([]byte("\x1b[?2027h"+c.text[:i]), nil)
			v.Feed([]byte(c.text[i:]), nil)
			if v.model.cur.x != c.x {
				t.Errorf("%+q: cursor at %d, want %d", c.text, v.model.cur.x, c.x)
			}
			if got := string(v.AppendText(nil, false)); got != c.text+"\n\n" {
				t.Errorf("%+q: text %+q", c.text, got)
			}
		}
	}
}

// A viewer that attaches later, and whose terminal does not know mode 2027, sees the same as one
// that was attached all the time. The cursor's row is aligned instead, because the person types
// there.
func TestClustersSurviveARedrawInATerminalWithoutMode2027(t *testing.T) {
	const family = "👩\u200d👩\u200d👧"
	lines := []string{
		family + " ok", "👍🏽 ok", "a" + family + "b👍🏽c ❤️ d", "👍🏽👍🏽" + family + family,
		family + "      column", "| " + family + "   | end |",
	}
	for _, scrollback := range []int{0, -1} {
		v := New(30, 8, Options{ScrollbackLines: 100})
		v.Feed([]byte("\x1b[?2027h"), nil)
		for _, line := range lines {
			v.Feed([]byte(line+"\r\n"), nil)
			if scrollback != 0 {
				v.Feed([]byte("\x1b[8H\n\x1b[7H"), nil) // it leaves the screen
			}
		}
		drawn := strings.NewReplacer("\x1b[?2027h", "", "\x1b[?2027l", "").Replace(
			string(v.AppendRedraw(nil, Redraw{Scrollback: scrollback})))
		for _, line := range []string{family + " ok", "👍🏽 ok", "b👍🏽c ❤️ d", "👍🏽👍🏽" + family + family} {
			if !strings.Contains(drawn, line) {
				t.Errorf("scrollback %d: %q is not in %q", scrollback, line, drawn)
			}
		}
		late := New(30, 40, Options{})
		late.Feed([]byte(strings.NewReplacer("\x1b[?2027h", "", "\x1b[?2027l", "").Replace(drawn)), nil)
		got := string(late.AppendText(nil, false))
		for _, want := range []string{family + " ok\n", family + "  column\n", "👍🏽👍🏽" + family + family + "\n"} {
			if scrollback == 0 && !strings.Contains(got, want) {
				t.Errorf("late: %q is not in %q", want, got)
			}
		}
	}
	// The same holds in a window of another size.
	v := New(30, 8, Options{})
	v.Feed([]byte("\x1b[?2027h"+family+" ok\r\n"), nil)
	drawn := string(v.AppendRedraw(nil, Redraw{Cols: 25, Rows: 5}))
	late := New(25, 5, Options{})
	late.Feed([]byte(strings.ReplaceAll(drawn, "\x1b[?2027h", "")), nil)
	if got := string(late.AppendText(nil, false)); !strings.HasPrefix(got, family+" ok\n") {
		t.Errorf("clipped: %q", got)
	}
	// A row that would not fit, and the cursor's, are aligned.
	v = New(10, 4, Options{})
	v.Feed([]byte("\x1b[?2027h"+family+"12345678\r\n"+family+" $ "), nil)
	drawn = strings.NewReplacer("\x1b[?2027h", "", "\x1b[?2027l", "").Replace(
		string(v.AppendRedraw(nil, Redraw{})))
	if !strings.Contains(drawn, family+"\x1b[3G12345678") ||
		!strings.Contains(drawn, family+"\x1b[3G $") {
		t.Errorf("not aligned: %q", drawn)
	}
}

// Endless combining characters make neither cells nor tables grow.
func TestClustersAreBounded(t *testing.T) {
	v := New(20, 2, Options{})
	for range 100_000 {
		v.Feed([]byte("\u0301"), nil)
	}
	v.Feed([]byte("x"), nil)
	for range 100_000 {
		v.Feed([]byte("\u0301"), nil)
	}
	if n := len(v.AppendText(nil, false)); n > 100 {
		t.Errorf("%d bytes of text", n)
	}
	var r rune
	for range 300_000 { // a different cluster each, most scrolled away
		r++
		cluster := []rune{'a' + r%26, 0x300 + r%112, 0x300 + r/112%112}
		v.Feed([]byte("\r\n"+string(cluster)), nil)
	}
	if n := len(v.model.table.clusters); n > 2*minClusters {
		t.Errorf("%d clusters kept", n)
	}
}
