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
