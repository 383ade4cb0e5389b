package host

import (
	"slices"

	"termhost/ahp/store"
	"termhost/ptypool/vt"
)

// pullPiece is how much output is taken from the log at a time where only what
// comes beside it counts.
const pullPiece = 256 << 10

// Screen returns what draws the screen as it is, without the lines above it, and
// continues behind it. It is for a viewer whose terminal must be drawn anew
// without sending the whole history again. What the program put on the clipboard
// meanwhile comes with it.
func (a *Attach) Screen() ([]byte, error) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	if a.opts.Cols == 0 {
		return a.redrawLocked()
	}
	return a.drawLocked(a.asideLocked(nil), vt.Redraw{})
}

// Cover is for a viewer that was sent the program's output and now gets something
// drawn over it. It appends to dst all output that has not been pulled yet, to be
// written first, so that no line is missing from the viewer's scrollback, and
// returns what draws the screen behind it. Until [Attach.Uncover] the viewer is
// drawn for with [Attach.Covered].
func (a *Attach) Cover(dst []store.Item) (missed []store.Item, screen []byte, err error) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	for more := true; more; {
		dst, more = a.pullLocked(dst)
	}
	a.scrolled, a.rung = a.t.scrolled(), a.t.bells
	screen, err = a.drawLocked(nil, vt.Redraw{})
	return dst, screen, err
}

// Covered returns what draws the screen as it is for a viewer that something is
// drawn over, or whose window is of another size, and continues behind it; update
// draws over an earlier drawing for the same window, see [vt.Redraw]. What is not
// seen comes with it: the clipboard and the bell.
func (a *Attach) Covered(update bool) ([]byte, error) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return a.drawLocked(a.bellLocked(a.asideLocked(nil)), vt.Redraw{Update: update})
}

// Uncover returns what draws the screen as it is and continues behind it, for a
// viewer that is sent the program's output from now on. The lines that left the
// screen since the last of it come first.
func (a *Attach) Uncover() ([]byte, error) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	missed := int(a.t.scrolled() - a.scrolled)
	return a.drawLocked(a.bellLocked(a.asideLocked(nil)), vt.Redraw{Update: true, Scrollback: max(missed, 0)})
}

// drawLocked appends a redraw for the viewer's window and continues behind it.
func (a *Attach) drawLocked(dst []byte, r vt.Redraw) ([]byte, error) {
	if err := a.sub.Follow(a.t.ch); err != nil {
		return nil, err
	}
	r.Cols, r.Rows = a.cols, a.rows
	return a.t.term.Screen().AppendRedraw(dst, r), nil
}

// asideLocked passes over the output that has not been pulled yet and appends the
// clipboards among it.
func (a *Attach) asideLocked(dst []byte) []byte {
	var items []store.Item
	for more := true; more; {
		items, more = a.pullLocked(items[:0])
		for _, it := range items {
			if isClipboard(it) {
				dst = append(dst, it.Entry.Action().(store.Clipboard).Sequence...)
			}
		}
	}
	return dst
}

// bellLocked appends a bell if the program rang since the last drawing.
func (a *Attach) bellLocked(dst []byte) []byte {
	if a.rung != a.t.bells {
		a.rung = a.t.bells
		dst = append(dst, 0x07)
	}
	return dst
}

// scrolled returns how many lines have left the top of the main screen and not come
// back: where its history ends. The Term's lock is held.
func (t *Terminal) scrolled() uint64 { return t.term.Screen().Scrolled() - t.pulledBack }

// pullLocked appends to dst a piece of what has not been pulled yet. more says that
// there may be another; there is none for a viewer that fell behind.
func (a *Attach) pullLocked(dst []store.Item) (items []store.Item, more bool) {
	given := len(dst)
	dst = a.sub.Pull(dst, pullPiece)
	a.t.brake.progressed()
	n := len(dst)
	switch {
	case n == given:
		return dst, false
	case dst[n-1].Lagged != nil:
		return a.mayReadLocked(dst[:n-1], given), false
	}
	return a.mayReadLocked(dst, given), true
}

// mayReadLocked takes the clipboards out of items from given on unless the viewer
// holds the claim.
func (a *Attach) mayReadLocked(items []store.Item, given int) []store.Item {
	if !a.opts.ReadOnly && a.holdsLocked() {
		return items
	}
	kept := slices.DeleteFunc(items[given:], isClipboard)
	return items[:given+len(kept)]
}
