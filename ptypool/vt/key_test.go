package vt

import (
	"testing"

	"termhost/ptypool/keyboard"
)

func TestKeysAreSentInTheModesThatTheProgramAskedFor(t *testing.T) {
	for output, want := range map[string]keyboard.Modes{
		"":                      {},
		"\x1b[?1h":              {CursorKeys: true},
		"\x1b[?1h\x1b[?1l":      {},
		"\x1b[?67h":             {Backarrow: true},
		"\x1b[20h":              {Newline: true},
		"\x1b=":                 {Keypad: true},
		"\x1b[?2004h":           {Paste: true},
		"\x1b=\x1b>":            {},
		"\x1b[>4;1m":            {ModifyOther: 1},
		"\x1b[>4;2m":            {ModifyOther: 2},
		"\x1b[>4;2m\x1b[>4m":    {},
		"\x1b[>1u":              {Kitty: 1},
		"\x1b[>24u":             {Kitty: 24},
		"\x1b[>1u\x1b[<u":       {},
		"\x1b[>1u\x1b[?1049h":   {}, // each screen has its own flags
		"\x1b[>1u\x1b[?1h\x1b=": {CursorKeys: true, Keypad: true, Kitty: 1},
	} {
		v := New(80, 24, Options{})
		v.Feed([]byte(output), nil)
		if got := v.KeyModes(); got != want {
			t.Errorf("after %q: %+v, want %+v", output, got, want)
		}
	}
}
