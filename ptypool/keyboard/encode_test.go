package keyboard

import "testing"

const (
	shiftCtrl = Shift | Ctrl
	altCtrl   = Alt | Ctrl
)

func TestKeysAreEncodedAsTheProgramAskedFor(t *testing.T) {
	var (
		none           = Modes{}
		other1, other2 = Modes{ModifyOther: 1}, Modes{ModifyOther: 2}
		kitty1         = Modes{Kitty: 1}
	)
	for _, c := range []struct {
		modes Modes
		key   Key
		want  string
	}{
		// No modes: what xterm's terminfo entry and ctlseqs have.
		{none, Key{Code: Up}, "\x1b[A"},
		{none, Key{Code: Home}, "\x1b[H"},
		{none, Key{Up, Shift}, "\x1b[1;2A"},
		{none, Key{Left, Alt}, "\x1b[1;3D"},
		{none, Key{Right, Ctrl}, "\x1b[1;5C"},
		{none, Key{Left, shiftCtrl}, "\x1b[1;6D"},
		{none, Key{Home, altCtrl}, "\x1b[1;7H"},
		{none, Key{End, Shift | altCtrl}, "\x1b[1;8F"},
		{none, Key{Code: Insert}, "\x1b[2~"},
		{none, Key{Delete, Ctrl}, "\x1b[3;5~"},
		{none, Key{Code: PageUp}, "\x1b[5~"},
		{none, Key{PageDown, Shift}, "\x1b[6;2~"},
		{none, Key{Code: F1}, "\x1bOP"},
		{none, Key{F1 + 2, Shift}, "\x1b[1;2R"},
		{none, Key{Code: F1 + 4}, "\x1b[15~"},
		{none, Key{F1 + 4, Ctrl}, "\x1b[15;5~"},
		{none, Key{Code: F12}, "\x1b[24~"},
		{none, Key{Code: F12 + 1}, "\x1b[1;2P"},
		{none, Key{Code: F24}, "\x1b[24;2~"},
		{none, Key{Code: Enter}, "\r"},
		{none, Key{Enter, shiftCtrl}, "\r"},
		{none, Key{Enter, Alt}, "\x1b\r"},
		{none, Key{Code: Tab}, "\t"},
		{none, Key{Tab, Shift}, "\x1b[Z"},
		{none, Key{Code: Escape}, "\x1b"},
		{none, Key{Escape, Alt}, "\x1b\x1b"},
		{none, Key{Code: Backspace}, "\x7f"},
		{none, Key{Backspace, Ctrl}, "\b"},
		{none, Key{Backspace, Alt}, "\x1b\x7f"},
		{none, Key{Code: 'x'}, "x"},
		{none, Key{Code: 'X'}, "X"},
		{none, Key{'x', Shift}, "X"},
		{none, Key{'X', Alt}, "\x1bX"},
		{none, Key{'x', Ctrl}, "\x18"},
		{none, Key{'x', altCtrl}, "\x1b\x18"},
		{none, Key{' ', Ctrl}, "\x00"},
		{none, Key{'/', Ctrl}, "\x1f"},
		{none, Key{'?', Ctrl}, "\x7f"},
		{none, Key{'3', Ctrl}, "\x1b"},
		{none, Key{'\\', Ctrl}, "\x1c"},
		{none, Key{';', Ctrl}, ";"},
		{none, Key{'é', Alt}, "\x1bé"},
		{none, Key{'é', Shift}, "É"},
		{none, Key{Code: '日'}, "日"},

		// DECCKM: cursor keys, and only they, and only without modifiers.
		{Modes{CursorKeys: true}, Key{Code: Up}, "\x1bOA"},
		{Modes{CursorKeys: true}, Key{Code: End}, "\x1bOF"},
		{Modes{CursorKeys: true}, Key{Up, Ctrl}, "\x1b[1;5A"},
		{Modes{CursorKeys: true}, Key{Code: Delete}, "\x1b[3~"},

		// DECBKM and LNM.
		{Modes{Backarrow: true}, Key{Code: Backspace}, "\b"},
		{Modes{Backarrow: true}, Key{Backspace, Ctrl}, "\x7f"},
		{Modes{Newline: true}, Key{Code: Enter}, "\r\n"},

		// The keypad.
		{none, Key{Code: KP0 + 5}, "5"},
		{none, Key{Code: KPEnter}, "\r"},
		{none, Key{Code: KPAdd}, "+"},
		{none, Key{Code: KPEqual}, "="},
		{Modes{Keypad: true}, Key{Code: KP0}, "\x1bOp"},
		{Modes{Keypad: true}, Key{Code: KP9}, "\x1bOy"},
		{Modes{Keypad: true}, Key{Code: KPEnter}, "\x1bOM"},
		{Modes{Keypad: true}, Key{Code: KPMultiply}, "\x1bOj"},
		{Modes{Keypad: true}, Key{Code: KPAdd}, "\x1bOk"},
		{Modes{Keypad: true}, Key{Code: KPSubtract}, "\x1bOm"},
		{Modes{Keypad: true}, Key{Code: KPDecimal}, "\x1bOn"},
		{Modes{Keypad: true}, Key{Code: KPDivide}, "\x1bOo"},
		{Modes{Keypad: true}, Key{Code: '5'}, "5"},

		// modifyOtherKeys.
		{other1, Key{'x', Ctrl}, "\x18"},
		{other1, Key{'x', Alt}, "\x1bx"},
		{other1, Key{';', Ctrl}, "\x1b[27;5;59~"},
		{other1, Key{'x', shiftCtrl}, "\x1b[27;6;88~"},
		{other1, Key{Enter, Ctrl}, "\x1b[27;5;13~"},
		{other1, Key{Enter, Shift}, "\x1b[27;2;13~"},
		{other1, Key{Tab, Ctrl}, "\x1b[27;5;9~"},
		{other1, Key{Tab, Shift}, "\x1b[Z"},
		{other1, Key{' ', Shift}, " "},
		{other2, Key{'x', Ctrl}, "\x1b[27;5;120~"},
		{other2, Key{'X', Alt}, "\x1b[27;4;88~"},
		{other2, Key{'x', Shift}, "X"},
		{other2, Key{Code: 'x'}, "x"},
		{other2, Key{Code: Escape}, "\x1b"},
		{other2, Key{Escape, Alt}, "\x1b[27;3;27~"},
		{other2, Key{' ', Shift}, "\x1b[27;2;32~"},
		{other2, Key{Backspace, Ctrl}, "\b"},
		{other2, Key{Backspace, Alt}, "\x1b[27;3;127~"},
		{other2, Key{Up, Ctrl}, "\x1b[1;5A"},

		// kitty's protocol: 1, disambiguate.
		{kitty1, Key{Code: Escape}, "\x1b[27u"},
		{kitty1, Key{'c', Ctrl}, "\x1b[99;5u"},
		{kitty1, Key{'x', Alt}, "\x1b[120;3u"},
		{kitty1, Key{'X', Alt}, "\x1b[120;4u"},
		{kitty1, Key{'x', altCtrl}, "\x1b[120;7u"},
		{kitty1, Key{Code: 'X'}, "X"},
		{kitty1, Key{' ', Shift}, " "},
		{kitty1, Key{Code: Enter}, "\r"},
		{kitty1, Key{Code: Tab}, "\t"},
		{kitty1, Key{Code: Backspace}, "\x7f"},
		{kitty1, Key{Enter, Shift}, "\x1b[13;2u"},
		{kitty1, Key{Tab, Shift}, "\x1b[9;2u"},
		{kitty1, Key{Backspace, Ctrl}, "\x1b[127;5u"},
		{Modes{Kitty: 1, CursorKeys: true}, Key{Code: Up}, "\x1b[A"},
		{kitty1, Key{Code: F1}, "\x1b[P"},
		{kitty1, Key{Code: F1 + 2}, "\x1b[13~"},
		{kitty1, Key{F1 + 2, Shift}, "\x1b[13;2~"},
		{kitty1, Key{Code: F12 + 1}, "\x1b[57376u"},
		{kitty1, Key{F24, Ctrl}, "\x1b[57387;5u"},
		{kitty1, Key{Code: KPEnter}, "\x1b[57414u"},
		{kitty1, Key{Code: KP9}, "9"},
		{kitty1, Key{KP9, Ctrl}, "\x1b[57408;5u"},
		// 4: the shifted key as well. 8: everything. 16: the text as well.
		{Modes{Kitty: 5}, Key{'x', shiftCtrl}, "\x1b[120:88;6u"},
		{Modes{Kitty: 8}, Key{Code: 'x'}, "\x1b[120u"},
		{Modes{Kitty: 8}, Key{Code: Enter}, "\x1b[13u"},
		{Modes{Kitty: 24}, Key{Code: 'x'}, "\x1b[120;;120u"},
		{Modes{Kitty: 24}, Key{Code: 'X'}, "\x1b[120;2;88u"},
		{Modes{Kitty: 24}, Key{'x', Ctrl}, "\x1b[120;5u"},
	} {
		if got := string(c.key.Append([]byte("<"), c.modes)); got != "<"+c.want {
			t.Errorf("%+v, %#x+%d: %q, want %q", c.modes, c.key.Code, c.key.Mods, got, c.want)
		}
	}
}
