package host

import (
	"slices"
	"time"

	"termhost/ptypool/vt"
)

// theme is the colours of a viewer's own terminal: foreground, background, cursor.
type theme [3]vt.RGB

// activeLocked makes the viewer the one that was active last, unless it has no window or may never
// type. If it holds the claim, the terminal gets the size of its window.
func (a *Attach) activeLocked() {
	t := a.t
	if a.opts.ReadOnly || a.opts.Cols == 0 || a.closed {
		return
	}
	if n := len(t.viewers.windows); n == 0 || t.viewers.windows[n-1] != a {
		t.viewers.windows = append(slices.DeleteFunc(t.viewers.windows, a.is), a)
	}
	if a.holdsLocked() {
		t.viewers.fit()
	}
}

// drawTime is how long a program is given to draw itself anew before it gets the key that has
// changed its size. vim 9.0 does not draw a key that comes while it does so until the next one
// comes. Nobody notices so short a delay of one key.
const drawTime = 100 * time.Millisecond

// leaveLocked takes the viewer's window out of those that count. If the terminal had its size, it
// gets that of another viewer of the holder's.
func (a *Attach) leaveLocked() {
	t := a.t
	followed := t.viewers.followed() == a
	t.viewers.windows = slices.DeleteFunc(t.viewers.windows, a.is)
	if followed {
		t.viewers.fit()
	}
}

func (a *Attach) is(other *Attach) bool { return a == other }

// SetTheme tells the colours of the viewer's own terminal. The program's queries are answered with
// them while the terminal follows this viewer.
func (a *Attach) SetTheme(fg, bg, cursor vt.RGB) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	a.theme = &theme{fg, bg, cursor}
	a.t.viewers.fit()
}
