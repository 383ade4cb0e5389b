package keyboard

import "testing"

func TestKeysAreReadInEveryFormThatATerminalSends(t *testing.T) {
	keys := []Key{{Code: Enter}, {Code: Tab}, {Code: Escape}, {Code: Backspace}, {Code: Up},
		{Code: Down}, {Code: Right}, {Code: Left}, {Code: Home}, {Code: End}, {Code: PageUp},
		{Code: PageDown}, {Code: Delete}, {Code: F1 + 4}, {Code: F12}, {Tab, Shift}, {'c', Ctrl},
		{'p', Ctrl}, {'x', Alt}, {Up, Shift}, {Code: 'j'}, {Code: 'Y'}, {Code: '/'}, {Code: '+'},
		{Code: 'é'}, {Code: '日'}, {Code: ' '}}
	modes := []Modes{{}, {CursorKeys: true, Keypad: true}, {Backarrow: true}, {ModifyOther: 1},
		{ModifyOther: 2}, {Kitty: 1}, {Kitty: 15}, {Kitty: 31}}
	for _, k := range keys {
		for _, m := range modes {
			sent := k.Append(nil, m)
			if got, n := Read(sent); got != k || n != len(sent) {
				t.Errorf("%+v in %+v is sent as %q, and read as %+v (%d bytes)", k, m, sent, got, n)
			}
			if got, n := Read(append(sent, 'z')); len(sent) > 1 && (got != k || n != len(sent)) {
				t.Errorf("%q before another key: %+v (%d bytes)", sent, got, n)
			}
		}
	}
}

func TestKeysAreReadAsTerminalsDifferOnThem(t *testing.T) {
	for sent, want := range map[string]Key{
		"\x1b[1~": {Code: Home}, "\x1b[8~": {Code: End}, "\x1bOM": {Code: Enter}, "\x1bOy": {Code: '9'},
		"\x1b[57414u": {Code: Enter}, "\x1b[57400u": {Code: '1'}, "\b": {Code: Backspace},
		"\x1b[47;2;63u": {Code: '?'}, "\x1b[97:65;2u": {Code: 'A'}, "\x1b[97;66u": {Code: 'A'},
		"\x1b[121;65u": {Code: 'y'}, "\x1b[27;5;106~": {'j', Ctrl}, "\x1bé": {'é', Alt},
		"\x1b[97;1:3u": {}, "\x1b[I": {}, "\x1b[57358u": {}, "\xff": {},
		"\x1b[<0;1;1M": {}, "\x1b[200~": {}, "\x00": {' ', Ctrl}, "\x1b[5u": {},
	} {
		if got, n := Read([]byte(sent)); got != want || n != len(sent) {
			t.Errorf("%q: %+v (%d bytes), want %+v", sent, got, n, want)
		}
	}
	if _, n := Read([]byte("\x1b[1;")); n != 0 {
		t.Errorf("half of a key has %d bytes", n)
	}
}
