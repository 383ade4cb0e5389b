package viewer

import (
	"unicode/utf8"

	"termhost/ptypool/keyboard"
)

// dropping is the rest of a key that closed something, which is to be dropped.
type dropping int

const (
	dropNothing dropping = iota
	dropRune             // the rest of a character
	dropPaste            // a paste, up to the bracket that ends it
)

// dismissing removes from p the key that closes the help or the list, if they are shown, and
// returns the rest for the program. A paste is removed as well: it was not meant for the help, and
// must not be typed in part. What a terminal sends by itself closes nothing.
func (l *inputLoop) dismissing(p []byte) []byte {
	switch l.drop {
	case dropPaste:
		if !l.filter.Pasting() { // p is its end
			l.drop = dropNothing
		}
		return nil
	case dropRune:
		l.drop = dropNothing
		for len(p) > 0 && !utf8.RuneStart(p[0]) {
			p = p[1:]
		}
	}
	if !l.modal || len(p) == 0 {
		return p
	}
	switch report, release := keyboard.IsReport(p); {
	case release: // of the key that opened it
		return nil
	case report:
		return p
	}
	l.modal = false
	l.w.post(event{kind: dismiss})
	if l.filter.Pasting() { // p is its beginning
		l.drop = dropPaste
		return nil
	}
	n := keyboard.Length(p)
	if n == 0 {
		l.drop, n = dropRune, len(p)
	}
	return p[n:]
}
