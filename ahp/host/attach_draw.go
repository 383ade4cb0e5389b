package host

import (
	"cmp"
	"slices"

	"termhost/ahp/store"
	"termhost/ptypool/vt"
)

// pullPiece, in bytes, is how much output is pulled at a time.
const pullPiece = 256 << 10

// Redraw returns output that draws the present state; the next pull continues it. It is for a
// reader that has fallen behind, as Pull says. It returns an error if the terminal is gone.
func (a *Attach) Redraw() ([]byte, error) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return a.redrawLocked()
}

func (a *Attach) redrawLocked() ([]byte, error) {
	if err := a.sub.Follow(a.t.ch); err != nil {
		return nil, err
	}
	if a.opts.Cols == 0 || a.opts.Plain {
		st, _ := a.t.ch.Terminal()
		var out []byte
		for i := range st.Content {
			out = st.Content[i].Text.AppendTo(out)
		}
		return out, nil
	}
	a.scrolled, a.rung = a.t.viewers.scrolled(), a.t.attention.bells
	return a.drawLocked(nil, vt.Redraw{Scrollback: cmp.Or(a.opts.History, -1)})
}

// Screen returns output that draws the present screen, without the lines above it; the next pull
// continues it. It is for a viewer whose window must be drawn anew, but needs no history. The
// clipboards and notifications among the output that was not pulled come first.
func (a *Attach) Screen() ([]byte, error) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	if a.opts.Cols == 0 {
		return a.redrawLocked()
	}
	return a.drawLocked(a.asideLocked(nil), vt.Redraw{})
}

// Cover is called when the caller begins to draw something over a screen to which the program's
// output was written so far. It appends to dst all output that has not been pulled yet. The caller
// writes that first, so that no line is missing from the viewer's scrollback, and then screen.
// Until [Attach.Uncover] is called, [Attach.Covered] draws for the viewer. Of o it uses what is
// covered. unsure: some of the output was not written as it is, so that the viewer's terminal may
// show anything.
func (a *Attach) Cover(dst []store.Item, o Over, unsure bool) (
	missed []store.Item, screen []byte, err error,
) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	dst, whole := a.pullAllLocked(dst)
	dst = withoutLag(dst)
	a.scrolled, a.rung = a.t.viewers.scrolled(), a.t.attention.bells
	if screen := a.t.term.Screen(); whole && !unsure && a.fitsLocked() {
		a.picture.Begin(screen)
	} else {
		a.picture = vt.Picture{}
	}
	screen, _, err = a.drawOverLocked(nil, Over{First: o.First, Rows: o.Rows})
	return dst, screen, err
}

// fitsLocked reports whether the program's output can be written to the viewer's terminal as it is:
// the screen has all of it.
func (a *Attach) fitsLocked() bool { return a.below == 0 && a.sameSizeLocked() }

// sameSizeLocked reports whether the viewer's window has the size of the screen.
func (a *Attach) sameSizeLocked() bool {
	cols, rows := a.t.term.Screen().Size()
	return a.cols == cols && a.rows == rows
}

// Over is what a viewer draws over the screen.
type Over struct {
	// First and Rows are how many of the first and of the last rows it covers: they are not drawn.
	First, Rows int
	// Uncovers are rows, counted from 0, parts of which it covered before.
	Uncovers []int
	// Changed has modes, colours and the title set anew, which what was over the screen may have
	// changed.
	Changed bool
	// All has everything drawn anew that is not covered, not only what has changed since the last
	// drawing by Cover or Covered: the window has another size.
	All bool
}

// Covered returns what draws the present screen under something that is drawn over it, or in a
// window of another size than the terminal; what is pulled next follows it. It includes clipboards,
// notifications and bells. turned: the viewer's terminal shows its other screen from then on, or
// has scrolled, so that what is over it and below has to be drawn again.
func (a *Attach) Covered(o Over) (screen []byte, turned bool, err error) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return a.drawOverLocked(a.bellLocked(a.asideLocked(nil)), o)
}

