package keyboard_test

import (
	"testing"

	"termhost/ptypool/keyboard"
)

// A press below the program's rows is not the program's. What ends or continues one is, at its last
// row.
func TestPressesBelowTheRowsAreLeftOut(t *testing.T) {
	for _, c := range []struct {
		in       string
		encoding int
		want     string
	}{
		{"a\x1b[<0;5;9Mb", 1006, "a\x1b[<0;5;9Mb"},
		{"a\x1b[<0;5;10Mb", 1006, "ab"},
		{"a\x1b[<65;5;10Mb", 1006, "ab"},
		{"\x1b[<0;5;10m", 1006, "\x1b[<0;5;9m"},
		{"\x1b[<32;5;12M", 1006, "\x1b[<32;5;9M"},
		{"\x1b[32;5;10Mb", 1015, "b"},
		{"\x1b[35;5;10M", 1015, "\x1b[35;5;9M"},
		{"\x1b[M %*b", 0, "b"},
		{"\x1b[M#%*", 0, "\x1b[M#%)"},
		{"\x1b[200~\x1b[<0;5;10M", 1006, "\x1b[200~\x1b[<0;5;10M"},
	} {
		if got := string(keyboard.KeepMouse([]byte(c.in), c.encoding, 9)); got != c.want {
			t.Errorf("%q in mode %d becomes %q, want %q", c.in, c.encoding, got, c.want)
		}
	}
}
