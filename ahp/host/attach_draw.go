package host

import (
	"slices"

	"termhost/ahp/store"
	"termhost/ptypool/vt"
)

// pullPiece, in bytes, is how much output is taken from the log at a time.
const pullPiece = 256 << 10

// Screen returns what draws the present screen, without the lines above it. What is pulled next
// follows it. It is for a viewer whose window must be drawn anew, without sending it the whole
// history again. What the program has put on the clipboard meanwhile, or notified of, comes first.
func (a *Attach) Screen() ([]byte, error) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	if a.opts.Cols == 0 {
		return a.redrawLocked()
	}
	return a.drawLocked(a.asideLocked(nil), vt.Redraw{})
}

// Cover is for a viewer that has been sent the program's output, and over which something is drawn
// from now on. It appends to dst all output that has not been pulled yet. That is to be written
// first, so that no line is missing from the viewer's scrollback. screen draws the screen after it.
// Until [Attach.Uncover] is called, [Attach.Covered] draws for the viewer.
func (a *Attach) Cover(dst []store.Item) (missed []store.Item, screen []byte, err error) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	for more := true; more; {
		dst, more = a.pullLocked(dst)
	}
	a.scrolled, a.rung = a.t.viewers.scrolled(), a.t.attention.bells
	screen, err = a.drawLocked(nil, vt.Redraw{})
	return dst, screen, err
}

// Covered returns what draws the present screen for a viewer over which something is drawn, or
// whose window has another size than the terminal. What is pulled next follows it. update: it goes
// over an earlier drawing for the same window, see [vt.Redraw]. Clipboard, notification and bell
// come with it, which a screen does not show.
func (a *Attach) Covered(update bool) ([]byte, error) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return a.drawLocked(a.bellLocked(a.asideLocked(nil)), vt.Redraw{Update: update})
}

// Uncover returns what draws the present screen for a viewer that is sent the program's output
// again from now on. What is pulled next follows it. The lines that have left the screen since the
// viewer was sent output last come first.
func (a *Attach) Uncover() ([]byte, error) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	missed := int(a.t.viewers.scrolled() - a.scrolled)
	r := vt.Redraw{Update: true, Scrollback: max(missed, 0)}
	return a.drawLocked(a.bellLocked(a.asideLocked(nil)), r)
}

// OwnColors returns what gives the viewer's terminal its own colours back, if the program has
// changed some: in them can be read what is drawn over the screen. Every drawing of the screen sets
// those of the program again.
func (a *Attach) OwnColors() []byte {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return a.t.term.Screen().AppendOwnColors(nil)
}

// ReportsFocus returns whether the program has asked for reports of the focus.
func (a *Attach) ReportsFocus() bool {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return a.t.term.Screen().ReportsFocus()
}

// drawLocked appends a redraw for the viewer's window. What is pulled next follows it.
func (a *Attach) drawLocked(dst []byte, r vt.Redraw) ([]byte, error) {
	if err := a.sub.Follow(a.t.ch); err != nil {
		return nil, err
	}
	r.Cols, r.Rows = a.cols, a.rows
	return a.t.term.Screen().AppendRedraw(dst, r), nil
}

// asideLocked drops the output that has not been pulled yet, and appends the clipboards and
// notifications among it.
func (a *Attach) asideLocked(dst []byte) []byte {
	var items []store.Item
	for more := true; more; {
		items, more = a.pullLocked(items[:0])
		for _, it := range items {
			if seq, ok := it.HolderOnly(); ok {
				dst = append(dst, seq...)
			}
		}
	}
	return dst
}

// bellLocked appends a bell if the program has rung since the viewer's bell was rung last.
func (a *Attach) bellLocked(dst []byte) []byte {
	if a.rung != a.t.attention.bells {
		a.rung = a.t.attention.bells
		dst = append(dst, 0x07)
	}
	return dst
}

// pullLocked appends to dst a piece of what has not been pulled yet. more: there may be another
// piece. A viewer that has fallen behind gets none.
func (a *Attach) pullLocked(dst []store.Item) (items []store.Item, more bool) {
	given := len(dst)
	dst = a.sub.Pull(dst, pullPiece)
	n := len(dst)
	switch {
	case n == given:
		return dst, false
	case dst[n-1].Lagged != nil:
		return a.mayReadLocked(dst[:n-1], given), false
	}
	return a.mayReadLocked(dst, given), true
}

// mayReadLocked takes the clipboards and notifications out of items[given:], unless the viewer
// holds the claim.
func (a *Attach) mayReadLocked(items []store.Item, given int) []store.Item {
	if !a.opts.ReadOnly && a.holdsLocked() {
		return items
	}
	kept := slices.DeleteFunc(items[given:], isHolderOnly)
	return items[:given+len(kept)]
}