// Uncover is called when nothing is drawn over the screen any more. It returns the lines that have
// left the screen since the viewer's last output, and output that draws the present screen; the
// next pull continues it. The terminal stays on the alternate screen if the program has.
func (a *Attach) Uncover() ([]byte, error) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	dst := a.bellLocked(a.asideLocked(nil))
	screen := a.t.term.Screen()
	if !a.picture.OnAlternate(screen) || !a.fitsLocked() || a.missesLocked() {
		return a.drawLocked(dst, a.updateLocked())
	}
	if err := a.sub.Follow(a.t.ch); err != nil {
		return nil, err
	}
	a.picture = vt.Picture{}
	a.x, a.y = 0, 0
	return screen.AppendAlternate(screen.AppendTitle(dst)), nil
}

// updateLocked returns the redraw that brings the viewer the lines that it has missed.
func (a *Attach) updateLocked() vt.Redraw {
	now := a.t.viewers.scrolled()
	missed := int(now - a.scrolled)
	a.scrolled = now
	return vt.Redraw{Update: true, Scrollback: max(missed, 0)}
}

// OwnColors returns what restores the colours of the viewer's own terminal, if the program has
// changed some. In them, people can read what is drawn over the screen. Every drawing of the screen
// sets the program's colours again.
func (a *Attach) OwnColors() []byte {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return a.t.term.Screen().AppendOwnColors(nil)
}

// Restore returns what puts the viewer's own terminal back into its usual modes after the attach.
func (a *Attach) Restore() []byte {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return a.t.term.Screen().AppendRestore(nil)
}

// Whole reports whether all output has been pulled, and that ends outside of escape sequences: what
// is written next to a viewer that was sent all of it becomes no part of one.
func (a *Attach) Whole() bool {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return !a.t.term.Screen().InSequence() && a.sub.Lag(a.t.ch) == 0
}

// ReportsFocus reports whether the program has asked for reports of the focus.
func (a *Attach) ReportsFocus() bool {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return a.t.term.Screen().ReportsFocus()
}

// drawLocked appends a redraw for the viewer's window; what is pulled next follows it.
func (a *Attach) drawLocked(dst []byte, r vt.Redraw) ([]byte, error) {
	if err := a.sub.Follow(a.t.ch); err != nil {
		return nil, err
	}
	a.picture = vt.Picture{} // it takes memory
	r.Cols, r.Rows, r.Live, r.Marks = a.cols, a.rows+a.below, true, true
	screen := a.t.term.Screen()
	a.x, a.y = screen.Clip(r.Cols, r.Rows)
	return screen.AppendRedraw(dst, r), nil
}

// drawOverLocked is drawLocked for a viewer over whose screen something is drawn, or whose window
// has another size: see [vt.Screen.AppendOver].
func (a *Attach) drawOverLocked(dst []byte, o Over) (drawn []byte, turned bool, err error) {
	if err := a.sub.Follow(a.t.ch); err != nil {
		return nil, false, err
	}
	screen, p := a.t.term.Screen(), &a.picture
	switch {
	case o.All:
		p.Forget()
	case o.Changed:
		p.ForgetModes()
	}
	for _, y := range o.Uncovers {
		p.ForgetRow(y)
	}
	was := p.Alternate()
	if a.below == 0 && p.NeedsMain(screen, a.cols, a.rows) {
		r := a.updateLocked()
		r.Cols, r.Rows, r.Live, r.Marks = a.cols, a.rows, true, true
		dst = screen.AppendRedraw(dst, r)
		p.Begin(screen)
	}
	covered := vt.Covered{First: o.First, Last: o.Rows, Below: a.below, Missed: a.liftsLocked(o)}
	dst = screen.AppendOver(dst, a.cols, a.rows, covered, p)
	a.x, a.y = p.Origin()
	if covered.Missed > 0 {
		a.scrolled = a.t.viewers.scrolled() - uint64(p.Missed())
	}
	return dst, p.Alternate() != was || p.Lifted(), nil
}

// asideLocked drops the output that has not been pulled yet, but appends its clipboards and
// notifications.
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

// pullLocked pulls a piece of output and appends it to dst. more: there may be another piece. A
// viewer that has fallen behind gets none.
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

// mayReadLocked removes clipboards and notifications from items[given:], unless the viewer holds
// the claim.
func (a *Attach) mayReadLocked(items []store.Item, given int) []store.Item {
	if !a.opts.ReadOnly && a.holdsLocked() {
		return items
	}
	kept := slices.DeleteFunc(items[given:], isHolderOnly)
	return items[:given+len(kept)]
}

func isHolderOnly(it store.Item) bool {
	_, ok := it.HolderOnly()
	return ok
}
