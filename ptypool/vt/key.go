package vt

import (
	"strconv"
	"unicode"
	"unicode/utf8"
)

// Key is one press of a key.
type Key struct {
	// Code is the character that the key types, or one of the Key constants. An
	// upper-case letter is the key of the lower-case one with ModShift.
	Code rune
	Mods Mods
}

// Mods is a set of modifiers; its value is xterm's modifier parameter less 1.
type Mods uint8

// The modifiers.
const (
	ModShift Mods = 1 << iota
	ModAlt
	ModCtrl
)

// The keys that type no character. The keypad's digits are KeyKP0 to KeyKP9, the
// function keys KeyF1 to KeyF24.
const (
	KeyEnter rune = unicode.MaxRune + 1 + iota
	KeyTab
	KeyEscape
	KeyBackspace
	KeyUp
	KeyDown
	KeyRight
	KeyLeft
	KeyHome
	KeyEnd
	KeyInsert
	KeyDelete
	KeyPageUp
	KeyPageDown
	KeyKPDecimal
	KeyKPDivide
	KeyKPMultiply
	KeyKPSubtract
	KeyKPAdd
	KeyKPEnter
	KeyKPEqual
	KeyKP0
	KeyKP9 = KeyKP0 + 9
	KeyF1  = KeyKP9 + 1
	KeyF12 = KeyF1 + 11
	KeyF24 = KeyF1 + 23
)

// The keyboard flags of kitty's protocol ("Progressive enhancement").
const (
	kittyDisambiguate = 1 << iota
	kittyEvents
	kittyAlternates
	kittyAllKeys
	kittyText
)

// AppendKey appends what a terminal in this screen's modes sends for k: xterm's
// encoding (ctlseqs, "PC-Style Function Keys", "Alt and Meta Keys" and
// modifyOtherKeys) or, where the program has asked for it, that of kitty's keyboard
// protocol. Of a key that is pressed and let go only the press is told. A
// modifier that the encoding in force cannot tell is left out, as terminals do.
func (t *Terminal) AppendKey(dst []byte, k Key) []byte {
	if lower := unicode.ToLower(k.Code); lower != k.Code && unicode.ToUpper(lower) == k.Code {
		k.Code, k.Mods = lower, k.Mods|ModShift
	}
	flags := t.kittyFlags()
	if _, _, ok := k.function(true); ok && flags&(kittyDisambiguate|kittyEvents|kittyAllKeys) != 0 {
		return k.appendFunction(dst, true, false)
	}
	if flags&(kittyDisambiguate|kittyAllKeys) != 0 {
		return k.appendKitty(dst, flags)
	}
	if n := k.Code - KeyKPDecimal; n >= 0 && k.Code <= KeyKP9 {
		return t.appendKeypad(dst, k)
	}
	if k.Code > KeyF12 && k.Code <= KeyF24 { // kf13 to kf24 of xterm's terminfo entry
		k.Code, k.Mods = k.Code-12, k.Mods|ModShift
	}
	if _, _, ok := k.function(false); ok {
		return k.appendFunction(dst, false, t.modes.has(modeCursorKeys))
	}
	if k.modified(t.modifyOther) {
		return appendSeq(dst, 27, int(k.Mods)+1, int(k.shifted(k.point())), '~')
	}
	return t.appendLegacy(dst, k)
}

// appendSeq appends CSI a ; b final, or with a c above 0 CSI a ; b ; c final.
func appendSeq(dst []byte, a, b, c int, final byte) []byte {
	dst = strconv.AppendInt(append(dst, esc, '['), int64(a), 10)
	dst = strconv.AppendInt(append(dst, ';'), int64(b), 10)
	if c > 0 {
		dst = strconv.AppendInt(append(dst, ';'), int64(c), 10)
	}
	return append(dst, final)
}

// function returns the number and the final byte of a key that has a control
// sequence in every mode; for a final letter the number is 1. kitty's F3 is
// another, because its letter would be a cursor position report.
func (k Key) function(kitty bool) (number int, final byte, ok bool) {
	switch c := k.Code; {
	case c >= KeyUp && c <= KeyEnd:
		return 1, "ABCDHF"[c-KeyUp], true
	case c >= KeyInsert && c <= KeyPageDown:
		return [...]int{2, 3, 5, 6}[c-KeyInsert], '~', true
	case kitty && c == KeyF1+2:
		return 13, '~', true
	case c >= KeyF1 && c < KeyF1+4:
		return 1, "PQRS"[c-KeyF1], true
	case c >= KeyF1+4 && c <= KeyF12:
		return [...]int{15, 17, 18, 19, 20, 21, 23, 24}[c-KeyF1-4], '~', true
	case kitty && c > KeyF12 && c <= KeyF24:
		return int(c-KeyF12) + 57375, 'u', true
	}
	return 0, 0, false
}

// appendFunction appends the sequence of a key that function knows. application is
// DECCKM.
func (k Key) appendFunction(dst []byte, kitty, application bool) []byte {
	number, final, _ := k.function(kitty)
	switch {
	case k.Mods != 0:
		return appendSeq(dst, number, int(k.Mods)+1, 0, final)
	case number > 1:
		return append(strconv.AppendInt(append(dst, esc, '['), int64(number), 10), final)
	case !kitty && (application || k.Code >= KeyF1):
		return append(dst, esc, 'O', final)
	}
	return append(dst, esc, '[', final)
}

// appendKeypad appends a key of the keypad: in application mode (DECKPAM) its
// SS3 sequence, otherwise what is printed on it.
func (t *Terminal) appendKeypad(dst []byte, k Key) []byte {
	main, final := k.keypad()
	if t.modes.has(modeKeypad) && k.Mods == 0 {
		return append(dst, esc, 'O', final)
	}
	k.Code = main
	return t.appendLegacy(dst, k)
}

