package keyboard

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// keyLog writes down what a Filter finds.
type keyLog struct{ strings.Builder }

func (l *keyLog) Typed(p []byte) { l.Write(p) }
func (l *keyLog) Prefixed()      { l.WriteString("<prefix>") }
func (l *keyLog) Commanded(k rune, form, raw []byte) {
	if k < ' ' {
		fmt.Fprintf(l, "<%d:%q>", k, append(bytes.Clone(form), raw...))
		return
	}
	fmt.Fprintf(l, "<%c>", k)
}

func filterAll(chunks ...string) string {
	f := Filter{Prefix: 0x1c}
	var l keyLog
	for _, c := range chunks {
		f.Feed([]byte(c), &l)
	}
	return l.String()
}

func TestWithoutAPrefixPastesAreStillKnown(t *testing.T) {
	var f Filter
	var l keyLog
	pasting := func(p string) bool {
		f.Feed([]byte(p), &l)
		return f.Pasting()
	}
	for _, p := range []string{"a\x00\x1c\x1b[92;5u\x1bz", "\x1b[20"} {
		if pasting(p) {
			t.Errorf("%q is no paste", p)
		}
	}
	if !pasting("0~pasted") || pasting("\x1b[201~typed") {
		t.Error("a paste begins or ends in the wrong place")
	}
	if got, want := l.String(), "a\x00\x1c\x1b[92;5u\x1bz\x1b[200~pasted\x1b[201~typed"; got != want {
		t.Errorf("passed on %q, want %q", got, want)
	}
}

func TestEscapeCanBeApartFromWhatFollows(t *testing.T) {
	f := Filter{Prefix: 0x1c, NoAlt: func() bool { return true }}
	var l keyLog
	f.Feed([]byte("\x1b\x1cd\x1bx\x1b[A\x1bOA\x1b\x1b[B"), &l)
	if got, want := l.String(), "\x1b<prefix><d>\x1bx\x1b[A\x1bOA\x1b\x1b[B"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func keyCases() map[string]string {
	return map[string]string{
		"plain text":           "plain text",
		"a\x1cdb":              "a<prefix><d>b",
		"\x1c\x1c":             `<prefix><28:"\x1c\x1c">`,
		"\x1c\x1b[A":           `<prefix><0:"\x1c\x1b[A">`,
		"\x1b[92;5ud":          "<prefix><d>",
		"\x1b[92;5u\x1b[92;5u": `<prefix><28:"\x1b[92;5u\x1b[92;5u">`,
		// Modifiers, the mouse and focus are no commands and end no wait for one.
		"\x1b[57442;5u\x1b[92;5u\x1b[92;5:3u\x1b[57442;1:3u\x1b[57441;2u\x1b[100;2u": "\x1b[57442;5u<prefix>\x1b[57442;1:3u\x1b[57441;2u<d>",
		"\x1c\x1b[I\x1b[<35;1;1M\x1b[M !!d":                                          "<prefix>\x1b[I\x1b[<35;1;1M\x1b[M !!<d>",
		"\x1c\x1b[200~a\x1cd\x1b[201~":                                               `<prefix><0:"\x1c\x1b[200~">` + "a\x1cd\x1b[201~",
		"\x1cé":                                                                      "<prefix><é>",
		"\x1b[M\"#$x":                                                                "\x1b[M\"#$x",
		"\x1b[92;5u\x1b[100u":                                                        "<prefix><d>",
		"\x1b[92;69ud":                                                               "<prefix><d>", // caps lock
		"\x1b[92;5:1u\x1b[92;5:3u\x1b[100;1:1u":                                      "<prefix><d>",
		"\x1b[92;5:3u":                                                               "",
		"\x1b[27;5;92~d":                                                             "<prefix><d>",
		// With alt, because of AltGr, and on a keyboard of other letters: a program gets it as it is.
		"\x1b[92;7u\x1b[92;7u":                   `<prefix><28:"\x1b[92;5u\x1b[92;7u">`,
		"\x1b[27;7;92~d":                         "<prefix><d>",
		"\x1b\x1cd":                              "<prefix><d>",
		"\x1b\x1c\x1b\x1c":                       `<prefix><28:"\x1c\x1b\x1c">`,
		"\x1b[1106::92;5u\x1b[1074::100u":        "<prefix><d>",
		"\x1b[1106::92;5u\x1b[1106::92;5u":       `<prefix><28:"\x1b[92;5u\x1b[1106::92;5u">`,
		"\x1b[1106::92;5:3u":                     "",
		"\x1b[42::92;5u":                         "\x1b[42::92;5u", // it has a Latin character of its own
		"\x1b[92;3u":                             "\x1b[92;3u",     // with alt alone it is another key
		"\x1b[92u":                               "\x1b[92u",
		"\x1b[A\x1bOP\x1bx":                      "\x1b[A\x1bOP\x1bx",
		"\x1b[200~a\x1cd\x1b[201~":               "\x1b[200~a\x1cd\x1b[201~",
		"\x1b[200~\x1b[92;5u\x1b[201~\x1cd":      "\x1b[200~\x1b[92;5u\x1b[201~<prefix><d>",
		"\x1b[<0;10;10M":                         "\x1b[<0;10;10M",
		"\x1b[" + strings.Repeat("1", 100) + "u": "\x1b[" + strings.Repeat("1", 100) + "u",
		"\x1b[\x01":                              "\x1b[\x01",
	}
}

func TestKeysAreFound(t *testing.T) {
	for in, want := range keyCases() {
		if got := filterAll(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// A read may end anywhere but within the first two bytes of a sequence, which pass at once so that
// Escape and Alt-[ do.
func TestKeysAreFoundWhereverAReadEnds(t *testing.T) {
	for in, want := range keyCases() {
		for i := range in {
			head := in[:i]
			if strings.HasSuffix(head, "\x1b") || strings.HasSuffix(head, "\x1b[") {
				continue
			}
			if got := filterAll(head, in[i:]); got != want {
				t.Errorf("%q|%q: %q, want %q", head, in[i:], got, want)
			}
		}
	}
}

func FuzzFilter(f *testing.F) {
	for in := range keyCases() {
		f.Add([]byte(in), 3)
	}
	f.Fuzz(func(t *testing.T, in []byte, size int) {
		size = max(1, size%16)
		filter := Filter{Prefix: 0x1c}
		var l keyLog
		for i := 0; i < len(in); i += size {
			filter.Feed(in[i:min(i+size, len(in))], &l)
			if len(filter.held) > maxSequence {
				t.Fatalf("%d bytes are held back", len(filter.held))
			}
		}
		// Without the prefix in any spelling nothing is lost.
		if !strings.ContainsAny(string(in), "\x1c") && !strings.Contains(string(in), "92") {
			if got := l.String() + string(filter.held); got != string(in) {
				t.Fatalf("%q became %q", in, got)
			}
		}
	})
}
