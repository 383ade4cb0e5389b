package keyboard

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Read returns the key that p begins with, in whichever form a terminal sends it (see Key.Append),
// and its length; 0 means that its end is missing. Keys of the keypad are those of the main block
// that type the same. Code is 0 for what is no press of a key that is known.
func Read(p []byte) (k Key, n int) {
	e, n := decode(p)
	switch {
	case n == 0 || e.release:
		return Key{}, n
	case p[0] != esc:
		return readByte(e.code), n
	case n == 1:
		return Key{Code: Escape}, n
	case p[1] == 'O' && n == 3:
		return Key{Code: letterKey(p[2])}, n
	case p[1] == '[' && n > 2:
		return readCSI(string(p[2:n-1]), p[n-1]), n
	}
	r, size := utf8.DecodeRune(p[1:])
	if k = readByte(r); k.Code != 0 {
		k.Mods |= Alt
	}
	return k, 1 + size
}

// Types reports whether the key types its character, and nothing else.
func (k Key) Types() bool { return k.Mods&^Shift == 0 && k.printable() && k.Code != del }

// readByte returns the key that types c by itself, or together with ctrl.
func readByte(c rune) Key {
	switch {
	case c == '\r':
		return Key{Code: Enter}
	case c == '\t':
		return Key{Code: Tab}
	case c == esc:
		return Key{Code: Escape}
	case c == del, c == '\b':
		return Key{Code: Backspace}
	case c == 0:
		return Key{' ', Ctrl}
	case c < ' ':
		return Key{ctrlLetter(byte(c)), Ctrl}
	case c == utf8.RuneError:
		return Key{}
	}
	return Key{Code: c}
}

// letterKey returns the key whose sequence ends in a letter (ctlseqs, "PC-Style Function Keys" and
// "VT220-Style Function Keys").
func letterKey(final byte) rune {
	if i := strings.IndexByte("ABCDHF", final); i >= 0 {
		return Up + rune(i)
	}
	if i := strings.IndexByte("PQRS", final); i >= 0 {
		return F1 + rune(i)
	}
	switch {
	case final == 'M':
		return Enter
	case final == 'X':
		return '='
	case final >= 'j' && final <= 'y':
		return rune("*+,-./0123456789"[final-'j'])
	}
	return 0
}

// tildeKeys are the keys whose sequence ends in a tilde, by their number.
var tildeKeys = map[int]rune{1: Home, 2: Insert, 3: Delete, 4: End, 5: PageUp, 6: PageDown,
	7: Home, 8: End, 11: F1, 12: F1 + 1, 13: F1 + 2, 14: F1 + 3, 15: F1 + 4, 17: F1 + 5,
	18: F1 + 6, 19: F1 + 7, 20: F1 + 8, 21: F1 + 9, 23: F1 + 10, 24: F12}

// readCSI returns the key of a control sequence.
func readCSI(params string, final byte) Key {
	fields := strings.Split(params+";;", ";")
	if final == '~' && fields[0] == "27" && fields[2] != "" { // modifyOtherKeys
		return readPoint(fields[2], fields[1], "")
	}
	mods, _, _ := strings.Cut(fields[1], ":")
	k := Key{Mods: modsOf(mods)}
	switch final {
	case 'u':
		return readPoint(fields[0], fields[1], fields[2])
	case '~':
		k.Code = tildeKeys[number(fields[0])]
	case 'Z':
		return Key{Tab, Shift}
	case 'M':
	default:
		k.Code = letterKey(final)
	}
	if k.Code == 0 {
		return Key{}
	}
	return k
}

// modsOf reads the parameter of the modifiers. The locks, which are told there as well, and those
// that Mods has not are left out.
func modsOf(param string) Mods { return Mods(max(number(param)-1, 0)) & (Shift | Alt | Ctrl) }

// readPoint returns the key of a code point with its alternates, as kitty's protocol has them.
func readPoint(code, mods, text string) Key {
	code, alternates, _ := strings.Cut(code, ":")
	mods, _, _ = strings.Cut(mods, ":")
	text, _, _ = strings.Cut(text, ":")
	shifted, _, _ := strings.Cut(alternates, ":")
	c, m := rune(number(code)), modsOf(mods)
	if i := c - 57399; i >= 0 && i < 18 {
		c = [...]rune{'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '.', '/', '*', '-', '+',
			Enter, '=', ','}[i]
		return Key{c, m}
	}
	if unicode.Is(unicode.Co, c) { // another key that types nothing
		return Key{}
	}
	k := readByte(c)
	if c < ' ' && k.Mods != 0 { // no key has such a number
		return Key{}
	}
	k.Mods |= m
	if k.Code >= Enter || m&Shift == 0 || k.Code == 0 {
		return k
	}
	switch up := rune(number(shifted)); {
	case up != 0:
		k.Code = up
	case m == Shift && number(text) != 0:
		k.Code = rune(number(text))
	default:
		k.Code = unicode.ToUpper(k.Code)
	}
	if unicode.IsUpper(k.Code) || k.Code != c {
		k.Mods &^= Shift
	}
	return k
}
