package viewer

import (
	"unicode/utf8"

	"termhost/ptypool/keyboard"
)

// converse passes the keys in p to the dialog that has the keyboard, if there is one, and returns
// the rest, which is for the program: with a dialog only what a terminal sends by itself. p is as
// in [keyboard.Handler].
func (l *inputLoop) converse(p []byte) (rest []byte) {
	d := l.w.front.hasKeys()
	if d == nil {
		l.cut = nil
		return p
	}
	if l.filter.Pasting() { // p is its beginning
		l.drop = dropPaste
		return nil
	}
	switch report, release := keyboard.IsReport(p); {
	case release:
		return nil
	case report:
		return p
	}
	p = append(l.cut, p...)
	l.cut = nil
	for len(p) > 0 && d != nil {
		k, n := keyboard.Read(p)
		if n == 0 {
			if len(p) < utf8.UTFMax { // the rest of the character is on its way
				l.cut = p
			}
			return rest
		}
		if l.toDialog(d, k) == notMine {
			rest = append(rest, p[:n]...)
		}
		d, p = l.w.front.hasKeys(), p[n:]
	}
	return append(rest, p...)
}

func (l *inputLoop) toDialog(d dialog, k keyboard.Key) verdict {
	v := d.key(k)
	if v == dialogEnds {
		l.w.front.end(d)
	}
	l.w.front.repaint()
	return v
}

// keyIn returns the key if p is exactly one key.
func keyIn(p []byte) keyboard.Key {
	k, n := keyboard.Read(p)
	if n != len(p) {
		return keyboard.Key{}
	}
	return k
}
