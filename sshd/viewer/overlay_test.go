package viewer

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestALineOfATableIsCutToTheWindow(t *testing.T) {
	o := overlay{table: true, lines: []string{strings.Repeat("long ", 40), "esc \x1b[31m"}}
	o.lines = append(o.lines, "\u754c\u754c\u754c\u754c\u754c\u754c\u754c\u754c\u754c\u754c\u754c")
	got := string(o.appendTo(nil, Window{Cols: 20, Rows: 5}))
	want := overBegin + "\x1b[3;1H " +
		"\x1b[3;1H\x1b[0;7m\x1b[2Klong long long long" +
		"\x1b[4;1H\x1b[0;7m\x1b[2Kesc [31m           " +
		"\x1b[5;1H\x1b[0;7m\x1b[2K\u754c\u754c\u754c\u754c\u754c\u754c\u754c\u754c\u754c " +
		"\x1b[m\x1b8"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestANoticeIsWrappedBetweenItsWords(t *testing.T) {
	const refusal = `termhost: bob has the keyboard; ask with Ctrl-\ a, or an admin can take it`
	for _, c := range []struct {
		text string
		w    Window
		want []string
	}{
		{refusal, Window{Cols: 80, Rows: 24}, []string{refusal}},
		{refusal, Window{Cols: 20, Rows: 24}, []string{"termhost: bob has", "the keyboard; ask", `with Ctrl-\ a, or`,
			"an admin can take", "it"}},
		{refusal, Window{Cols: 20, Rows: 2}, []string{"termhost: bob has", "the keyboard; ask"}},
		{"a very_long_name_without_spaces b", Window{Cols: 11, Rows: 5},
			[]string{"a", "very_long_", "name_witho", "ut_spaces", "b"}},
		{"  d  detach; the terminal goes on", Window{Cols: 22, Rows: 5},
			[]string{"  d  detach; the", "     terminal goes on"}},
		{"e\x1bsc \u754c\u754c\u754c", Window{Cols: 6, Rows: 5}, []string{"esc", "\u754c\u754c", "\u754c"}},
		{"\u754c\u754c", Window{Cols: 2, Rows: 5}, []string{"\u754c\u754c"}}, // no room even for one
		{" \u754c\u754c", Window{Cols: 3, Rows: 5}, []string{" \u754c\u754c"}},
		{"any", Window{Cols: 1, Rows: 5}, []string{"any"}},
		{"", Window{Cols: 20, Rows: 5}, []string{""}},
	} {
		o := overlay{lines: []string{c.text}, lasts: time.Second}
		if got := o.fitted(c.w); !slices.Equal(got, c.want) {
			t.Errorf("%q in %v: %q, want %q", c.text, c.w, got, c.want)
		}
	}
	last := "Any key closes this."
	help := overlay{lines: []string{"one", "two", "three", last}}
	if got := help.fitted(Window{Cols: 18, Rows: 3}); !slices.Equal(got, []string{"one", "Any key closes", "this."}) {
		t.Errorf("help in a low window: %q", got)
	}
}

func TestTheKeysOfThePrefixAreWrappedBetweenThem(t *testing.T) {
	got := string(prefixHelp(0x1c, "bob has the keyboard").appendTo(nil, Window{Cols: 20, Rows: 24}))
	for _, line := range []string{"bob has the        ", "keyboard:  d detach", "c take it          ", "r hand back  a ask ",
		"g guard  n next    ", "l list  Tab last   ", "+ new  [ look back ", "s status  ? help   ", `Ctrl-\ sends it    `} {
		if !strings.Contains(got, "\x1b[2K"+line) {
			t.Errorf("%q is no line of %q", line, got)
		}
	}
}
