package keyboard

import "testing"

func TestTheFirstLineEndsBehindAPaste(t *testing.T) {
	for _, c := range []struct {
		p      string
		pastes bool
		want   int
	}{
		{"", true, 0},
		{"abc", true, 3},
		{"abc\rdef\r", true, 4},
		{"abc\ndef", false, 4},
		{"\x1b[200~a\rb\x1b[201~c\rd", true, 17},
		{"\x1b[200~a\rb\x1b[201~c\rd", false, 8},
		{"\x1b[200~a\r\x1b[201~\x1b[200~b\n\x1b[201~\r\r", true, 29},
		{"x\x16\x1b[200~a\rb\x1b[201~\r", true, 10},
		{"\x1b[200~a\rb", true, 9},
		{"a\r\x1b[200~b\rc\x1b[201~", true, 2},
	} {
		if got := FirstLine([]byte(c.p), c.pastes); got != c.want {
			t.Errorf("%q, pastes %v: %d, want %d", c.p, c.pastes, got, c.want)
		}
	}
}
