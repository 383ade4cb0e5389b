package vt

import (
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// The class table says of every character what uniseg says.
func TestClassOf(t *testing.T) {
	one := func(s string) bool {
		_, rest, _, _ := uniseg.FirstGraphemeClusterInString(s, -1)
		return rest == ""
	}
	// What stands before a character, by the class that mayJoin is asked about.
	before := map[class][]string{
		classNarrow: {"x", "─"}, classWide: {"漢"}, classMark: {"e\u0301"}, classZWJ: {"👩\u200d", "x\u200d"},
		classPicto: {"❤"}, classPicto2: {"👩"}, classHangul: {"가", "각"}, classFlag: {"🇩"},
	}
	for r := rune(0xa0); r <= utf8.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		c := classOf(r)
		if got, want := c.width(r), min(uniseg.StringWidth(string(r)), 2); got != want {
			t.Fatalf("%U: width %d, want %d", r, got, want)
		}
		if c == classOther {
			continue // uniseg is asked
		}
		for last, texts := range before {
			for _, s := range texts {
				if one(s+string(r)) && !c.mayJoin(last) {
					t.Fatalf("%U (class %d) joins %q (class %d), but is not tried", r, c, s, last)
				}
			}
		}
	}
}

// Clusters take the cells that uniseg gives them, split or not, and keep their text.
func TestClusters(t *testing.T) {
	for _, c := range []struct {
		text string
		x    int
	}{
		{"e\u0301", 1}, {"👍🏽", 2}, {"👩\u200d👩\u200d👧\u200d👦", 2}, {"🇩🇪🇫🇷", 4}, {"❤️", 2}, {"❤︎", 1}, {"각", 2},
		{"\u1100\u1161\u11a8", 2}, {"ñ̃̂", 1}, {"🏴󠁧󠁢󠁥󠁮󠁧󠁿", 2}, {"नि", 2}, {"1️⃣", 1}, {"\u0600x", 2}, {"漢\u3099字", 4}, {"각각", 4},
	} {
		for i := range len(c.text) {
			v := New(20, 2, Options{})
			v.Feed([]byte(c.text[:i]), nil)
			v.Feed([]byte(c.text[i:]), nil)
			if v.cur.x != c.x {
				t.Errorf("%+q: cursor at %d, want %d", c.text, v.cur.x, c.x)
			}
			if got := string(v.AppendText(nil, false)); got != c.text+"\n\n" {
				t.Errorf("%+q: text %+q", c.text, got)
			}
		}
	}
	v := New(20, 2, Options{})
	v.Feed([]byte("\x1b[?2027l👩\u200d👧❤️"), nil)
	if v.cur.x != 5 {
		t.Errorf("without mode 2027: cursor at %d", v.cur.x)
	}
}

// Marks without end make neither cells nor tables grow.
func TestClustersAreBounded(t *testing.T) {
	v := New(20, 2, Options{})
	for range 100_000 {
		v.Feed([]byte("\u0301"), nil)
	}
	v.Feed([]byte("x"), nil)
	for range 100_000 {
		v.Feed([]byte("\u0301"), nil)
	}
	if n := len(v.AppendText(nil, false)); n > 100 {
		t.Errorf("%d bytes of text", n)
	}
	var r rune
	for range 300_000 { // a different cluster each, most scrolled away
		r++
		v.Feed(append([]byte("\r\n"), string([]rune{'a' + r%26, 0x300 + r%112, 0x300 + r/112%112})...), nil)
	}
	if n := len(v.table.clusters); n > 2*minClusters {
		t.Errorf("%d clusters kept", n)
	}
}
