package vt

import (
	"fmt"
	"testing"
)

const (
	modShiftCtrl = ModShift | ModCtrl
	modAltCtrl   = ModAlt | ModCtrl
)

func TestKeysAreEncodedAsTheProgramAskedFor(t *testing.T) {
	for _, c := range []struct {
		modes string // what the program printed
		key   Key
		want  string
	}{
		// No modes: what xterm's terminfo entry and ctlseqs have.
		{"", Key{Code: KeyUp}, "\x1b[A"},
		{"", Key{Code: KeyHome}, "\x1b[H"},
		{"", Key{KeyUp, ModShift}, "\x1b[1;2A"},
		{"", Key{KeyLeft, ModAlt}, "\x1b[1;3D"},
		{"", Key{KeyRight, ModCtrl}, "\x1b[1;5C"},
		{"", Key{KeyLeft, modShiftCtrl}, "\x1b[1;6D"},
		{"", Key{KeyHome, modAltCtrl}, "\x1b[1;7H"},
		{"", Key{KeyEnd, ModShift | modAltCtrl}, "\x1b[1;8F"},
		{"", Key{Code: KeyInsert}, "\x1b[2~"},
		{"", Key{KeyDelete, ModCtrl}, "\x1b[3;5~"},
		{"", Key{Code: KeyPageUp}, "\x1b[5~"},
		{"", Key{KeyPageDown, ModShift}, "\x1b[6;2~"},
		{"", Key{Code: KeyF1}, "\x1bOP"},
		{"", Key{KeyF1 + 2, ModShift}, "\x1b[1;2R"},
		{"", Key{Code: KeyF1 + 4}, "\x1b[15~"},
		{"", Key{KeyF1 + 4, ModCtrl}, "\x1b[15;5~"},
		{"", Key{Code: KeyF12}, "\x1b[24~"},
		{"", Key{Code: KeyF12 + 1}, "\x1b[1;2P"},
		{"", Key{Code: KeyF24}, "\x1b[24;2~"},
		{"", Key{Code: KeyEnter}, "\r"},
		{"", Key{KeyEnter, modShiftCtrl}, "\r"},
		{"", Key{KeyEnter, ModAlt}, "\x1b\r"},
		{"", Key{Code: KeyTab}, "\t"},
		{"", Key{KeyTab, ModShift}, "\x1b[Z"},
		{"", Key{Code: KeyEscape}, "\x1b"},
		{"", Key{KeyEscape, ModAlt}, "\x1b\x1b"},
		{"", Key{Code: KeyBackspace}, "\x7f"},
		{"", Key{KeyBackspace, ModCtrl}, "\b"},
		{"", Key{KeyBackspace, ModAlt}, "\x1b\x7f"},
		{"", Key{Code: 'x'}, "x"},
		{"", Key{Code: 'X'}, "X"},
		{"", Key{'x', ModShift}, "X"},
		{"", Key{'X', ModAlt}, "\x1bX"},
		{"", Key{'x', ModCtrl}, "\x18"},
		{"", Key{'x', modAltCtrl}, "\x1b\x18"},
		{"", Key{' ', ModCtrl}, "\x00"},
		{"", Key{'/', ModCtrl}, "\x1f"},
		{"", Key{'?', ModCtrl}, "\x7f"},
		{"", Key{'3', ModCtrl}, "\x1b"},
		{"", Key{'\\', ModCtrl}, "\x1c"},
		{"", Key{';', ModCtrl}, ";"},
		{"", Key{'é', ModAlt}, "\x1bé"},
		{"", Key{'é', ModShift}, "É"},
		{"", Key{Code: '日'}, "日"},

		// DECCKM: cursor keys, and only they, and only without modifiers.
		{"\x1b[?1h", Key{Code: KeyUp}, "\x1bOA"},
		{"\x1b[?1h", Key{Code: KeyEnd}, "\x1bOF"},
		{"\x1b[?1h", Key{KeyUp, ModCtrl}, "\x1b[1;5A"},
		{"\x1b[?1h", Key{Code: KeyDelete}, "\x1b[3~"},
		{"\x1b[?1h\x1b[?1l", Key{Code: KeyUp}, "\x1b[A"},

		// DECBKM and LNM.
		{"\x1b[?67h", Key{Code: KeyBackspace}, "\b"},
		{"\x1b[?67h", Key{KeyBackspace, ModCtrl}, "\x7f"},
		{"\x1b[20h", Key{Code: KeyEnter}, "\r\n"},

		// The keypad.
		{"", Key{Code: KeyKP0 + 5}, "5"},
		{"", Key{Code: KeyKPEnter}, "\r"},
		{"", Key{Code: KeyKPAdd}, "+"},
		{"", Key{Code: KeyKPEqual}, "="},
		{"\x1b=", Key{Code: KeyKP0}, "\x1bOp"},
		{"\x1b=", Key{Code: KeyKP9}, "\x1bOy"},
		{"\x1b=", Key{Code: KeyKPEnter}, "\x1bOM"},
		{"\x1b=", Key{Code: KeyKPMultiply}, "\x1bOj"},
		{"\x1b=", Key{Code: KeyKPAdd}, "\x1bOk"},
		{"\x1b=", Key{Code: KeyKPSubtract}, "\x1bOm"},
		{"\x1b=", Key{Code: KeyKPDecimal}, "\x1bOn"},
		{"\x1b=", Key{Code: KeyKPDivide}, "\x1bOo"},
		{"\x1b=", Key{Code: '5'}, "5"},
		{"\x1b=\x1b>", Key{Code: KeyKP0}, "0"},

		// modifyOtherKeys.
		{"\x1b[>4;1m", Key{'x', ModCtrl}, "\x18"},
		{"\x1b[>4;1m", Key{'x', ModAlt}, "\x1bx"},
		{"\x1b[>4;1m", Key{';', ModCtrl}, "\x1b[27;5;59~"},
		{"\x1b[>4;1m", Key{'x', modShiftCtrl}, "\x1b[27;6;88~"},
		{"\x1b[>4;1m", Key{KeyEnter, ModCtrl}, "\x1b[27;5;13~"},
		{"\x1b[>4;1m", Key{KeyEnter, ModShift}, "\x1b[27;2;13~"},
		{"\x1b[>4;1m", Key{KeyTab, ModCtrl}, "\x1b[27;5;9~"},
		{"\x1b[>4;1m", Key{KeyTab, ModShift}, "\x1b[Z"},
		{"\x1b[>4;1m", Key{' ', ModShift}, " "},
		{"\x1b[>4;2m", Key{'x', ModCtrl}, "\x1b[27;5;120~"},
		{"\x1b[>4;2m", Key{'X', ModAlt}, "\x1b[27;4;88~"},
		{"\x1b[>4;2m", Key{'x', ModShift}, "X"},
		{"\x1b[>4;2m", Key{Code: 'x'}, "x"},
		{"\x1b[>4;2m", Key{Code: KeyEscape}, "\x1b"},
		{"\x1b[>4;2m", Key{KeyEscape, ModAlt}, "\x1b[27;3;27~"},
		{"\x1b[>4;2m", Key{' ', ModShift}, "\x1b[27;2;32~"},
		{"\x1b[>4;2m", Key{KeyBackspace, ModCtrl}, "\b"},
		{"\x1b[>4;2m", Key{KeyBackspace, ModAlt}, "\x1b[27;3;127~"},
		{"\x1b[>4;2m", Key{KeyUp, ModCtrl}, "\x1b[1;5A"},
		{"\x1b[>4;2m\x1b[>4m", Key{'x', ModCtrl}, "\x18"},

		// kitty's protocol: 1, disambiguate.
		{"\x1b[>1u", Key{Code: KeyEscape}, "\x1b[27u"},
		{"\x1b[>1u", Key{'c', ModCtrl}, "\x1b[99;5u"},
		{"\x1b[>1u", Key{'x', ModAlt}, "\x1b[120;3u"},
		{"\x1b[>1u", Key{'X', ModAlt}, "\x1b[120;4u"},
		{"\x1b[>1u", Key{'x', modAltCtrl}, "\x1b[120;7u"},
		{"\x1b[>1u", Key{Code: 'X'}, "X"},
		{"\x1b[>1u", Key{' ', ModShift}, " "},
		{"\x1b[>1u", Key{Code: KeyEnter}, "\r"},
		{"\x1b[>1u", Key{Code: KeyTab}, "\t"},
		{"\x1b[>1u", Key{Code: KeyBackspace}, "\x7f"},
		{"\x1b[>1u", Key{KeyEnter, ModShift}, "\x1b[13;2u"},
		{"\x1b[>1u", Key{KeyTab, ModShift}, "\x1b[9;2u"},
		{"\x1b[>1u", Key{KeyBackspace, ModCtrl}, "\x1b[127;5u"},
		{"\x1b[>1u\x1b[?1h", Key{Code: KeyUp}, "\x1b[A"},
		{"\x1b[>1u", Key{Code: KeyF1}, "\x1b[P"},
		{"\x1b[>1u", Key{Code: KeyF1 + 2}, "\x1b[13~"},
		{"\x1b[>1u", Key{KeyF1 + 2, ModShift}, "\x1b[13;2~"},
		{"\x1b[>1u", Key{Code: KeyF12 + 1}, "\x1b[57376u"},
		{"\x1b[>1u", Key{KeyF24, ModCtrl}, "\x1b[57387;5u"},
		{"\x1b[>1u", Key{Code: KeyKPEnter}, "\x1b[57414u"},
		{"\x1b[>1u", Key{Code: KeyKP9}, "9"},
		{"\x1b[>1u", Key{KeyKP9, ModCtrl}, "\x1b[57408;5u"},
		{"\x1b[>1u\x1b[<u", Key{'c', ModCtrl}, "\x03"},
		// 4: the shifted key besides. 8: everything. 16: the text besides.
		{"\x1b[>5u", Key{'x', modShiftCtrl}, "\x1b[120:88;6u"},
		{"\x1b[>8u", Key{Code: 'x'}, "\x1b[120u"},
		{"\x1b[>8u", Key{Code: KeyEnter}, "\x1b[13u"},
		{"\x1b[>24u", Key{Code: 'x'}, "\x1b[120;;120u"},
		{"\x1b[>24u", Key{Code: 'X'}, "\x1b[120;2;88u"},
		{"\x1b[>24u", Key{'x', ModCtrl}, "\x1b[120;5u"},
		// Each screen has its own flags.
		{"\x1b[>1u\x1b[?1049h", Key{'c', ModCtrl}, "\x03"},
	} {
		v := New(80, 24, Options{})
		v.Feed([]byte(c.modes), &recorder{})
		if got := string(v.AppendKey([]byte("<"), c.key)); got != "<"+c.want {
			t.Errorf("after %q, %s: %q, want %q", c.modes, fmt.Sprintf("%#x+%d", c.key.Code, c.key.Mods), got, c.want)
		}
	}
}
