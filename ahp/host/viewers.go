package host

import "termhost/ptypool/vt"

// viewers is who looks at a terminal through a window. It is guarded by the Term's lock.
type viewers struct {
	t *Terminal
	// windows has those that may type and have a window, the last active one at the end. One that
	// nobody has typed at stands before the one that the terminal follows: looking resizes nobody.
	windows []*Attach
	open    []*Attach // all that have a window
	leads   *Attach   // the one that the terminal followed when it was fitted last; nil: none
	pixels  Pixels    // of the window whose size the terminal gets next
	// mousePixels: the program got the mouse in pixels when the terminal was fitted last.
	mousePixels bool
	keys        vt.KittyKeys // what the terminal that is followed has, or the last one had
	pulledBack  uint64       // lines of scrollback that resizes brought back to the screen
	places      []place      // of windows that may come back, the oldest first
	untold      *Note        // of the program, which nobody has seen; nil: there is none
}

// tellOf tells all windows what the program does, or else the first that comes: a program may have
// begun before whoever starts it looks. The Term's lock is held.
func (v *viewers) tellOf(n Note) {
	if len(v.open) == 0 {
		v.untold = &n
		return
	}
	v.t.keyboard.tell(nil, n)
}

// tellFirst tells a window that has just come what nobody has been told. The Term's lock is held.
func (v *viewers) tellFirst(a *Attach) {
	if v.untold != nil {
		a.noteLocked(*v.untold)
		v.untold = nil
	}
}
