package visible_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"termhost/ahp/visible"
)

func TestAModelReadsWhatPeopleSee(t *testing.T) {
	t.Parallel()
	hello := strings.Map(func(r rune) rune { return r - 'a' + 0xe0151 }, "hello")
	for text, want := range map[string]string{
		"plain [ok]\tx ~":                        "plain [ok]\tx ~",
		"a\x00\x1b[31m\x7f\u009b\r\nb":           "a[31mb",
		"a\u2028\u2029\u0085b":                   "ab",
		"a\xffb\xc3":                             "a\ufffdb\ufffd",
		"\u202eevil\u202c \u2066x\u2069":         "evil x",
		"a\u200bb\u2060c\ufeffd\u00ade":          "abcde",
		"a\u034f\u115f\u1160\u3164\uffa0\u17b4b": "ab",
		"\u2065\ufff0\U000e0000\U000e0041x":      "x",
		"[" + strings.Repeat("\ufe0f", 200):      "[",
		"x" + hello + "y":                        "xy",
		"葛" + hello + "飾":                        "葛" + hello[:4] + "飾", // one chooses a variant
		"h\ufe00e\ufe01l\ufe0el\ufe0fo":          "hello",
		"1\ufe0f2\ufe0e #\ufe0f":                 "12 #",
		"1\ufe0f\u20e3 ❤\ufe0f ☎\ufe0e":          "1\ufe0f\u20e3 ❤\ufe0f ☎\ufe0e",
		"❤\ufe0f\ufe0f ❤\u200b\ufe0f":            "❤\ufe0f ❤",
		"≨\ufe00 ᠠ\u180b a\u180b":                "≨\ufe00 ᠠ\u180b a",
		"👩\u200d💻 👩🏽\u200d🚀 ❤\ufe0f\u200d🔥":      "👩\u200d💻 👩🏽\u200d🚀 ❤\ufe0f\u200d🔥",
		"👩\u200d 💻 👩\u200d\u200d💻 👩\u200c💻":      "👩 💻 👩💻 👩💻",
		"می\u200cخواهم क्\u200dष":                "می\u200cخواهم क्\u200dष",
		"می\u200c\u200cخ می\u200c خ\u200d":       "میخ می خ",
		"a\u200db\u200cc 日\u200d本":               "abc 日本",
		"\u200dअ\u200c":                          "अ",
		"e\u0301 ที่นี่":                         "e\u0301 ที่นี่",
		"🏴\U000e0067\U000e0062\U000e007f":        "🏴",
	} {
		if got := visible.Clean(text); got != want {
			t.Errorf("%q is read as %q, want %q", text, got, want)
		}
	}
}

func TestOutputIsCleanedBetweenItsControlCharacters(t *testing.T) {
	t.Parallel()
	hello := strings.Map(func(r rune) rune { return r - 'a' + 0xe0151 }, "hello")
	for text, want := range map[string]string{
		"":                            "",
		"plain\r\n":                   "plain\r\n",
		"\x1b[31mred\x1b[m\r\x00\x7f": "\x1b[31mred\x1b[m\r\x00\x7f",
		"x" + hello + "\x1b[1m\u202ey\n\n\u200bz\xff\n": "x\x1b[1my\n\nz\ufffd\n",
	} {
		if got := visible.CleanOutput(text); got != want {
			t.Errorf("%q is read as %q, want %q", text, got, want)
		}
	}
}

// ignorable reports whether a character has the property Default_Ignorable_Code_Point, as
// DerivedCoreProperties.txt of Unicode derives it.
func ignorable(r rune) bool {
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Cf,
		unicode.Variation_Selector) && !unicode.In(r, unicode.White_Space,
		unicode.Prepended_Concatenation_Mark) &&
		(r < 0xfff9 || r > 0xfffb) && (r < 0x13430 || r > 0x13440)
}

func FuzzNothingIsHiddenFromPeople(f *testing.F) {
	for _, text := range []string{
		"plain", "❤\ufe0f\u200d🔥", "می\u200cخواهم", "a\u200d\ufe0f\U000e0141b", "\xff\u200d\xff", "1\ufe0f\u20e3",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := visible.Clean(text)
		if visible.Clean(got) != got || !utf8.ValidString(got) {
			t.Errorf("%q is read as %q, and then as %q", text, got, visible.Clean(got))
		}
		runes := []rune(got)
		for i, r := range runes {
			if unicode.IsControl(r) && r != '\t' {
				t.Errorf("%U is in %q", r, got)
			}
			if !ignorable(r) {
				continue
			}
			selects := unicode.Is(unicode.Variation_Selector, r)
			joiner := r == 0x200c || r == 0x200d
			switch {
			case !selects && !joiner, i == 0, joiner && i == len(runes)-1:
				t.Errorf("%U is in %q", r, got)
			case selects && (ignorable(runes[i-1]) || unicode.In(runes[i-1], unicode.M, unicode.Z)),
				joiner && !unicode.In(runes[i+1], unicode.L, unicode.So, unicode.Sm, unicode.Cn, unicode.Po):
				t.Errorf("%U behind %U is in %q", r, runes[i-1], got)
			}
		}
	})
}
