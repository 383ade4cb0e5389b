package keyboard

import "testing"

func TestAPasteIsInBracketsIfTheProgramAskedForThem(t *testing.T) {
	for _, c := range []struct {
		m          Modes
		text, want string
	}{
		{Modes{}, "a\n\tb\r\nc", "a\r\tb\rc"},
		{Modes{Paste: true}, "a\n\tb", "\x1b[200~a\r\tb\x1b[201~"},
		{Modes{Paste: true}, "a\x1b[20\x1b[201~1~rm", "\x1b[200~arm\x1b[201~"},
	} {
		if got := string(AppendPaste(nil, c.m, []byte(c.text))); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
