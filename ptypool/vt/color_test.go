package vt

import "testing"

// What a redraw leaves out of the theme's reports, AppendReports has.
func TestReportsOfTheThemeGoOnInANewScreen(t *testing.T) {
	for in, want := range map[string]string{
		"":                          "",
		"\x1b[?2031h":               "\x1b[?997;2n",
		"\x1b[?2031h\x1b[?2031l":    "",
		"\x1b[?2031h\x1bc":          "",
		"\x1b[?2031h\x1b]11;#fff\a": "\x1b[?997;2n",
	} {
		was, v := newTest(), newTest()
		was.Feed([]byte(in), nil)
		v.Feed(was.AppendReports(was.AppendRedraw(nil, Redraw{})), nil)
		if got := v.SetTheme(0, 0xffffff, 0); got != want {
			t.Errorf("after %q light is reported as %q, want %q", in, got, want)
		}
		if got := v.SetTheme(0, 0xfffff0, 0); got != "" {
			t.Errorf("after %q another light theme is reported as %q", in, got)
		}
	}
}
