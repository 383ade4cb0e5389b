package sshd

import (
	"bytes"
	"strings"
	"testing"
)

func TestLineEndsWithoutAPty(t *testing.T) {
	for in, want := range map[string]string{
		"a\r\nb\r\n":    "a\nb\n",
		"50%\r100%\r\n": "50%\r100%\n",
		"a\r\r\nb":      "a\r\nb",
		"\r":            "\r",
		"\n\n":          "\n\n",
		"\r\r\r":        "\r\r\r",
	} {
		for cut := range len(in) + 1 {
			var out bytes.Buffer
			w := &fromCRLF{w: &out}
			for _, part := range []string{in[:cut], in[cut:]} {
				if _, err := w.Write([]byte(part)); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.flush(); err != nil {
				t.Fatal(err)
			}
			if out.String() != want {
				t.Errorf("%q cut at %d: %q, want %q", in, cut, out.String(), want)
			}
		}
	}
}

// writes notes each write by itself.
type writes struct{ all []string }

func (w *writes) Write(p []byte) (int, error) {
	w.all = append(w.all, string(p))
	return len(p), nil
}

func TestOutputIsGathered(t *testing.T) {
	s := &Server{}
	var w writes
	g := s.gather(&w)
	big := strings.Repeat("b", gatherBytes+1)
	for _, p := range []string{"a", "", "b", "c", strings.Repeat("x", gatherBytes-3), "y", big, "z"} {
		if err := g.add([]byte(p)); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.flush(); err != nil {
		t.Fatal(err)
	}
	g.release()
	want := []string{"abc" + strings.Repeat("x", gatherBytes-3), "y", big, "z"}
	if len(w.all) != len(want) {
		t.Fatalf("%d writes, want %d", len(w.all), len(want))
	}
	for i := range want {
		if w.all[i] != want[i] {
			t.Errorf("write %d has %d bytes, want %d", i, len(w.all[i]), len(want[i]))
		}
	}
}

func TestANoticeFitsItsLine(t *testing.T) {
	o := overlay{lines: []string{strings.Repeat("long ", 40), "esc \x1b[31m"}}
	o.lines = append(o.lines, "\u754c\u754c\u754c\u754c\u754c\u754c\u754c\u754c\u754c\u754c\u754c")
	got := string(o.appendTo(nil, window{20, 5}))
	want := "\x1b7\x1b[?6l\x0f\x1b(B" +
		"\x1b[3;1H\x1b[0;7m\x1b[2Klong long long long" +
		"\x1b[4;1H\x1b[0;7m\x1b[2Kesc [31m           " +
		"\x1b[5;1H\x1b[0;7m\x1b[2K\u754c\u754c\u754c\u754c\u754c\u754c\u754c\u754c\u754c " +
		"\x1b[m\x1b8"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
