package keyboard

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrUnknown is Parse's error for an unknown name. Its text lists the names.
var ErrUnknown = errors.New("unknown key; a key is one character, or enter, tab, esc, space, " +
	"backspace, up, home, pageup, delete, f1, kp-5 and the like, " +
	"after any of ctrl-, alt- and shift-")

// Parse reads the name of a key: modifiers in any order, each at most once, and the key that they
// modify. Modifiers are ctrl-, alt- (or meta-) and shift-, or C-, M- and S- as tmux has them, and ^
// for ctrl- before one character; + may stand for -. Upper and lower case mean the same, except for
// a letter without ctrl.
func Parse(name string) (Key, error) {
	var k Key
	for {
		mod, rest := cutModifier(name)
		if mod == 0 {
			break
		}
		if k.Mods&mod != 0 {
			return Key{}, ErrUnknown
		}
		k.Mods |= mod
		name = rest
	}
	if c, size := utf8.DecodeRuneInString(name); size == len(name) && size > 0 {
		return characterKey(c, k.Mods)
	}
	code, mods := namedKey(strings.ToLower(name))
	if code == 0 {
		return Key{}, ErrUnknown
	}
	return Key{Code: code, Mods: k.Mods | mods}, nil
}

// cutModifier returns the modifier that name begins with and what follows it; 0 if it begins with
// none.
func cutModifier(name string) (m Mods, rest string) {
	if rest, ok := strings.CutPrefix(name, "^"); ok && utf8.RuneCountInString(rest) == 1 {
		return Ctrl, rest
	}
	i := strings.IndexAny(name, "-+")
	if i < 1 || i == len(name)-1 {
		return 0, name
	}
	switch strings.ToLower(name[:i]) {
	case "ctrl", "control", "c":
		m = Ctrl
	case "alt", "meta", "m":
		m = Alt
	case "shift", "s":
		m = Shift
	default:
		return 0, name
	}
	return m, name[i+1:]
}

// characterKey returns the key that types c. With ctrl the case of a letter means nothing: ctrl-C
// is what stops a program, not ctrl-shift-c. What shift makes of a character other than a letter
// depends on the keyboard's layout, which is not known here: such a key is unknown.
func characterKey(c rune, mods Mods) (Key, error) {
	switch {
	case c == utf8.RuneError || !unicode.IsGraphic(c):
		return Key{}, ErrUnknown
	case mods == Shift && c != ' ' && !unicode.IsLetter(c):
		return Key{}, ErrUnknown
	case mods&Ctrl != 0:
		c = unicode.ToLower(c)
	}
	return Key{Code: c, Mods: mods}, nil
}

// namedKey returns the key of a name in lower case, with the modifiers that the name implies; 0 if
// there is no such key.
func namedKey(name string) (code rune, mods Mods) {
	if digits, ok := strings.CutPrefix(name, "f"); ok {
		if n := number(digits); n >= 1 && n <= 24 && digits[0] != '0' {
			return F1 + rune(n-1), 0
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
		return Enter, 0
	case "tab":
		return Tab, 0
	case "backtab", "back-tab", "btab":
		return Tab, Shift
	case "esc", "escape":
		return Escape, 0
	case "space", "spc":
		return ' ', 0
	case "backspace", "back-space", "bspace", "bs":
		return Backspace, 0
	case "up":
		return Up, 0
	case "down":
		return Down, 0
	case "right":
		return Right, 0
	case "left":
		return Left, 0
	case "home":
		return Home, 0
	case "end":
		return End, 0
	case "insert", "ins", "ic":
		return Insert, 0
	case "delete", "del", "dc":
		return Delete, 0
	case "pageup", "page-up", "pgup", "ppage":
		return PageUp, 0
	case "pagedown", "page-down", "pgdown", "pgdn", "npage":
		return PageDown, 0
	}
	return 0, 0
}

// keypadKey returns a key of the keypad by what follows "kp-"; 0 if there is no such key.
func keypadKey(name string) rune {
	switch name {
	case "enter":
		return KPEnter
	case "plus", "+":
		return KPAdd
	case "minus", "-":
		return KPSubtract
	case "multiply", "*":
		return KPMultiply
	case "divide", "/":
		return KPDivide
	case "decimal", ".":
		return KPDecimal
	case "equal", "=":
		return KPEqual
	}
	if len(name) == 1 && name[0] >= '0' && name[0] <= '9' {
		return KP0 + rune(name[0]-'0')
	}
	return 0
}

// ControlName writes a control character as a person calls it: Ctrl-C.
func ControlName(c byte) string { return "Ctrl-" + strings.ToUpper(string(ctrlLetter(c))) }

// ctrlLetter returns the key that types the control character c together with ctrl.
func ctrlLetter(c byte) rune { return rune(strings.ToLower(string(rune(c | 0x40)))[0]) }
