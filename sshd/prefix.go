package sshd

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"termhost/ahp/host"
)

// keyFilter finds the prefix key in what a person types. In text pasted in
// brackets (xterm ctlseqs, "Bracketed Paste Mode") nothing is a key.
//
// A terminal whose program asked for it sends the prefix as a sequence: CSI
// 92;5u (kitty keyboard protocol, "Disambiguate escape codes") or CSI 27;5;92~
// (xterm's modifyOtherKeys). Of a sequence that a read has cut, the part from
// the third byte on is held back until the next read; terminals send a sequence
// at once, and Alt-[ alone must not wait.
type keyFilter struct {
	prefix byte // 0: none

	pending bool   // the prefix was pressed; the next key is a command
	form    []byte // the prefix as it was sent
	paste   bool   // inside brackets
	held    []byte // the beginning of a sequence that may be one of ours
}

const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// keyHandler receives what a keyFilter finds, in order. Slices are valid during
// the call only. What begins with ESC is one sequence, with nothing behind it.
type keyHandler interface {
	typed(p []byte) // goes to the program
	prefixed()      // the prefix key was pressed
	// commanded is the key after it; 0: one without a letter. form is the prefix
	// as it was sent.
	commanded(k rune, form, raw []byte)
}

// feed takes what was read. p is not kept.
func (f *keyFilter) feed(p []byte, h keyHandler) {
	if f.prefix == 0 {
		h.typed(p)
		return
	}
	if len(f.held) > 0 {
		p = append(f.held, p...)
		f.held = nil
	}
	for len(p) > 0 {
		n := f.scan(p, h)
		if n == 0 { // cut: what is left is the beginning of a sequence
			f.held = bytes.Clone(p)
			return
		}
		p = p[n:]
	}
}

// scan deals with the beginning of p and returns its length; 0: more is needed.
func (f *keyFilter) scan(p []byte, h keyHandler) int {
	switch {
	case f.paste:
		return f.scanPaste(p, h)
	case f.pending:
		return f.scanCommand(p, h)
	}
	n := bytes.IndexAny(p, string([]byte{f.prefix, 0x1b}))
	switch {
	case n < 0:
		n = len(p)
		fallthrough
	case n > 0:
		h.typed(p[:n])
		return n
	case p[0] == f.prefix:
		f.press(p[:1], h)
		return 1
	}
	return f.scanEscape(p, h)
}

// scanEscape deals with p, which begins with ESC.
func (f *keyFilter) scanEscape(p []byte, h keyHandler) int {
	if bytes.HasPrefix(p, []byte(pasteBegin)) {
		f.paste = true
		h.typed(p[:len(pasteBegin)])
		return len(pasteBegin)
	}
	k, n := decodeKey(p)
	switch {
	case n == 0 && len(p) < maxKeySequence:
		return 0
	case n == 0: // no key is that long
		h.typed(p)
		return len(p)
	case k.code == 0 || !k.ctrl || k.code != f.letter():
		h.typed(p[:n])
		return n
	case !k.release:
		f.press(p[:n], h)
	}
	return n
}

// press notes that the prefix was pressed.
func (f *keyFilter) press(form []byte, h keyHandler) {
	f.pending, f.form = true, bytes.Clone(form)
	h.prefixed()
}

// letter returns the key that gives the prefix together with ctrl.
func (f *keyFilter) letter() rune { return ctrlLetter(f.prefix) }

func ctrlLetter(c byte) rune { return rune(strings.ToLower(string(rune(c | 0x40)))[0]) }

// keyName writes a control character as a person calls it.
func keyName(c byte) string { return "Ctrl-" + strings.ToUpper(string(ctrlLetter(c))) }

func (f *keyFilter) scanPaste(p []byte, h keyHandler) int {
	if n := bytes.Index(p, []byte(pasteEnd)); n >= 0 {
		f.paste = false
		n += len(pasteEnd)
		h.typed(p[:n])
		return n
	}
	n := len(p)
	for cut := min(len(pasteEnd)-1, len(p)); cut > 0; cut-- {
		if strings.HasPrefix(pasteEnd, string(p[len(p)-cut:])) {
			n -= cut
			break
		}
	}
	if n > 0 {
		h.typed(p[:n])
	}
	return n
}

// scanCommand deals with the key after the prefix. What comes between them and is
// no key, such as the mouse, and modifiers by themselves, is passed on.
func (f *keyFilter) scanCommand(p []byte, h keyHandler) int {
	k, n := decodeKey(p)
	if n == 0 {
		if len(p) < maxKeySequence {
			return 0
		}
		k, n = key{}, len(p)
	}
	switch report, release := host.IsReport(p[:n]); {
	case release: // of the prefix key itself
		return n
	case report:
		h.typed(p[:n])
		return n
	}
	f.pending = false
	f.paste = string(p[:n]) == pasteBegin
	switch {
	case p[0] == f.prefix, k.ctrl && k.code == f.letter():
		h.commanded(rune(f.prefix), f.form, p[:n])
	case k.ctrl:
		h.commanded(0, f.form, p[:n])
	default:
		h.commanded(k.code, f.form, p[:n])
	}
	return n
}

// key is one key as a terminal sends it.
type key struct {
	code    rune // of the key without modifiers; 0: unknown or a function key
	ctrl    bool
	release bool
}

// maxKeySequence bounds a key's sequence in bytes; the longest known ones, with
// kitty's associated text, have about forty.
const maxKeySequence = 64

// decodeKey reads the key that p begins with and its length; 0 means that the
// sequence is cut.
func decodeKey(p []byte) (k key, n int) {
	switch {
	case p[0] != 0x1b:
		if !utf8.FullRune(p) {
			return key{}, 0
		}
		r, n := utf8.DecodeRune(p)
		return key{code: r}, n
	case len(p) == 1:
		return key{}, 1
	case p[1] == 'O' && len(p) > 2: // SS3: one more
		return key{}, 3
	case p[1] != '[' || len(p) == 2:
		return key{}, 2
	case p[2] == 'M': // X10 mouse: button, column and row follow (xterm ctlseqs, "Normal tracking mode")
		if len(p) < 6 {
			return key{}, 0
		}
		return key{}, 6
	}
	for i := 2; i < len(p); i++ {
		switch c := p[i]; {
		case c >= 0x40 && c < 0x7f:
			return decodeCSI(string(p[2:i]), c), i + 1
		case c < 0x20 || c >= 0x7f:
			return key{}, i // no sequence after all
		}
	}
	return key{}, 0
}

// decodeCSI reads the parameters of a sequence in which a terminal may send an
// ordinary key.
func decodeCSI(params string, final byte) key {
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
		return key{}
	}
	code, _, _ = strings.Cut(code, ":")
	mods, event, _ := strings.Cut(mods, ":")
	const (
		shift    = 1
		ctrl     = 4
		released = "3"
	)
	m := max(number(mods)-1, 0)
	k := key{code: rune(number(code)), ctrl: m&ctrl != 0, release: event == released}
	if m&(0x3f&^(shift|ctrl)) != 0 { // alt, super, hyper, meta: another key
		k.code = 0
	}
	return k
}

// number reads a short decimal number; 0 if it is none.
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