// keypad returns the key of the main block with the same meaning, and the final
// byte in application mode (ctlseqs, "VT220-Style Function Keys").
func (k Key) keypad() (main rune, final byte) {
	switch i := k.Code - KeyKPDecimal; {
	case k.Code == KeyKPEnter:
		return KeyEnter, 'M'
	case k.Code >= KeyKP0:
		return '0' + k.Code - KeyKP0, 'p' + byte(k.Code-KeyKP0)
	default:
		return rune("./*-+\x00="[i]), "nojmk\x00X"[i]
	}
}

// point returns the number of a key that types something, in both protocols that
// have one.
func (k Key) point() rune {
	switch k.Code {
	case KeyEnter:
		return '\r'
	case KeyTab:
		return '\t'
	case KeyEscape:
		return esc
	case KeyBackspace:
		return 0x7f
	}
	return k.Code
}

// shifted returns the character c as ModShift has it, if that is known without
// the keyboard's layout.
func (k Key) shifted(c rune) rune {
	if k.Mods&ModShift != 0 {
		return unicode.ToUpper(c)
	}
	return c
}

// printable reports whether the key types a character of its own.
func (k Key) printable() bool { return k.Code >= ' ' && k.Code <= unicode.MaxRune }

// appendKitty appends a key that function does not know as kitty's protocol has it
// with flags.
func (k Key) appendKitty(dst []byte, flags int) []byte {
	number, text := k.point(), k.Code
	if k.Code >= KeyKPDecimal && k.Code <= KeyKP9 {
		text, _ = k.keypad()
		// The protocol numbers the digits 57399 to 57408 and goes on with the
		// others in our order.
		if number = k.Code - KeyKPDecimal + 57409; k.Code >= KeyKP0 {
			number = k.Code - KeyKP0 + 57399
		}
	}
	typed := rune(0)
	if k.Mods&^ModShift == 0 && text <= unicode.MaxRune {
		typed = k.shifted(text)
	}
	if flags&kittyAllKeys == 0 {
		switch {
		case typed != 0:
			return utf8.AppendRune(dst, typed)
		case k.Mods == 0 && (k.Code == KeyEnter || k.Code == KeyTab || k.Code == KeyBackspace):
			return append(dst, byte(k.point()))
		}
	}
	dst = strconv.AppendInt(append(dst, esc, '['), int64(number), 10)
	if up := k.shifted(number); flags&kittyAlternates != 0 && k.printable() && up != number {
		dst = strconv.AppendInt(append(dst, ':'), int64(up), 10)
	}
	told := flags&(kittyAllKeys|kittyText) == kittyAllKeys|kittyText && typed != 0
	if k.Mods != 0 || told {
		dst = append(dst, ';')
	}
	if k.Mods != 0 {
		dst = strconv.AppendInt(dst, int64(k.Mods)+1, 10)
	}
	if told {
		dst = strconv.AppendInt(append(dst, ';'), int64(typed), 10)
	}
	return append(dst, 'u')
}

// modified reports whether modifyOtherKeys at this level changes the key. Level 1
// is for what has no code of its own, level 2 for all that is more than a
// character and shift (xterm manual, "modifyOtherKeys").
func (k Key) modified(level uint8) bool {
	if level == 0 || k.Mods == 0 {
		return false
	}
	switch k.Code {
	case KeyEnter:
		return true
	case KeyTab:
		return k.Mods != ModShift
	case KeyBackspace:
		return level == 2 && k.Mods != ModCtrl
	case KeyEscape:
		return level == 2 || k.Mods != ModAlt
	case ' ':
		if k.Mods == ModShift {
			return level == 2
		}
	}
	if k.Mods&^ModShift == 0 {
		return false
	}
	if level == 2 {
		return true
	}
	_, known := control(k.Code)
	return k.Mods&ModCtrl != 0 && (!known || k.Mods&ModShift != 0)
}

// appendLegacy appends what types something as terminals always have: ctrl gives a
// control character, alt puts ESC before it.
func (t *Terminal) appendLegacy(dst []byte, k Key) []byte {
	if k.Mods&ModAlt != 0 {
		dst = append(dst, esc)
	}
	ctrl := k.Mods&ModCtrl != 0
	switch k.Code {
	case KeyEnter:
		if dst = append(dst, '\r'); t.modes.has(modeNewline) {
			dst = append(dst, '\n')
		}
		return dst
	case KeyTab:
		if k.Mods&ModShift != 0 {
			return append(dst, "\x1b[Z"...)
		}
		return append(dst, '\t')
	case KeyEscape:
		return append(dst, esc)
	case KeyBackspace: // with ctrl it is the other one
		if ctrl != t.modes.has(modeBackarrow) {
			return append(dst, '\b')
		}
		return append(dst, 0x7f)
	}
	if c, known := control(k.Code); ctrl && known {
		return append(dst, c)
	}
	return utf8.AppendRune(dst, k.shifted(k.Code))
}

// control returns the control character that ctrl makes of a key: those of ASCII and
// those that the X11 library knows besides (XLookupString).
func control(c rune) (b byte, known bool) {
	switch {
	case c == ' ', c == '2':
		return 0, true
	case c >= '3' && c <= '7':
		return byte(c-'3') + esc, true
	case c == '8', c == '?':
		return 0x7f, true
	case c == '/':
		return 0x1f, true
	case c >= '@' && c <= '_', c >= 'a' && c <= 'z':
		return byte(c) & 0x1f, true
	}
	return 0, false
}
