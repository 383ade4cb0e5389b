package verbs

import (
	"sync"
	"time"
	"unicode/utf8"

	"termhost/ptypool/keyboard"
)

// dialog is what is shown over a viewer's screen and has the keyboard meanwhile. Help and notices
// may come over it.
//
// Its methods are called by two goroutines, so it has a lock of its own, which it must not hold
// while it uses the viewer or the input loop.
type dialog interface {
	// draw returns what is shown in a window. The viewer's loop calls it for each drawing, at least
	// every dialogFrame. There must be a line.
	draw(w Window) overlay
	// key is called by the input loop with each key that is typed. What is pasted is no key.
	key(k keyboard.Key) verdict
}

// verdict is what a key means to a dialog.
type verdict int

const (
	dialogStays verdict = iota
	dialogEnds
	// notMine: the dialog stays, and the key is typed at the program.
	notMine
)

// dialogFrame is how long what a dialog shows may be out of date: ages, and states that nobody
// tells the viewer of.
const dialogFrame = time.Second / 2

// front has the dialog of a viewer. There is one at a time.
type front struct {
	mu    sync.Mutex // a leaf
	shown dialog     // nil: none
	drawn bool       // it has the keyboard
}

// dialog returns what is to be drawn; nil: there is none.
func (f *front) dialog() dialog {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.shown
}

// hasKeys returns the dialog if it has the keyboard.
func (f *front) hasKeys() dialog {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.drawn {
		return nil
	}
	return f.shown
}

// setDrawn gives d, which has been drawn, the keyboard.
func (f *front) setDrawn(d dialog) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drawn = f.drawn || f.shown == d
}

// raise shows a dialog that nobody has asked for at this moment. What is typed before it is drawn
// goes to the program. It reports false, and does nothing, while there is another one.
func (w *viewer) raise(d dialog) bool {
	w.front.mu.Lock()
	defer w.front.mu.Unlock()
	if !w.interactive || w.front.shown != nil {
		return false
	}
	w.front.shown, w.front.drawn = d, false
	w.repaint()
	return true
}

// open shows a dialog that a key has asked for, instead of any other. The next key is the dialog's.
func (w *viewer) open(d dialog) {
	w.front.mu.Lock()
	defer w.front.mu.Unlock()
	w.front.shown, w.front.drawn = d, true
	w.repaint()
}

// clear takes away whatever is shown.
func (f *front) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shown = nil
}

// end takes d away if it is shown.
func (w *viewer) end(d dialog) {
	w.front.mu.Lock()
	defer w.front.mu.Unlock()
	if w.front.shown == d {
		w.front.shown = nil
		w.repaint()
	}
}

// repaint has what lies over the screen drawn anew. Any goroutine may call it, with any lock held.
func (w *viewer) repaint() {
	select {
	case w.stale <- struct{}{}:
	default:
	}
}

// converse gives the keys in p to the dialog that has the keyboard, if there is one, and returns
// what is for the program. What a terminal sends by itself is. p is as [keyboard.Handler] has it.
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
		l.w.end(d)
	}
	l.w.repaint()
	return v
}

// keyIn returns the key that p is, and nothing else.
func keyIn(p []byte) keyboard.Key {
	k, n := keyboard.Read(p)
	if n != len(p) {
		return keyboard.Key{}
	}
	return k
}
