package vt

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func linesOf(pieces ...string) string {
	var l Lines
	var out []byte
	for _, p := range pieces {
		out = l.Append(out, []byte(p))
	}
	return string(l.AppendRest(out))
}

func TestLinesHaveTheTextThatIsShown(t *testing.T) {
	for _, c := range []struct{ out, want string }{
		{"one\r\ntwo\n\r\nfour", "one\ntwo\n\nfour\n"},
		{"\x1b[1;31mred\x1b[m and \x1b]8;;http://x\x1b\\link\x1b]8;;\x07\r\n", "red and link\n"},
		{"10%\r 20%\r100%\r\n", "100%\n"},
		{"long progress\rdone\x1b[K\r\n", "done\n"},
		{"long progress\r\x1b[2Kdone\r\n", "done\n"},
		{"abc\b\bX\r\n", "aXc\n"},
		{"abc\b \b\r\n", "ab\n"},
		{"abc\x1b[2Dd\x1b[P\r\n", "ad\n"},
		{"abc\r\x1b[@x\r\n", "xabc\n"},
		{"a\tb\r\n", "a       b\n"},
		{"a\x1b[10Cb\x1b[3Gc\r\n", "a c        b\n"},
		{"%\x1b[7m \x1b[m          \r \r$ ls\r\n", "$ ls\n"},
		{"日本語\b\bx\r\n", "日本x\n"},
		{"日本\rx\r\n", "x 本\n"},
		{"e\u0301t\u00e9 \U0001f44d\r\n", "e\u0301t\u00e9 \U0001f44d\n"},
		{"a\xffb\r\n", "a\ufffdb\n"},
		{"\u009b1mbold\u009bm\r\n", "bold\n"},
		{"up\r\n\x1b[Aover\r\n", "up\nover\n"},
		{"\x1b[H\x1b[2Jcleared\r\n", "cleared\n"},
		{"$ vi\r\n\x1b[?1049h\x1b[HTEXT\r\nmore\x1b[?1049l$ \r\n", "$ vi\n$\n"},
		{"x\x1b[3b\r\n", "xxxx\n"},
		{"ab\x07c\x00d\x7f\r\n", "abcd\n"},
		{"  blanks around  \r\n", "  blanks around\n"},
		{"\x1bP1;2|qq\x1b\\\x1b_app\x1b\\x\x1b(B\r\n", "x\n"},
		{strings.Repeat("x", 1001) + "\ry\x1b[K\r\n", strings.Repeat("x", 1001) + "\ny\n"},
		{"a\r" + strings.Repeat("x", 1500) + "y\r\n", strings.Repeat("x", 1500) + "y\n"},
		{strings.Repeat("x", 1500) + "\x1b[2Ky\r\n", strings.Repeat("x", 1500) + "\ny\n"},
		{"x\x1b[2Ky\r\n", " y\n"},
		{"no end  ", "no end\n"},
		{"line\r\n   ", "line\n"},
	} {
		if got := linesOf(c.out); got != c.want {
			t.Errorf("%q: %q, want %q", c.out, got, c.want)
		}
		pieces := make([]string, len(c.out))
		for i := range pieces {
			pieces[i] = c.out[i : i+1]
		}
		if got := linesOf(pieces...); got != c.want {
			t.Errorf("%q byte by byte: %q, want %q", c.out, got, c.want)
		}
	}
}

// The text of programs that only print lines is the same as on a screen, however long the lines
// are.
func TestLinesAreTheScreensText(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	words := []string{"error: ", "日本語 ", "\x1b[32mok\x1b[m ", "x", "\ttab", "é", "... ", "12345"}
	for range 200 {
		var out strings.Builder
		for range 1 + r.IntN(30) {
			for range r.IntN(40) {
				out.WriteString(words[r.IntN(len(words))])
			}
			out.WriteString("\r\n")
		}
		out.WriteString("end")
		plain := strings.ReplaceAll(out.String(), "\t", " ") // a tab stops at the margin
		screen := New(40, 10, Options{ScrollbackLines: 10000})
		screen.Feed([]byte(plain), nil)
		if want, got := string(screen.AppendHistoryText(nil)), linesOf(plain); got != want {
			t.Fatalf("%q:\n%q\nwant\n%q", plain, got, want)
		}
	}
}

func TestALineWithoutEndIsCut(t *testing.T) {
	var l Lines
	var out []byte
	for range 5 {
		out = l.Append(out, bytes.Repeat([]byte{'x'}, maxLine/2))
	}
	out = l.AppendRest(out)
	if got := bytes.Count(out, []byte{'\n'}); got != 3 || len(out) != 5*maxLine/2+3 {
		t.Errorf("%d lines, %d bytes", got, len(out))
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("abc\rd\x1b[K\x1b[3Ge\u0301\b\x1b[2P\x1b[4@\x1b[1K\x1b[99b\r\n"), 3)
	f.Fuzz(func(t *testing.T, p []byte, cut int) {
		whole := linesOf(string(p))
		if cut = max(0, min(cut, len(p))); linesOf(string(p[:cut]), string(p[cut:])) != whole {
			t.Errorf("cut at %d: %q, else %q", cut, linesOf(string(p[:cut]), string(p[cut:])), whole)
		}
		for _, r := range whole {
			if r < 0x20 && r != '\n' || r >= 0x7f && r < 0xa0 {
				t.Errorf("a control character in %q", whole)
			}
		}
	})
}

func BenchmarkLines(b *testing.B) {
	plain, coloured := new(bytes.Buffer), new(bytes.Buffer)
	for i := range 10000 {
		fmt.Fprintf(plain, "%08d  GET /index.html HTTP/1.1 200 some text of a log\r\n", i)
		fmt.Fprintf(coloured, "\x1b[32m%08d\x1b[m  GET \x1b[1m/index.html\x1b[m 200 \u2713 a log\r\n", i)
	}
	for _, c := range []struct {
		name string
		out  []byte
	}{{"plain", plain.Bytes()}, {"coloured", coloured.Bytes()}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.out)))
			var l Lines
			var dst []byte
			for b.Loop() {
				dst = l.Append(dst[:0], c.out)
			}
		})
	}
}
