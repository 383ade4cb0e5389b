package width

import (
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"termhost/ahp/hosttest/slowtest"
)

// libraryWidths prints wcwidth of every character but surrogates in a locale, one digit each, or
// "-" where the library does not know the character.
const libraryWidths = `
import ctypes, sys
libc = ctypes.CDLL(None)
libc.gnu_get_libc_version.restype = libc.setlocale.restype = ctypes.c_char_p
if libc.gnu_get_libc_version() != sys.argv[2].encode():
    sys.exit("another version")
if not libc.setlocale(0, sys.argv[1].encode()):
    sys.exit("no locale")
widths = (libc.wcwidth(r) for r in range(0x110000))
sys.stdout.write("".join("-" if w < 0 else str(w) for w in widths))
`

// libraryVersion is the GNU C library with which the table is compared: each follows the Unicode of
// its time.
const libraryVersion = "2.36"

// The table gives every character the cells that the C library gives it, by which readline measures.
// What that does not know, a newer one may.
func TestEveryCharacterIsAsWideAsTheCLibrarySays(t *testing.T) {
	t.Parallel()
	slowtest.Programs(t, "python3")
	compared := 0
	for _, locale := range []string{"C.UTF-8", "en_US.UTF-8"} {
		widths, err := exec.Command("python3", "-c", libraryWidths, locale,
			libraryVersion).Output()
		if err != nil {
			continue // no such locale, or another library
		}
		compared++
		wrong := 0
		for r, want := range widths {
			c := rune(r)
			if want == '-' || !utf8.ValidRune(c) || Of(c).Cells() == int(want-'0') {
				continue
			}
			if wrong++; wrong < 20 {
				t.Errorf("%s: %U takes %d cells, want %c", locale, c, Of(c).Cells(), want)
			}
		}
	}
	if compared == 0 {
		t.Skip("there is no GNU C library " + libraryVersion + " with a UTF-8 locale")
	}
}

// What a C library of any age says: these characters are those about which terminals disagree.
func TestWhatTerminalsDisagreeAboutIsAsWideAsTheCLibrarySays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"\U0001f1e9": 1, "\u1161": 0, "\u11a8": 0, "\U0001f3fd": 2, "\u200d": 0, "\ufe0f": 0,
		"\u00ad": 1, "\u2e3b": 1, "\u3030": 2, "\u4dc0": 2, "\u09be": 1, "\uff9e": 1, "\U0001f469": 2,
		"❤": 1,
	} {
		if got := Of([]rune(text)[0]).Cells(); got != want {
			t.Errorf("%+q takes %d cells, want %d", text, got, want)
		}
	}
}

// asInUniseg reports whether each character of a text begins a cluster with as many cells as uniseg
// gives it.
func asInUniseg(text string) bool {
	for _, r := range text {
		if Of(r).InCluster() != min(uniseg.StringWidth(string(r)), 2) {
			return false
		}
	}
	return true
}

// samples are some characters of each class, and those with special rules.
var samples = func() []rune {
	all := []rune{textStyle, emojiStyle, '\r', 'a', 'é', '漢', 'ि', '❤', '👩', '🇩'}
	seen := [Classes]int{}
	for r := range utf8.MaxRune {
		if c := Of(r); seen[c] < 3 && utf8.ValidRune(r) && r != '\n' {
			seen[c]++
			all = append(all, r)
		}
	}
	return all
}()

func checkCluster(t *testing.T, text string) {
	t.Helper()
	if strings.Contains(text, "\u00ad") { // a control for Unicode, and a letter in terminals
		return
	}
	if strings.Contains(text, "\r\n") { // one cluster of no cells (GB3), which no caller needs
		return
	}
	cluster, _, cells, _ := uniseg.FirstGraphemeClusterInString(text, -1)
	n, got := Cluster([]byte(text))
	if n != len(cluster) || got != min(cells, 2) && asInUniseg(text) {
		t.Errorf("%+q: %d bytes, %d cells; want %d and %d", text, n, got, len(cluster), cells)
	}
}

// Which characters join which, and how wide that is, is as uniseg has it: of every character
// between two of each class, and of random texts.
func TestClustersAreThoseOfUnicode(t *testing.T) {
	for _, a := range samples {
		for r := range rune(0x20000) {
			if utf8.ValidRune(r) {
				checkCluster(t, string([]rune{a, r}))
			}
		}
		for _, b := range samples {
			for _, c := range samples {
				checkCluster(t, string([]rune{a, b, c}))
			}
		}
		if t.Failed() {
			return
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		text := make([]rune, 1+random.IntN(8))
		for i := range text {
			text[i] = samples[random.IntN(len(samples))]
		}
		checkCluster(t, string(text))
		if t.Failed() {
			return
		}
	}
}

// MayJoin is right whenever it says no.
func TestMayJoinLeavesNothingOut(t *testing.T) {
	for s := range State(States) {
		for last := range Class(Classes) {
			for c := range Class(Classes) {
				after, _ := s.Next(last)
				if _, joins := after.Next(c); joins && !c.MayJoin(last) {
					t.Errorf("in state %d, %d joins %d", s, c, last)
				}
			}
		}
	}
}

func TestTheWidthOfTextIsThatOfItsCharacters(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "漢字": 4, "e\u0301": 1, "👩\u200d👩\u200d👧\u200d👦!": 9, "🇩🇪🇫🇷": 4,
		"❤️": 1, "❤": 1, "नि": 2, "각": 2, "\u1100\u1161\u11a8": 2, "a\tb": 2, "\xff\xff": 2,
	} {
		if got := String(text); got != want {
			t.Errorf("%+q takes %d cells, want %d", text, got, want)
		}
	}
}

func TestCutTextFits(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		end  string
		want string
	}{
		{"abc", 3, "", "abc"},
		{"abcd", 3, "", "abc"},
		{"abcd", 3, "…", "ab…"},
		{"abc", 3, "…", "abc"},
		{"漢字", 3, "", "漢"},
		{"漢字", 3, "…", "漢…"},
		{"a漢字", 3, "…", "a…"},
		{"e\u0301e\u0301", 1, "", "e\u0301"},
		{"👩\u200d👧x", 4, "", "👩\u200d👧"},
		{"👩\u200d👧x", 3, "", ""},
		{"x", 0, "", ""},
		{"x", 0, "…", ""},
		{"", 0, "…", ""},
	} {
		if got := Cut(c.text, c.most, c.end); got != c.want {
			t.Errorf("%q at %d: %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

func BenchmarkOf(b *testing.B) {
	const text = "─│漢字éя👍🏽 \u0301"
	n := 0
	for b.Loop() {
		for _, r := range text {
			n += Of(r).Cells()
		}
	}
	b.ReportMetric(float64(n)/float64(b.N), "cells")
}
