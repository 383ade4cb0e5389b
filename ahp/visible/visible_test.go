package visible_test

import (
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"termhost/ahp"
	"termhost/ahp/visible"
	"termhost/ptypool/vt"
)

// plain returns lines as text, with signs in «».
func plain(lines [][]ahp.AskPart) (list []string) {
	for _, line := range lines {
		var b strings.Builder
		for _, p := range line {
			if p.Sign != "" {
				b.WriteString("«" + p.Sign + "»")
			}
			b.WriteString(p.Text)
		}
		list = append(list, b.String())
	}
	return list
}

func TestWhatIsAskedHidesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text   string
		lines  []string
		hidden int
		does   string
	}{
		{"ls -l\r", []string{"ls -l«^M»"}, 0, ahp.AskRuns},
		{"one\r\ntwo\nthree", []string{"one«^M^J»", "two«^J»", "three"}, 0, ahp.AskRuns},
		{"", []string{""}, 0, ahp.AskTypes},
		{"a\tb\x03\x1b[2J\x7f", []string{"a«^I»b«^C»«^[»[2J«^?»"}, 4, ahp.AskRuns},
		{"HEAD^M", []string{"HEAD^M"}, 0, ahp.AskTypes}, // literally: no character is counted
		{"x\u202ey\u200bz\U000e0041", []string{"x«<U+202E>»y«<U+200B>»z«<U+E0041>»"}, 3,
			ahp.AskTypes},
		{"r\u00a0m\u3000e\u0301\ufe0f\u2028",
			[]string{"r«<U+00A0>»m«<U+3000>»e«<U+0301>»«<U+FE0F>»«<U+2028>»"}, 5, ahp.AskRuns},
		{"\xff\u009b31m\ufffd\xc3", []string{"«<FF>»«<U+009B>»31m«<U+FFFD>»«<C3>»"}, 4, ahp.AskRuns},
		{"müsli 日本", []string{"müsli 日本"}, 0, ahp.AskTypes},
		// What got through somewhere.
		{"echo harmless" + strings.Repeat(" ", 300) + "; touch F\r",
			[]string{"echo harmless«<300 spaces>»; touch F«^M»"}, 1, ahp.AskRuns},
		{"#ls\x01\x0btouch F\r", []string{"#ls«^A»«^K»touch F«^M»"}, 2, ahp.AskRuns},
		{"ls\u3164\u2800x", []string{"ls«<U+3164>»«<U+2800>»x"}, 2, ahp.AskTypes},
		{"a \r b  ", []string{"a«<space>»«^M»", " b«<2 spaces>»"}, 2, ahp.AskRuns},
		{"ls\x0f", []string{"ls«^O»"}, 1, ahp.AskRuns}, // accept-line by another name
		{"ls\x15\x7f", []string{"ls«^U»«^?»"}, 2, ahp.AskTypes},
		{"if x:\n" + strings.Repeat(" ", 16) + "y\n",
			[]string{"if x:«^J»", strings.Repeat(" ", 16) + "y«^J»"}, 0, ahp.AskRuns},
		{"ที่นี่ ไป", []string{"ที่นี่ ไป"}, 0, ahp.AskTypes},
		{"\u0e48x a\u0e48\u0e48\u0e48", []string{"«<U+0E48>»x a\u0e48\u0e48«<U+0E48>»"}, 2, ahp.AskTypes},
		{" \u0e48", []string{" «<U+0E48>»"}, 1, ahp.AskTypes},
		{"a\u2d7fb\U0001d159\U00013441\ufffc", []string{"a«<U+2D7F>»b«<U+1D159>»«<U+13441>»«<U+FFFC>»"},
			4, ahp.AskTypes},
	} {
		lines, hidden := visible.Lines(c.text)
		if got := plain(lines); !slices.Equal(got, c.lines) || hidden != c.hidden {
			t.Errorf("%q is shown as %q with %d hidden", c.text, got, hidden)
		}
		if got := visible.Does(c.text); got != c.does {
			t.Errorf("%q %s something", c.text, got)
		}
	}
}

var (
	spaces = regexp.MustCompile(`^<(?:(\d+) spaces|space)>$`)
	number = regexp.MustCompile(`^<U\+([0-9A-F]{4,})>$`)
)

// read returns what a sign stands for.
func read(t *testing.T, sign string) string {
	t.Helper()
	if m := spaces.FindStringSubmatch(sign); m != nil {
		n, _ := strconv.Atoi(m[1])
		return strings.Repeat(" ", max(n, 1))
	}
	if m := number.FindStringSubmatch(sign); m != nil {
		n, err := strconv.ParseUint(m[1], 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		return string(rune(n))
	}
	if raw, err := hex.DecodeString(strings.Trim(sign, "<>")); err == nil && len(sign) == 4 {
		return string(raw)
	}
	var b strings.Builder
	for i := 1; i < len(sign); i += 2 {
		b.WriteByte(sign[i] ^ 0x40)
	}
	return b.String()
}

// Whatever the text, nothing of it is lost, and nothing of what is shown literally acts or is
// invisible.
func FuzzNothingOfATextIsLost(f *testing.F) {
	for _, text := range []string{"ls\r", "a\r\n\xffb\x1e\x1f^ ", "\u3164 \x1b[200~" +
		strings.Repeat(" ", 40) + "\U000e0041e\u0301"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var again strings.Builder
		lines, _ := visible.Lines(text)
		for _, line := range lines {
			for _, p := range line {
				if (p.Text == "") == (p.Sign == "") {
					t.Errorf("a part is %+v", p)
				}
				again.WriteString(p.Text)
				if p.Sign != "" {
					again.WriteString(read(t, p.Sign))
				}
				for _, r := range p.Text {
					if vt.Invisible(r) || !unicode.IsPrint(r) {
						t.Errorf("%U is shown as itself", r)
					}
				}
				if !utf8.ValidString(p.Text) || strings.Contains(p.Text, strings.Repeat(" ", 17)) {
					t.Errorf("%q is shown as itself", p.Text)
				}
			}
		}
		if again.String() != text {
			t.Errorf("%q reads %q", text, again.String())
		}
	})
}

func TestWhatIsEditedHasNoControlCharactersButTabs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"make deploy\r":                "make deploy",
		"a\tb\x03\x1b[A\u202e\u2800\r": "a\tb[A",
		"one\r\ntwo\rthree\n\n":        "one two three",
		"\xff\u009b":                   "",
	} {
		if got := string(visible.Editable(text)); got != want {
			t.Errorf("%q is typed as %q, want %q", text, got, want)
		}
	}
}
