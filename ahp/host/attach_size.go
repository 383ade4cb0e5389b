package host

import (
	"slices"

	"termhost/ptypool/vt"
)

// Resize is ResizeTo for a window whose size in pixels is unknown.
func (a *Attach) Resize(cols, rows int) { a.ResizeTo(cols, rows, Pixels{}) }

// ResizeTo sets the size of the viewer's window, in cells and in pixels. The terminal gets that
// size if the viewer holds the claim, and was typed at, or has the only window that the terminal
// could follow.
func (a *Attach) ResizeTo(cols, rows int, px Pixels) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	counts := a.hasTyped
	if f := a.t.viewers.followed(); f == nil || f == a {
		counts = true
	}
	a.cols, a.rows, a.pixels = cols, rows, px
	if counts {
		a.activeLocked()
	}
}

// joinLocked makes the viewer one of the windows that may set the terminal's size. If the terminal
// follows another one, that stays so until somebody types here.
func (a *Attach) joinLocked() {
	v := &a.t.viewers
	i := len(v.windows)
	if f := v.followed(); f != nil {
		i = slices.Index(v.windows, f)
	}
	if a.hasKeyboard() {
		v.windows = slices.Insert(v.windows, i, a)
		a.t.keyboard.tellLender()
		a.fitLocked()
	}
}

// hasKeyboard reports whether the viewer has a window in which somebody may type.
func (a *Attach) hasKeyboard() bool { return !a.opts.ReadOnly && a.hasWindow() && !a.closed }

// activeLocked makes the viewer the last active one, unless it has no window or may never type. If
// the viewer holds the claim, the terminal gets the size of its window.
func (a *Attach) activeLocked() {
	t := a.t
	if !a.hasKeyboard() {
		return
	}
	if n := len(t.viewers.windows); n == 0 || t.viewers.windows[n-1] != a {
		t.viewers.windows = append(slices.DeleteFunc(t.viewers.windows, a.is), a)
		t.keyboard.tellLender()
	}
	a.fitLocked()
}

// fitLocked gives the terminal the size of the viewer's window if the terminal follows that.
func (a *Attach) fitLocked() {
	if a.t.viewers.followed() == a {
		a.t.viewers.fit()
	}
}

// leaveLocked removes the viewer from the windows that may set the terminal's size. If the terminal
// had this one's size, it gets that of another viewer of the holder's.
func (a *Attach) leaveLocked() {
	t := a.t
	followed := t.viewers.followed() == a
	t.viewers.windows = slices.DeleteFunc(t.viewers.windows, a.is)
	t.keyboard.tellLender()
	if followed {
		t.viewers.fit()
	}
}

// Followed returns a channel that gets a value when the terminal begins to have this viewer's size
// and colours.
func (a *Attach) Followed() <-chan struct{} { return a.followed }

func (a *Attach) tellFollowedLocked() {
	if a == nil {
		return
	}
	select {
	case a.followed <- struct{}{}:
	default:
	}
}

// SetTheme sets the colours of the viewer's own terminal. While the terminal has the size of this
// viewer, it answers the program's queries with these colours.
func (a *Attach) SetTheme(fg, bg, cursor vt.RGB) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	a.theme = &theme{fg, bg, cursor}
	a.t.viewers.fit()
}
