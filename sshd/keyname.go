package sshd

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"termhost/ptypool/vt"
)

var errUnknownKey = errors.New("unknown key; a key is one character, or enter, tab, esc, space, backspace, up, home, pageup, delete, f1, kp-5 " +
	"and the like, after any of ctrl-, alt- and shift-")

// parseKey reads the name of a key: modifiers in any order, each at most once, and
// what they modify. Modifiers are ctrl-, alt- (or meta-) and shift-, or C-, M- and
// S- as tmux has them, and ^ for ctrl- before one character; + may stand for -.
// Upper and lower case mean the same, except for a letter without ctrl.
func parseKey(name string) (k vt.Key, ok bool) {
	for {
		mod, rest := cutModifier(name)
		if mod == 0 {
			break
		}
		if k.Mods&mod != 0 {
			return vt.Key{}, false
		}
		k.Mods |= mod
		name = rest
	}
	if c, size := utf8.DecodeRuneInString(name); size == len(name) && size > 0 {
		return characterKey(c, k.Mods)
	}
	code, mods := namedKey(strings.ToLower(name))
	if code == 0 {
		return vt.Key{}, false
	}
	return vt.Key{Code: code, Mods: k.Mods | mods}, true
}

// cutModifier returns the modifier that name begins with and what follows it; 0: it
// begins with none.
func cutModifier(name string) (m vt.Mods, rest string) {
	if rest, ok := strings.CutPrefix(name, "^"); ok && utf8.RuneCountInString(rest) == 1 {
		return vt.ModCtrl, rest
	}
	i := strings.IndexAny(name, "-+")
	if i < 1 || i == len(name)-1 {
		return 0, name
	}
	switch strings.ToLower(name[:i]) {
	case "ctrl", "control", "c":
		m = vt.ModCtrl
	case "alt", "meta", "m":
		m = vt.ModAlt
	case "shift", "s":
		m = vt.ModShift
	default:
		return 0, name
	}
	return m, name[i+1:]
}

// characterKey returns the key that types c. With ctrl a letter's case says nothing:
// ctrl-C is what stops a program, not ctrl-shift-c. Which character shift makes
// of another than a letter depends on a layout that nobody has here; where the
// answer is a text, that is unknown.
func characterKey(c rune, mods vt.Mods) (vt.Key, bool) {
	switch {
	case c == utf8.RuneError || !unicode.IsGraphic(c):
		return vt.Key{}, false
	case mods == vt.ModShift && c != ' ' && !unicode.IsLetter(c):
		return vt.Key{}, false
	case mods&vt.ModCtrl != 0:
		c = unicode.ToLower(c)
	}
	return vt.Key{Code: c, Mods: mods}, true
}

// namedKey returns the key of a name in lower case, with the modifiers that the
// name implies; 0: there is none.
func namedKey(name string) (code rune, mods vt.Mods) {
	if digits, ok := strings.CutPrefix(name, "f"); ok {
		if n := number(digits); n >= 1 && n <= 24 && digits[0] != '0' {
			return vt.KeyF1 + rune(n-1), 0
		}
		return 0, 0
	}
	if rest, ok := strings.CutPrefix(name, "kp"); ok {
		if len(rest) > 1 {
			rest = strings.TrimPrefix(rest, "-")
		}
		return keypadKey(rest), 0
	}
	switch name {
	case "enter", "return", "cr":
		return vt.KeyEnter, 0
	case "tab":
		return vt.KeyTab, 0
	case "backtab", "back-tab", "btab":
		return vt.KeyTab, vt.ModShift
	case "esc", "escape":
		return vt.KeyEscape, 0
	case "space", "spc":
		return ' ', 0
	case "backspace", "back-space", "bspace", "bs":
		return vt.KeyBackspace, 0
	case "up":
		return vt.KeyUp, 0
	case "down":
		return vt.KeyDown, 0
	case "right":
		return vt.KeyRight, 0
	case "left":
		return vt.KeyLeft, 0
	case "home":
		return vt.KeyHome, 0
	case "end":
		return vt.KeyEnd, 0
	case "insert", "ins", "ic":
		return vt.KeyInsert, 0
	case "delete", "del", "dc":
		return vt.KeyDelete, 0
	case "pageup", "page-up", "pgup", "ppage":
		return vt.KeyPageUp, 0
	case "pagedown", "page-down", "pgdown", "pgdn", "npage":
		return vt.KeyPageDown, 0
	}
	return 0, 0
}

// keypadKey returns a key of the keypad by what follows "kp-"; 0: there is none.
func keypadKey(name string) rune {
	switch name {
	case "enter":
		return vt.KeyKPEnter
	case "plus", "+":
		return vt.KeyKPAdd
	case "minus", "-":
		return vt.KeyKPSubtract
	case "multiply", "*":
		return vt.KeyKPMultiply
	case "divide", "/":
		return vt.KeyKPDivide
	case "decimal", ".":
		return vt.KeyKPDecimal
	case "equal", "=":
		return vt.KeyKPEqual
	}
	if len(name) == 1 && name[0] >= '0' && name[0] <= '9' {
		return vt.KeyKP0 + rune(name[0]-'0')
	}
	return 0
}
