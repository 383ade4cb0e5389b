package vt

import (
	"fmt"
	"strings"
	"testing"
)

// widths has text with the cells that it takes by wcwidth, and so by readline's count.
var widths = []struct {
	text  string
	cells int
}{
	{"👩\u200d👩\u200d👧", 6}, {"👍🏽", 4}, {"❤️", 1}, {"1️⃣", 1}, {"🇩🇪", 2}, {"\u1100\u1161\u11a8", 2},
	{"a\u1161", 1}, {"e\u0301", 1}, {"नि", 2}, {"\u3030", 2}, {"a\u00adb", 3}, {"x\u09be", 2}, {"\U0001f3fd", 2},
}

// A program that does not set mode 2027, such as readline, has its characters measured one by one.
func TestTheScreenMeasuresLikeWcwidth(t *testing.T) {
	t.Parallel()
	for _, w := range widths {
		v := New(20, 2, Options{})
		v.Feed([]byte(w.text), nil)
		if v.model.cur.x != w.cells {
			t.Errorf("%+q: the cursor is at %d, want %d", w.text, v.model.cur.x, w.cells)
		}
	}
}

// A viewer that comes later, at any size, sees what one has seen that got the output itself, in a
// terminal that measures each character by itself: on the screen, in the scrollback, and in what
// comes back from there and is wrapped anew. Whether the terminal clusters in mode 2027 makes no
// difference.
func TestARedrawHasTheWidthsOfTheLiveOutput(t *testing.T) {
	t.Parallel()
	for _, plain := range []bool{false, true} {
		live := New(12, 4, Options{ScrollbackLines: 100, CharacterWidths: plain})
		v := New(12, 4, Options{ScrollbackLines: 100})
		var out strings.Builder
		for _, w := range widths {
			fmt.Fprintf(&out, "%s|%s%s|\r\n", w.text, strings.Repeat(w.text, 3), "\x1b[31mend\x1b[m")
		}
		for _, screen := range []*Screen{live, v} {
			screen.Feed([]byte(out.String()), nil)
		}
		same := func(what string) {
			late := New(live.model.width, live.model.height(),
				Options{ScrollbackLines: 100, CharacterWidths: plain})
			late.Feed(v.AppendRedraw(nil, Redraw{Scrollback: -1}), nil)
			sameState(t, late, live, what)
			got, want := string(late.AppendHistoryText(nil)), string(live.AppendHistoryText(nil))
			if got != want {
				t.Errorf("%s: the text is\n%s, want\n%s", what, got, want)
			}
		}
		same("at first")
		for _, cols := range []int{7, 30, 12} {
			live.Resize(cols, 20)
			v.Resize(cols, 20)
			same(fmt.Sprintf("at %d columns", cols))
		}
	}
}

// Where the terminal does not know mode 2027, a program that sets it changes nothing, and viewers'
// terminals that know it are not told. When a terminal that does comes, all measure clusters.
func TestClustersAreMeasuredOnlyWhereTheTerminalKnowsTheMode(t *testing.T) {
	t.Parallel()
	const ask, family = "\x1b[?2027$p", "👩\u200d👩\u200d👧"
	v := New(40, 2, Options{CharacterWidths: true})
	step := func(in, reply, data string, x int) {
		t.Helper()
		var r recorder
		v.Feed([]byte(in), &r)
		_, got, _ := strings.Cut(strings.Join(r.events, ", "), ":")
		if reply != "" {
			reply = fmt.Sprintf("reply %q", reply)
		}
		if got != reply || r.data.String() != data || v.model.cur.x != x {
			t.Errorf("%q: the program gets %s, viewers %q, the cursor is at %d; want %s, %q, %d", in, got,
				r.data.String(), v.model.cur.x, reply, data, x)
		}
	}
	tell := func(on bool, want string) {
		t.Helper()
		if got := v.SetClusters(on); got != want {
			t.Errorf("viewers are told %q, want %q", got, want)
		}
	}
	step(ask, "\x1b[?2027;0$y", "", 0)
	step("\x1b[?2027h"+family, "", family, 6)
	tell(true, "\x18\x1b[?2027h")
	tell(true, "")
	step(ask, "\x1b[?2027;1$y", "", 6)
	step(family, "", family, 8)
	step("\x1b[3", "", "", 8)
	v.Flush(Discard{})
	tell(false, "\x18\x1b[?2027l\x1b[3")
	step("1m"+family, "", "1m"+family, 14)
	tell(true, "\x18\x1b[?2027h")
	step("\x1b[?2027l"+ask, "\x1b[?2027;2$y", "\x1b[?2027l", 14)
	tell(false, "")
	drawn := string(v.AppendRedraw(nil, Redraw{}))
	if !strings.Contains(drawn, "\x1b[?2027h"+family+"\x1b[?2027l") {
		t.Errorf("what was one cluster is not drawn as one: %q", drawn)
	}
}

// Terminals that know mode 2027 set it by RIS.
func TestAResetLeavesViewersMeasureCharacters(t *testing.T) {
	t.Parallel()
	var r recorder
	New(20, 2, Options{}).Feed([]byte("\x1bc"), &r)
	if got, want := r.data.String(), "\x1bc\x1b[?2027l"; got != want {
		t.Errorf("viewers get %q, want %q", got, want)
	}
}
