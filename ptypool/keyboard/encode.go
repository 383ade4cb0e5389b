package keyboard

import (
	"strconv"
	"unicode"
	"unicode/utf8"
)

// The keyboard flags of kitty's protocol ("Progressive enhancement").
const (
	kittyDisambiguate = 1 << iota
	kittyEvents
	kittyAlternates
	kittyAllKeys
	kittyText
)

// Modes are the modes of a terminal that say how it sends keys. The zero value is that of a
// terminal just switched on.
type Modes struct {
	CursorKeys bool // DECCKM: the cursor keys send SS3 instead of CSI
	Keypad     bool // DECPAM: the keypad sends sequences instead of what is printed on it
	Backarrow  bool // DECBKM: Backspace sends BS instead of DEL
	Newline    bool // LNM: Enter sends LF too
	Paste      bool // bracketed paste: what is pasted comes in brackets

	ModifyOther uint8 // xterm's modifyOtherKeys, 0 to 2
	Kitty       uint8 // the flags of kitty's protocol
}

// Append appends what a terminal in the modes m sends for k: xterm's encoding (ctlseqs, "PC-Style
// Function Keys", "Alt and Meta Keys" and modifyOtherKeys) or, where the program has asked for it,
// that of kitty's keyboard protocol. Nothing is sent for letting the key go. A modifier that the
// encoding in force cannot express is left out, as terminals do.
func (k Key) Append(dst []byte, m Modes) []byte {
	if lower := unicode.ToLower(k.Code); lower != k.Code && unicode.ToUpper(lower) == k.Code {
		k.Code, k.Mods = lower, k.Mods|Shift
	}
	flags := int(m.Kitty)
	if _, _, ok := k.function(true); ok && flags&(kittyDisambiguate|kittyEvents|kittyAllKeys) != 0 {
		return k.appendFunction(dst, true, false)
	}
	if flags&(kittyDisambiguate|kittyAllKeys) != 0 {
		return k.appendKitty(dst, flags)
	}
	if n := k.Code - KPDecimal; n >= 0 && k.Code <= KP9 {
		return k.appendKeypad(dst, m)
	}
	if k.Code > F12 && k.Code <= F24 { // kf13 to kf24 of xterm's terminfo entry
		k.Code, k.Mods = k.Code-12, k.Mods|Shift
	}
	if _, _, ok := k.function(false); ok {
		return k.appendFunction(dst, false, m.CursorKeys)
	}
	if k.modified(m.ModifyOther) {
		return appendSeq(dst, 27, int(k.Mods)+1, int(k.shifted(k.point())), '~')
	}
	return k.appendLegacy(dst, m)
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

// function returns the number and the final byte of a key that has a control sequence in every
// mode; for a final letter the number is 1. kitty's F3 is another, because its letter would be a
// cursor position report.
func (k Key) function(kitty bool) (number int, final byte, ok bool) {
	switch c := k.Code; {
	case c >= Up && c <= End:
		return 1, "ABCDHF"[c-Up], true
	case c >= Insert && c <= PageDown:
		return [...]int{2, 3, 5, 6}[c-Insert], '~', true
	case kitty && c == F1+2:
		return 13, '~', true
	case c >= F1 && c < F1+4:
		return 1, "PQRS"[c-F1], true
	case c >= F1+4 && c <= F12:
		return [...]int{15, 17, 18, 19, 20, 21, 23, 24}[c-F1-4], '~', true
	case kitty && c > F12 && c <= F24:
		return int(c-F12) + 57375, 'u', true
	}
	return 0, 0, false
}

// appendFunction appends the sequence of a key that function knows. application is DECCKM.
func (k Key) appendFunction(dst []byte, kitty, application bool) []byte {
	number, final, _ := k.function(kitty)
	switch {
	case k.Mods != 0:
		return appendSeq(dst, number, int(k.Mods)+1, 0, final)
	case number > 1:
		return append(strconv.AppendInt(append(dst, esc, '['), int64(number), 10), final)
	case !kitty && (application || k.Code >= F1):
		return append(dst, esc, 'O', final)
	}
	return append(dst, esc, '[', final)
}

// appendKeypad appends a key of the keypad: in application mode (DECKPAM) its SS3 sequence,
// otherwise what is printed on it.
func (k Key) appendKeypad(dst []byte, m Modes) []byte {
	main, final := k.keypad()
	if m.Keypad && k.Mods == 0 {
		return append(dst, esc, 'O', final)
	}
	k.Code = main
	return k.appendLegacy(dst, m)
}

// keypad returns the key of the main block with the same meaning, and the final byte in application
// mode (ctlseqs, "VT220-Style Function Keys").
func (k Key) keypad() (main rune, final byte) {
	switch i := k.Code - KPDecimal; {
	case k.Code == KPEnter:
		return Enter, 'M'
	case k.Code >= KP0:
		return '0' + k.Code - KP0, 'p' + byte(k.Code-KP0)
	default:
		return rune("./*-+\x00="[i]), "nojmk\x00X"[i]
	}
}

// point returns the number of a key that types something, in both protocols that have one.
func (k Key) point() rune {
	switch k.Code {
	case Enter:
		return '\r'
	case Tab:
		return '\t'
	case Escape:
		return esc
	case Backspace:
		return 0x7f
	}
	return k.Code
}

// shifted returns the character c as Shift has it, if that is known without the keyboard's layout.
func (k Key) shifted(c rune) rune {
	if k.Mods&Shift != 0 {
		return unicode.ToUpper(c)
	}
	return c
}

// printable reports whether the key types a character of its own.
func (k Key) printable() bool { return k.Code >= ' ' && k.Code <= unicode.MaxRune }

// appendKitty appends a key that function does not know as kitty's protocol has it with flags.
func (k Key) appendKitty(dst []byte, flags int) []byte {
	number, text := k.point(), k.Code
	if k.Code >= KPDecimal && k.Code <= KP9 {
		text, _ = k.keypad()
		// The protocol numbers the digits 57399 to 57408 and goes on with the others in our order.
		if number = k.Code - KPDecimal + 57409; k.Code >= KP0 {
			number = k.Code - KP0 + 57399
		}
	}
	typed := rune(0)
	if k.Mods&^Shift == 0 && text <= unicode.MaxRune {
		typed = k.shifted(text)
	}
	if flags&kittyAllKeys == 0 {
		switch {
		case typed != 0:
			return utf8.AppendRune(dst, typed)
		case k.Mods == 0 && (k.Code == Enter || k.Code == Tab || k.Code == Backspace):
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

// modified reports whether modifyOtherKeys at this level changes the key. Level 1 is for what has
// no code of its own, level 2 for all that is more than a character and shift (xterm manual,
// "modifyOtherKeys").
func (k Key) modified(level uint8) bool {
	if level == 0 || k.Mods == 0 {
		return false
	}
	switch k.Code {
	case Enter:
		return true
	case Tab:
		return k.Mods != Shift
	case Backspace:
		return level == 2 && k.Mods != Ctrl
	case Escape:
		return level == 2 || k.Mods != Alt
	case ' ':
		if k.Mods == Shift {
			return level == 2
		}
	}
	if k.Mods&^Shift == 0 {
		return false
	}
	if level == 2 {
		return true
	}
	_, known := control(k.Code)
	return k.Mods&Ctrl != 0 && (!known || k.Mods&Shift != 0)
}

// appendLegacy appends what types something as terminals always have: ctrl gives a control
// character, alt puts ESC before it.
func (k Key) appendLegacy(dst []byte, m Modes) []byte {
	if k.Mods&Alt != 0 {
		dst = append(dst, esc)
	}
	ctrl := k.Mods&Ctrl != 0
	switch k.Code {
	case Enter:
		if dst = append(dst, '\r'); m.Newline {
			dst = append(dst, '\n')
		}
		return dst
	case Tab:
		if k.Mods&Shift != 0 {
			return append(dst, "\x1b[Z"...)
		}
		return append(dst, '\t')
	case Escape:
		return append(dst, esc)
	case Backspace: // with ctrl it is the other one
		if ctrl != m.Backarrow {
			return append(dst, '\b')
		}
		return append(dst, 0x7f)
	}
	if c, known := control(k.Code); ctrl && known {
		return append(dst, c)
	}
	return utf8.AppendRune(dst, k.shifted(k.Code))
}

// control returns the control character that ctrl makes of a key: those of ASCII and those that the
// X11 library knows besides (XLookupString).
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
