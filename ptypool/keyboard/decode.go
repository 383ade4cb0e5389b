package keyboard

import (
	"strings"
	"unicode/utf8"
)

// event is one key as a terminal sends it.
type event struct {
	code    rune // what the key types without modifiers; 0 if unknown or a function key
	base    rune // what it would type on a US keyboard, if code is not ASCII; 0: that was not said
	ctrl    bool
	alt     bool
	release bool
}

// maxSequence bounds a key's sequence in bytes; the longest known ones, with kitty's associated
// text, have about forty.
const maxSequence = 64

// Length returns the length in bytes of the key or sequence at the beginning of p; 0: its end is
// missing.
func Length(p []byte) int {
	_, n := decode(p)
	return n
}

// decode reads the key at the beginning of p and its length; 0: its end is missing.
func decode(p []byte) (e event, n int) {
	switch {
	case p[0] != 0x1b:
		if !utf8.FullRune(p) {
			return event{}, 0
		}
		r, n := utf8.DecodeRune(p)
		return event{code: r}, n
	case len(p) == 1:
		return event{}, 1
	case p[1] == 'O' && len(p) > 2: // SS3: one more
		return event{}, 3
	case p[1] != '[' || len(p) == 2:
		return event{}, 2
	case p[2] == 'M': // X10 mouse (xterm ctlseqs, "Normal tracking mode"): three bytes follow
		if len(p) < 6 {
			return event{}, 0
		}
		return event{}, 6
	}
	for i := 2; i < len(p); i++ {
		switch c := p[i]; {
		case c >= 0x40 && c < 0x7f:
			return decodeCSI(string(p[2:i]), c), i + 1
		case c < 0x20 || c >= 0x7f:
			return event{}, i // no sequence after all
		}
	}
	return event{}, 0
}

// decodeCSI reads the parameters of a sequence in which a terminal may send an ordinary key.
func decodeCSI(params string, final byte) event {
	fields := strings.Split(params, ";")
	var code, mods string
	switch {
	case final == 'u': // CSI code[:shifted:base];mods[:event];text u
		code = fields[0]
		if len(fields) > 1 {
			mods = fields[1]
		}
	case final == '~' && len(fields) == 3 && fields[0] == "27": // CSI 27;mods;code ~
		mods, code = fields[1], fields[2]
	default:
		return event{}
	}
	code, alternates, _ := strings.Cut(code, ":")
	_, base, _ := strings.Cut(alternates, ":")
	mods, kind, _ := strings.Cut(mods, ":")
	const (
		others   = 0x38 // super, hyper, meta
		released = "3"
	)
	m := max(number(mods)-1, 0)
	e := event{code: rune(number(code)), ctrl: m&int(Ctrl) != 0, alt: m&int(Alt) != 0,
		release: kind == released}
	if e.code >= utf8.RuneSelf {
		e.base = rune(number(base))
	}
	if m&others != 0 || e.alt && !e.ctrl { // with these it is another key
		e.code, e.base = 0, 0
	}
	return e
}

// is reports whether the key is c together with ctrl. AltGr, which some keyboards need for c, is
// ctrl and alt for some terminals. Without a Latin letter on the key its place counts (kitty
// keyboard protocol, "Key codes", the base layout key).
func (e event) is(c rune) bool { return e.ctrl && (e.code == c || e.base == c) }

// number reads a short decimal number; 0 if s is not one.
func number(s string) int {
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' || n > 0x10ffff {
			return 0
		}
		n = n*10 + int(s[i]-'0')
	}
	return n
}
