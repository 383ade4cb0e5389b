package vt

import (
	"strings"
	"testing"
)

func TestProgressIsWhatTheProgramHasSaidLast(t *testing.T) {
	for in, want := range map[string]Progress{
		"":                                   {},
		"\x1b]9;4;1;42\a":                    {ProgressNormal, 42},
		"\x1b]9;4;1;\x1b\\":                  {ProgressNormal, 0},
		"\x1b]9;4;1;700\a":                   {ProgressNormal, 100},
		"\x1b]9;4;1;42\a\x1b]9;4;2\a":        {ProgressError, 42},
		"\x1b]9;4;1;42\a\x1b]9;4;4;50\a":     {ProgressPaused, 50},
		"\x1b]9;4;1;42\a\x1b]9;4;3;7;\a":     {ProgressIndeterminate, 0},
		"\x1b]9;4;1;42\a\x1b]9;4;0;\a":       {},
		"\x1b]9;4;1;42\a\x1b]9;4;5\a":        {ProgressNormal, 42}, // what is none says nothing
		"\x1b]9;4;1;42\a\x1b]9;4;1;x\a":      {ProgressNormal, 42},
		"\x1b]9;4;1;42\a\x1b]9;4\a\x1b]9;4;": {ProgressNormal, 42},
	} {
		v := newTest()
		v.Feed([]byte(in), nil)
		if got := v.Progress(); got != want {
			t.Errorf("after %q it is %v, want %v", in, got, want)
		}
	}
}

// A program that is killed does not take its progress back. The viewers' terminals would show it
// for good.
func TestProgressIsGoneWithItsProgram(t *testing.T) {
	const set, over = "\x1b]9;4;1;42\a", "\x1b]9;4;0\x1b\\"
	for in, want := range map[string]string{
		"\x1b]633;C;n0nce\a" + set + "^C\x1b]633;D;130;n0nce\a$ ": set + "^C" + over + "$ ",
		"\x1b]633;C;n0nce\a" + set + "^C\x1b]633;A;n0nce\a$ ":     set + "^C" + over + "$ ",
		"\x1b]633;C;n0nce\a" + set + "^C\x1b]633;C;n0nce\a":       set + "^C" + over,
		set + "\x1bcx": set + over + "\x1bc\x1b[?2027lx",
		// A prompt may show some, and no program can forge the end of another.
		"\x1b]633;D;1;n0nce\a" + set + "\x1b]633;A;n0nce\a$ ": set + "$ ",
		"\x1b]633;C;n0nce\a" + set + "\x1b]633;D\a":           set,
	} {
		var r recorder
		v := newTest()
		v.Feed([]byte(in), &r)
		if got := r.data.String(); got != want {
			t.Errorf("%q: viewers get %q, want %q", in, got, want)
		}
		gone := strings.Contains(want, over)
		if got := v.Progress() == (Progress{}); got != gone {
			t.Errorf("%q: it is gone: %v, want %v", in, got, gone)
		}
		r.data.Reset()
		v.EndProgress(&r)
		if got := r.data.String(); v.Progress() != (Progress{}) || gone != (got == "") {
			t.Errorf("%q: at the program's end viewers get %q", in, got)
		}
	}
}

func TestARedrawShowsTheProgressAndAnOverlayItsChanges(t *testing.T) {
	draws := map[string]func(v *Screen, p *Picture) []byte{
		"exact":     func(v *Screen, _ *Picture) []byte { return v.AppendRedraw(nil, Redraw{}) },
		"other":     func(v *Screen, _ *Picture) []byte { return v.AppendRedraw(nil, Redraw{Cols: 9, Rows: 3}) },
		"alternate": func(v *Screen, _ *Picture) []byte { return v.AppendAlternate(nil) },
		"over":      func(v *Screen, p *Picture) []byte { return v.AppendOver(nil, 20, 5, Covered{Last: 1}, p) },
	}
	for name, draw := range draws {
		v, p := newTest(), &Picture{}
		shows := func(in string, want int, sequence string) {
			t.Helper()
			v.Feed([]byte(in), nil)
			drawn := string(draw(v, p))
			if n := strings.Count(drawn, sequence); n != want {
				t.Errorf("%s: after %q it has %q %d times, want %d: %q", name, in, sequence, n, want, drawn)
			}
		}
		shows("text", 0, "\x1b]9;4")
		shows("\x1b]9;4;1;42\a", 1, "\x1b]9;4;1;42\x1b\\")
		again := 1
		if name == "over" {
			again = 0
		}
		shows("more", again, "\x1b]9;4;1;42\x1b\\")
		shows("\x1b]9;4;0\a", 1, "\x1b]9;4;0\x1b\\")
	}
	was, v := newTest(), newTest()
	was.Feed([]byte("\x1b]9;4;4;7\a"), nil)
	v.Feed(was.AppendRedraw(nil, Redraw{}), nil)
	if got := v.Progress(); got != was.Progress() {
		t.Errorf("a screen made of a redraw has %v, not %v", got, was.Progress())
	}
}
