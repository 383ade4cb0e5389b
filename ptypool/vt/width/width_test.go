package width

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// The table gives every character the cells that uniseg gives
// it. uniseg has two dashes of three and four cells, which no terminal has.
func TestEveryCharacterIsAsWideAsUnicodeSays(t *testing.T) {
	for r := rune(0); r <= utf8.MaxRune; r++ {
		got, want := Of(r).Cells(), min(uniseg.StringWidth(string(r)), 2)
		if got != want && utf8.ValidRune(r) {
			t.Fatalf("%U takes %d cells, want %d", r, got, want)
		}
	}
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
	if strings.Contains(text, "\r\n") { // one cluster of no cells (GB3), which no caller needs
		return
	}
	cluster, _, cells, _ := uniseg.FirstGraphemeClusterInString(text, -1)
	if n, got := Cluster([]byte(text)); n != len(cluster) || got != min(cells, 2) {
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

func TestTheWidthOfTextIsThatOfItsClusters(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "漢字": 4, "e\u0301": 1, "👩\u200d👩\u200d👧\u200d👦!": 3, "🇩🇪🇫🇷": 4,
		"❤️": 2, "❤": 1, "नि": 2, "각": 2, "\u1100\u1161\u11a8": 2, "a\tb": 2, "\xff\xff": 2,
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
		{"👩\u200d👧x", 2, "", "👩\u200d👧"},
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
