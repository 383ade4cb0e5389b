package viewer

import (
	"bytes"
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
