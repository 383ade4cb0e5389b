package vt

import "testing"

func TestLineEndsAreConvertedLikeONLCR(t *testing.T) {
	for in, want := range map[string]string{
		"a\nb\n":     "a\r\nb\r\n",
		"a\r\nb":     "a\r\nb",
		"\n\n":       "\r\n\r\n",
		"50%\r100%":  "50%\r100%",
		"\r\n\n\r\n": "\r\n\r\n\r\n",
		"":           "",
	} {
		for cut := range len(in) + 1 {
			var l LineEnds
			got := l.Append(nil, []byte(in[:cut]))
			got = l.Append(got, []byte(in[cut:]))
			if string(got) != want {
				t.Errorf("%q cut at %d: %q, want %q", in, cut, got, want)
			}
		}
	}
}
