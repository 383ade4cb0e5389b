package viewer

import (
	"sync"
	"time"

	"termhost/ptypool/keyboard"
)

// dialog is shown over a viewer's screen and has the keyboard meanwhile. Help and notices may cover
// it.
//
// Its methods are called by two goroutines, so it has a lock of its own, which it must not hold
// while it calls the viewer or the input loop.
type dialog interface {
	// draw returns the overlay for part, the uncovered part of the full window. The viewer's loop
	// calls it for each drawing, at least every dialogFrame. It must have a line.
	draw(full, part Window) overlay
	// key is called by the input loop with each key that is typed. Pastes are no keys.
	key(k keyboard.Key) verdict
}

// asking is a dialog that the person must be able to read: it comes before notices, no program
// changes its colours, and it is told when it is on the screen.
type asking interface {
	dialog
	// drawn is called by the viewer's loop when the last result of draw has been written.
	drawn()
}

// closing is a dialog that is told when it is shown no more.
type closing interface {
	dialog
	// closed may be called with any lock held but the dialog's own.
	closed()
}

// verdict is what a key means to a dialog.
type verdict int

const (
	dialogStays verdict = iota
	dialogEnds
	// notMine: the dialog stays, and the key is typed at the program.
	notMine
)

// dialogFrame is how long a dialog may be out of date: nobody reports changes of ages and states.
const dialogFrame = time.Second / 2

// front holds a viewer's dialog. There is at most one, and none where nothing is drawn. Its
// methods may be called concurrently.
type front struct {
	draws bool          // the viewer does
	stale chan struct{} // 1 deep: see repaint

	mu    sync.Mutex // a leaf
	shown dialog     // nil: none
	drawn bool       // it has the keyboard
}

func newFront(draws bool) *front {
	return &front{draws: draws, stale: make(chan struct{}, 1)}
}

// dialog returns the dialog to draw, or nil.
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

// setDrawn gives the keyboard to d, which has been drawn.
func (f *front) setDrawn(d dialog) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drawn = f.drawn || f.shown == d
}

// raise shows a dialog that the person has not asked for just now. What is typed before it is drawn
// goes to the program. It returns false, and does nothing, while there is another one.
func (f *front) raise(d dialog) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.draws || f.shown != nil {
		return false
	}
	f.shown, f.drawn = d, false
	f.repaint()
	return true
}

// open shows a dialog that a key has asked for, instead of any other. The next key is the dialog's.
func (f *front) open(d dialog) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.replaceLocked(d)
	f.drawn = true
	f.repaint()
}

// clear removes the dialog.
func (f *front) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.replaceLocked(nil)
}

// replaceLocked shows d instead of what was shown.
func (f *front) replaceLocked(d dialog) {
	if was, ok := f.shown.(closing); ok && f.shown != d {
		was.closed()
	}
	f.shown = d
}

// end removes d if it is shown.
func (f *front) end(d dialog) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shown == d {
		f.replaceLocked(nil)
		f.repaint()
	}
}

// repaint has the overlays drawn anew. Any goroutine may call it, with any lock held.
func (f *front) repaint() {
	select {
	case f.stale <- struct{}{}:
	default:
	}
}
