package vt

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// framed returns a screen that hides frames.
func framed() *Screen {
	return New(20, 5, Options{ScrollbackLines: 50, HideFrames: true})
}

// A frame is shown when it is complete, wherever the output is cut.
func TestAFrameIsNeverShownHalfDrawn(t *testing.T) {
	const before, begin = "one\r\ntwo\r\n\x1b[31mthree", "\x1b[?2026h"
	const drawing, end = "\x1b[2J\x1b[H\x1b[32mnew\r\nscreen\r\n\r\n\r\n\r\n\r\nlast", "\x1b[?2026l"
	frame := begin + drawing + end
	for cut := range len(frame) {
		s, whole := framed(), framed()
		s.Feed([]byte(before), nil)
		was := string(s.AppendText(nil, true))
		x, y := s.ShownCursor()
		var p Picture
		s.AppendOver(nil, 10, 3, Covered{}, &p)
		still := Redraw{Scrollback: -1, Still: true}
		wasDrawn := string(s.AppendRedraw(nil, still))

		s.Feed([]byte(frame[:cut]), nil)
		if got := string(s.AppendText(nil, true)); got != was {
			t.Fatalf("after %q the screen is shown as\n%s\nand not as it was before\n%s",
				frame[:cut], got, was)
		}
		if cx, cy := s.ShownCursor(); cx != x || cy != y {
			t.Fatalf("after %q the cursor is shown at %d,%d, not %d,%d", frame[:cut], cx, cy, x, y)
		}
		if got := s.AppendOver(nil, 10, 3, Covered{}, &p); len(got) > 0 {
			t.Fatalf("after %q a viewer of another size is drawn %q", frame[:cut], got)
		}
		got := string(s.AppendRedraw(nil, still))
		if got = strings.TrimSuffix(got, string(s.parser.given())); got != wasDrawn {
			t.Fatalf("after %q it is drawn anew as\n%q\nnot\n%q", frame[:cut], got, wasDrawn)
		}

		s.Feed([]byte(frame[cut:]), nil)
		whole.Feed([]byte(before+drawing), nil)
		is, want := string(s.AppendText(nil, true)), string(whole.AppendText(nil, true))
		if is != want {
			t.Fatalf("cut after %q the complete frame is\n%s\nand not\n%s", frame[:cut], is, want)
		}
	}
}

func TestTheFrameBeforeIsShownWhileTheNextIsDrawn(t *testing.T) {
	s := framed()
	for i := range 5 { // in one chunk the end of one frame and the beginning of the next
		s.Feed(fmt.Appendf(nil, "%d\x1b[?2026l\x1b[?2026h\x1b[2J\x1b[Hframe ", i), nil)
		want := fmt.Sprintf("frame %d", i)
		if i == 0 {
			want = "0"
		}
		if got := strings.TrimSpace(string(s.AppendText(nil, false))); got != want {
			t.Errorf("%q is shown, not %q", got, want)
		}
	}
}

func TestAFrameThatIsNotCompletedIsShownAtItsEnd(t *testing.T) {
	for _, end := range []string{"", "\x1bc"} { // the end of its time, RIS
		s := framed()
		s.Tick(time.Unix(1, 0), nil)
		s.Feed([]byte("before\x1b[?2026h\r\x1b[Khalf"), nil)
		hidden := !s.Due().IsZero()
		if s.Feed([]byte(end), nil); end == "" {
			s.Tick(s.Due().Add(-1), nil)
			hidden = hidden && !s.Due().IsZero() && s.Tick(s.Due(), nil)
		}
		want := map[string]string{"": "half", "\x1bc": ""}[end]
		if got := strings.TrimSpace(string(s.AppendText(nil, false))); !hidden || got != want {
			t.Errorf("after %q %q is shown, not %q; hidden before: %v", end, got, want, hidden)
		}
		if !s.Due().IsZero() || s.model.modeState(2026, true) != 2 {
			t.Error("the frame goes on")
		}
	}
}

// What a frame does to the tables that cells refer to does not show.
func TestAHiddenFrameDoesNotChangeWhatIsShown(t *testing.T) {
	s := framed()
	s.Feed([]byte("\x1b]8;;http://a/\x1b\\\x1b[38;2;1;2;3mlinked\x1b]8;;\x1b\\ "+
		"e\u0301\u0302 \x1b[45mx"), nil)
	want := string(s.AppendText(nil, true))
	c := s.Clone()
	for _, s := range []*Screen{s, c} {
		s.Feed([]byte("\x1b[?2026h\x1b[2J\x1b[H"), nil)
		for i := range 3 * minStyles {
			s.Feed(fmt.Appendf(nil, "\x1b[H\x1b]8;;http://%d/%0999d\x1b\\\x1b[38;2;7;%d;%dma\u0301%c", i, i,
				i/250, i%250, 0x300+i%100), nil)
		}
		if s.model.table.sweeps == s.frame.before.table.sweeps {
			t.Fatal("nothing was swept")
		}
		if got := string(s.AppendText(nil, true)); got != want {
			t.Errorf("%q is shown, not %q", got, want)
		}
		s = s.Clone()
		s.Resize(30, 4)
		if got := s.AppendText(nil, true); strings.TrimSpace(string(got)) != strings.TrimSpace(want) {
			t.Errorf("resized, %q is shown, not %q", got, want)
		}
	}
}

// A viewer that gets the output as it is sees nothing of a frame either: its terminal hides it.
func TestALiveRedrawLeavesAFrameToItsEnd(t *testing.T) {
	s := framed()
	s.Feed([]byte("before\x1b[?2026h\x1b[2J\x1b[Hha"), nil)
	live := framed()
	live.Feed(s.AppendRedraw(nil, Redraw{Live: true}), nil)
	if live.Due().IsZero() {
		t.Error("the redraw ends the program's frame")
	}
	live.Feed([]byte("lf\x1b[?2026l"), nil)
	if got := strings.TrimSpace(string(live.AppendText(nil, false))); got != "half" {
		t.Errorf("the viewer sees %q", got)
	}
	done := framed()
	done.Feed(s.AppendRedraw(nil, Redraw{}), nil)
	if done.model.modes.has(modeSync) {
		t.Error("a redraw that nothing follows leaves the terminal in a frame")
	}
}
