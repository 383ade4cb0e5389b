package keyboard

import (
	"bytes"
	"fmt"
	"strings"
)

// PasteBegin comes before what is pasted where the program has asked for that, and pasteEnd behind
// it (xterm ctlseqs, "Bracketed Paste Mode").
const (
	PasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// Filter finds the prefix key in typed input, and the key that follows it. A bracketed paste
// contains no keys.
//
// A terminal whose program asked for it sends the prefix as a sequence: CSI 92;5u (kitty keyboard
// protocol, "Disambiguate escape codes") or CSI 27;5;92~ (xterm's modifyOtherKeys). With ctrl and
// alt it is the prefix as well: so some terminals send a key that needs AltGr. Of a sequence
// that a read has cut, the part from the third byte on is held back until the next read. The first
// two bytes are not, for they may be Escape or Alt-[, which must not wait; terminals send a
// sequence in one piece.
type Filter struct {
	// Prefix is the prefix key's control character; 0: there is none.
	Prefix byte
	// NoAlt reports whether Escape with a character behind it is two keys, whose bytes have come
	// together, and not one with Alt; nil: it never is.
	NoAlt func() bool

	pending bool   // the prefix was pressed; the next key is a command
	form    []byte // the prefix as it was sent
	paste   bool   // inside brackets
	held    []byte // the beginning of a sequence that may be one of ours
	stopped bool
}

// Handler receives what a Filter finds, in order. Slices are valid during the call only. What
// begins with ESC is one sequence, with nothing behind it.
type Handler interface {
	// Typed is for the program.
	Typed(p []byte)
	// Prefixed: the prefix key was pressed.
	Prefixed()
	// Commanded is the key after the prefix: what it types, the prefix itself if it was pressed
	// again, or 0 for a key that types nothing. form is the prefix as it was sent, raw this key.
	Commanded(k rune, form, raw []byte)
}

// Pasting reports whether the last input that the Handler got begins or continues a paste.
func (f *Filter) Pasting() bool { return f.paste }

// Form returns the prefix key as it was sent last. It must not be changed.
func (f *Filter) Form() []byte { return f.form }

// Stop ends the Feed that calls the Handler, which may call it, after this call.
func (f *Filter) Stop() { f.stopped = true }

// Feed handles input. It does not retain p. It returns what is left of it if the Handler has called
// Stop.
func (f *Filter) Feed(p []byte, h Handler) (rest []byte) {
	f.stopped = false
	if len(f.held) > 0 {
		p = append(f.held, p...)
		f.held = nil
	}
	for len(p) > 0 && !f.stopped {
		n := f.scan(p, h)
		if n == 0 { // cut: what is left is the beginning of a sequence
			f.held = bytes.Clone(p)
			return nil
		}
		p = p[n:]
	}
	return p
}

// scan handles the beginning of p and returns its length; 0 if more input is needed.
func (f *Filter) scan(p []byte, h Handler) int {
	switch {
	case f.paste:
		return f.scanPaste(p, h)
	case f.pending:
		return f.scanCommand(p, h)
	}
	n := bytes.IndexByte(p, 0x1b)
	if f.Prefix != 0 {
		n = bytes.IndexAny(p, string([]byte{f.Prefix, 0x1b}))
	}
	switch {
	case n < 0:
		n = len(p)
		fallthrough
	case n > 0:
		h.Typed(p[:n])
		return n
	case p[0] == f.Prefix: // never ESC
		f.press(p[:1], h)
		return 1
	}
	return f.scanEscape(p, h)
}

// scanEscape handles p, which begins with ESC.
func (f *Filter) scanEscape(p []byte, h Handler) int {
	if bytes.HasPrefix(p, []byte(PasteBegin)) {
		f.paste = true
		h.Typed(p[:len(PasteBegin)])
		return len(PasteBegin)
	}
	if n := answerLen(p); n > 0 {
		h.Typed(p[:n])
		return n
	}
	e, n := decode(p)
	if n == 2 && f.NoAlt != nil && f.NoAlt() {
		n = 1
	}
	if n == 2 && f.Prefix != 0 && p[1] == f.Prefix { // with alt
		f.press(p[1:n], h)
		return n
	}
	switch {
	case n == 0 && len(p) < maxSequence:
		return 0
	case n == 0: // no key is that long
		h.Typed(p)
		return len(p)
	case f.Prefix == 0 || !e.is(f.letter()):
		h.Typed(p[:n])
		return n
	case e.release:
	case e.alt || e.code != f.letter(): // a program does not know these as the prefix
		f.press(fmt.Appendf(nil, "\x1b[%d;5u", f.letter()), h)
	default:
		f.press(p[:n], h)
	}
	return n
}

// press records that the prefix was pressed.
func (f *Filter) press(form []byte, h Handler) {
	f.pending, f.form = true, bytes.Clone(form)
	h.Prefixed()
}

// letter returns the key that gives the prefix together with ctrl.
func (f *Filter) letter() rune { return ctrlLetter(f.Prefix) }

// scanPaste passes on pasted text, except what may be the beginning of the closing bracket.
func (f *Filter) scanPaste(p []byte, h Handler) int {
	if n := bytes.Index(p, []byte(pasteEnd)); n >= 0 {
		f.paste = false
		n += len(pasteEnd)
		h.Typed(p[:n])
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
		h.Typed(p[:n])
	}
	return n
}

// scanCommand handles the key after the prefix. Input in between that is not a key, such as mouse
// reports and modifiers by themselves, is passed on.
func (f *Filter) scanCommand(p []byte, h Handler) int {
	e, n := decode(p)
	if n == 0 {
		if len(p) < maxSequence {
			return 0
		}
		e, n = event{}, len(p)
	}
	switch report, release := IsReport(p[:n]); {
	case release: // of the prefix key itself
		return n
	case report:
		h.Typed(p[:n])
		return n
	}
	f.pending = false
	f.paste = string(p[:n]) == PasteBegin
	switch {
	case p[0] == f.Prefix, n == 2 && p[1] == f.Prefix, e.is(f.letter()):
		h.Commanded(rune(f.Prefix), f.form, p[:n])
	case e.ctrl:
		h.Commanded(0, f.form, p[:n])
	case e.base != 0:
		h.Commanded(e.base, f.form, p[:n])
	default:
		h.Commanded(e.code, f.form, p[:n])
	}
	return n
}
