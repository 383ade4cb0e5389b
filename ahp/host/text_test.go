package host_test

import (
	"testing"

	"termhost/ahp/host"
)

func TestWhatIsNotSeenIsNotPrinted(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"adm\u200bin":                        "admin",
		"a\u2028b\u2029c\u0085d":             "abcd",
		"tag\U000e0061\U000e007f\U000e0101.": "tag.",
		"\u202eabc\u2069\u061c":              "abc",
		"\ufeffx\u00ad\u3164\u2060":          "x",
		"⚠\ufe0f é 漢 \xff":                   "⚠\ufe0f é 漢 ",
	} {
		if got := host.Printable(in); got != want {
			t.Errorf("Printable(%q) is %q, want %q", in, got, want)
		}
	}
}

func TestATitleThatAViewerHasMadeIsNoPrograms(t *testing.T) {
	for title, want := range map[string]string{
		"3 want you · vim":                           "vim",
		"1 wants you · 3 want you · 2 want you · sh": "sh",
		"[0] 0:bash \"12 want you · make\"":          "[0] 0:bash \"make\"",
		"3 want you · ":                              "",
		"3 want you":                                 "3 want you",
		"they want you · or not":                     "they want you · or not",
	} {
		if got := host.CleanTitle(title); got != want {
			t.Errorf("%q is %q, want %q", title, got, want)
		}
	}
	for n := range 13 {
		if got := host.CleanTitle(host.WantTitle(n) + "x"); got != "x" {
			t.Errorf("%d: %q", n, got)
		}
	}
}
