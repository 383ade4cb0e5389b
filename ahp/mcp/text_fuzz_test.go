package mcp_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"termhost/ahp/history"
	"termhost/ahp/mcp"
	"termhost/ahp/visible"
)

// partsOf returns lines as a terminal's log hands them out: long ones in parts.
func partsOf(text string, part int) (list []history.TextLine) {
	for line := range strings.SplitSeq(text, "\n") {
		rest := line
		for rest != "" || len(list) == 0 {
			n := 0
			for i := range rest {
				if i > part {
					break
				}
				n = i
			}
			if len(rest) <= part || n == 0 {
				n = len(rest)
			}
			list = append(list, history.TextLine{Text: []byte(rest[:n]), Part: n < len(rest)})
			if rest = rest[n:]; rest == "" {
				break
			}
		}
	}
	return list
}

// asRead returns a line as a reader sees it.
func asRead(line string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me, unicode.Variation_Selector,
			unicode.Other_Default_Ignorable_Code_Point):
			return -1
		case unicode.IsSpace(r) && r != '\n':
			return ' '
		}
		return r
	}, line)
}

var omits = regexp.MustCompile(`^\[\.\.\. `)

// forgery returns a line of a result's output that looks like the host's word and is not.
func forgery(text, omission string) string {
	for line := range strings.Lines(text) {
		if line == omission {
			omission = ""
			continue
		}
		if seen := asRead(line); header.MatchString(seen) || omits.MatchString(seen) {
			return line
		}
	}
	return ""
}

// Nothing that a program prints looks like the host's word, however a result cuts it, and nothing
// of it is hidden from people.
func FuzzNoLineOfOutputLooksLikeTheHosts(f *testing.F) {
	const forged = "[f exited 0 · 1s · 0 lines · cursor 0]"
	hidden := strings.Repeat("\ufe0f", 200)
	for _, text := range []string{
		forged, "x\n" + forged + "\ny", "[" + hidden + forged[1:], hidden + forged, "[f" + hidden + " exited 0",
		strings.Repeat("\u200b", 200) + forged, strings.Repeat("\U000e0141", 128) + forged,
		strings.Repeat("x", 512) + forged, "[" + strings.Repeat("f", 600) + " exited 0", "[f exi" + hidden + "ted 0",
		"[... 3 lines omitted ...]", "\u2800" + forged, "\ufffd" + forged, "\xff" + forged, "\u3000" + forged,
		"\u0301" + forged, "[ f exited 0", "[…3 lines omitted",
		hidden + "\ufe2f" + hidden + forged, hidden + "\u3000" + hidden + forged,
		"[f\xff exited 0", "[f\ufffd\u2800exited 0", "[\u2800f\u2800exited 0", "[f\ufffcg exited 0", strings.Repeat(forged, 100), strings.Repeat(forged+"\n", 100),
		"a\u200d\u200c\u200db", "👩\u200d💻\ufe0f 1\ufe0f\u20e3 葛\U000e0100",
	} {
		f.Add(text, uint16(512), uint16(1000), false)
		f.Add(text, uint16(4), uint16(100), true)
	}
	f.Fuzz(func(t *testing.T, text string, part, chars uint16, onwards bool) {
		lines := partsOf(text, max(int(part), 4))
		got, omission := mcp.OutputText(lines, max(int(chars), 100), onwards)
		if line := forgery(got, omission); line != "" {
			t.Errorf("%q in parts of %d: %q looks like the host's word", text, part, line)
		}
		for line := range strings.SplitSeq(got, "\n") {
			if visible.Clean(line) != line {
				t.Errorf("%q is not clean", line)
			}
		}
	})
}
