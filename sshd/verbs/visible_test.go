package verbs

import (
	"slices"
	"strings"
	"testing"
)

func TestWhatIsAskedHidesNothing(t *testing.T) {
	for _, c := range []struct {
		text   string
		lines  []string
		hidden int
	}{
		{"ls -l\r", []string{"ls -l^M"}, 0},
		{"one\r\ntwo\nthree", []string{"one^M^J", "two^J", "three"}, 0},
		{"", []string{""}, 0},
		{"a\tb\x03\x1b[2J\x7f", []string{"a^Ib^C^[[2J^?"}, 4},
		{"HEAD^M", []string{"HEAD^M"}, 0}, // literally: no character is counted
		{"x\u202ey\u200bz\U000e0041", []string{"x<U+202E>y<U+200B>z<U+E0041>"}, 3},
		{"r\u00a0m\u3000e\u0301\ufe0f\u2028", []string{"r<U+00A0>m<U+3000>e<U+0301><U+FE0F><U+2028>"}, 5},
		{"\xff\u009b31m\ufffd\xc3", []string{"<FF><U+009B>31m\ufffd<C3>"}, 3},
		{"müsli 日本", []string{"müsli 日本"}, 0},
	} {
		lines, hidden := visible(c.text)
		if !slices.Equal(lines, c.lines) || hidden != c.hidden {
			t.Errorf("%q is shown as %q with %d hidden", c.text, lines, hidden)
		}
	}
}

func TestAContinuedRowDoesNotLookLikeALineOfItsOwn(t *testing.T) {
	lines, _ := visible(strings.Repeat("x", 8) + "2 rm -rf /\rls\r")
	want := []string{"1 xxxxxxxx", "  2 rm -rf", "   /^M", "2 ls^M"}
	if got := numbered(lines, 10); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := numbered([]string{"日本語"}, 3); len(got) != 3 {
		t.Errorf("in a narrow window: %q", got)
	}
	if got := numbered([]string{"日本語"}, 1); len(got) != 3 {
		t.Errorf("in one of a single column: %q", got)
	}
}

func TestWhatIsEditedHasNoControlCharactersButTabs(t *testing.T) {
	for text, want := range map[string]string{
		"make deploy\r":          "make deploy",
		"a\tb\x03\x1b[A\u202e\r": "a\tb[A",
		"one\r\ntwo\rthree\n\n":  "one two three",
		"\xff\u009b":             "",
	} {
		if got := string(typeable(text)); got != want {
			t.Errorf("%q is typed as %q, want %q", text, got, want)
		}
	}
}
