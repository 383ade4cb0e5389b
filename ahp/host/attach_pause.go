package host

import (
	"termhost/ahp"
	"termhost/ahp/store"
)

// What the host says of itself goes to a viewer's terminal between two pieces of the program's
// output, which stay as they are: at a moment when the viewer has got all of it.

// Pause has the caller draw something for a while over a screen to which the program's output was
// written so far. If there is output, Pause appends it to dst; the caller writes that, and may try
// again. Otherwise over is called with the cursor's position in the window, counted from 0, and
// returns the rows that will be drawn over; it must not block. back takes that away, until more is
// pulled; the caller writes it before that. [vt.Screen.AppendBack] says what may be drawn. back is
// nil if nothing may be drawn now, or if the window has another size than the screen.
func (a *Attach) Pause(dst []store.Item, over func(x, y int) (rows []int)) (
	missed []store.Item, back []byte,
) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	n := len(dst)
	if dst, _ = a.pullAllLocked(dst); len(dst) > n || !a.fitsLocked() {
		return dst, nil
	}
	screen := a.t.term.Screen()
	if screen.SplitsRune() {
		return dst, nil
	}
	x, y, _ := screen.Cursor()
	if rows := over(x, y); len(rows) > 0 {
		back, _ = screen.AppendBack(nil, rows)
	}
	return dst, back
}

// Beside has the caller write a sequence that shows nothing, such as a title. It appends the output
// that has not been pulled yet to dst. The caller writes that first. If the program is in the
// middle of a sequence then, begun is its beginning, which the caller writes again afterwards. If
// ok is false, the caller writes the output only, and tries again when there is more.
func (a *Attach) Beside(dst []store.Item) (missed []store.Item, begun []byte, ok bool) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	dst, whole := a.pullAllLocked(dst)
	screen := a.t.term.Screen()
	if !whole || screen.SplitsRune() {
		return dst, nil, false
	}
	return dst, screen.Begun(), true
}

// CursorRow returns the row of the window, counted from 0, with the cursor.
func (a *Attach) CursorRow() int {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	_, y := a.t.term.Screen().ShownCursor()
	return y - a.y
}

// pullAllLocked appends all output that has not been pulled yet to dst, and last that the viewer
// has fallen behind, if it has. whole: it has not, and nothing else makes the screen another one
// than the output does.
func (a *Attach) pullAllLocked(dst []store.Item) (items []store.Item, whole bool) {
	given := len(dst)
	for n := -1; n < len(dst) && !lags(dst[given:]); {
		n = len(dst)
		dst = a.sub.Pull(dst, pullPiece)
	}
	whole = !lags(dst[given:])
	for _, it := range dst[given:] {
		if it.Entry == nil {
			continue
		}
		switch it.Entry.Action().(type) {
		case ahp.TerminalResized, ahp.TerminalCleared:
			whole = false
		}
	}
	return a.mayReadLocked(dst, given), whole
}

// lags reports whether items end with that the viewer has fallen behind.
func lags(items []store.Item) bool {
	return len(items) > 0 && items[len(items)-1].Lagged != nil
}

// withoutLag removes it.
func withoutLag(items []store.Item) []store.Item {
	if lags(items) {
		return items[:len(items)-1]
	}
	return items
}
