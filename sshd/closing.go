package sshd

import (
	"unicode/utf8"

	"termhost/ahp/host"
)

// dropping is what a key that closed something leaves to be dropped.
type dropping int

const (
	dropNothing dropping = iota
	dropRune             // the rest of a character
	dropPaste            // up to the end of the brackets
)

// closing takes from p what closes the help or the list, if they are shown, and
// returns what is left for the program. A key has done its work with that. So has
// a paste, which nobody meant for the help, and of which a part must never be
// typed. What a terminal sends by itself closes nothing.
func (t *typist) closing(p []byte) []byte {
	switch t.drop {
	case dropPaste:
		if !t.filter.paste { // p is its end
			t.drop = dropNothing
		}
		return nil
	case dropRune:
		t.drop = dropNothing
		for len(p) > 0 && !utf8.RuneStart(p[0]) {
			p = p[1:]
		}
	}
	if !t.modal || len(p) == 0 {
		return p
	}
	switch report, release := host.IsReport(p); {
	case release: // of the key that opened it
		return nil
	case report:
		return p
	}
	t.modal = false
	t.w.post(event{kind: dismiss})
	if t.filter.paste { // p is its beginning
		t.drop = dropPaste
		return nil
	}
	_, n := decodeKey(p)
	if n == 0 {
		t.drop, n = dropRune, len(p)
	}
	return p[n:]
}
