package host

import (
	"termhost/ptypool/keyboard"
)

// Where a program wants the mouse in pixels (mode 1016), they are those of the window that the
// terminal follows, whose size in pixels the program's terminal has (TIOCGWINSZ, CSI 14 t). A
// viewer puts its own terminal into that mode if it can, and its pixels, which may be of another
// size, are converted. All others report cells, of which the program gets the middle.

// SetCellMouse tells whether the viewer's own terminal can report the mouse in cells only. Before
// the first call it is believed to report pixels, if those of its window are known.
func (a *Attach) SetCellMouse(on bool) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	if a.cellMouse != on {
		a.cellMouse = on
		a.fitLocked()
		a.sub.Wake()
	}
}

// MousePixels reports whether the viewer's terminal is to report the mouse in pixels, or else in
// the mode encoding, 0 for that of X10.
func (a *Attach) MousePixels() (on bool, encoding int) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	screen := a.t.term.Screen()
	return screen.MousePixels() && !a.cellMouse && a.pixels.Known(), screen.MouseEncoding()
}

// ReportsPixels tells whether the viewer's terminal reports the mouse in pixels from now on.
func (a *Attach) ReportsPixels(on bool) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	a.inPixels = on && a.pixels.Known()
}

// mouseLocked returns p, which the viewer's terminal has sent, with the reports of its mouse as if
// they came from a terminal of the program's size.
func (a *Attach) mouseLocked(p []byte) []byte {
	screen, dx, dy := a.t.term.Screen(), 0, 0
	cols, rows := screen.Size()
	switch {
	case a.below == 0:
	case a.inPixels:
		p = keyboard.KeepMouse(p, screen.MouseEncoding(), a.pixels.Height)
	default:
		p = keyboard.KeepMouse(p, screen.MouseEncoding(), a.rows)
	}
	if a.hasWindow() && (a.cols < cols || a.rows < rows) { // it shows a part
		dx, dy = a.x, a.y
	}
	switch px := a.t.term.Pixels(); {
	case !screen.MousePixels():
		if dx == 0 && dy == 0 {
			return p
		}
		return keyboard.MoveMouse(p, screen.MouseEncoding(), dx, dy)
	case !a.inPixels || a.cellMouse || !a.pixels.Known():
		return cellsToPixels(p, px, cols, rows, dx, dy)
	case a.pixels == px && a.cols == cols && a.rows == rows:
		return p
	default:
		return keyboard.ChangeMouse(p, func(x, y int) (int, int) {
			return scaled(x-1, a.pixels.Width, a.cols, px.Width, cols) + dx*px.Width/cols + 1,
				scaled(y-1, a.pixels.Height, a.rows, px.Height, rows) + dy*px.Height/rows + 1
		})
	}
}

// cellsToPixels returns p, which somebody has typed without a window, with the reports of the mouse
// as the program wants them.
func (t *Terminal) cellsToPixels(p []byte) []byte {
	screen := t.term.Screen()
	if !screen.MousePixels() {
		return p
	}
	cols, rows := screen.Size()
	return cellsToPixels(p, t.term.Pixels(), cols, rows, 0, 0)
}

// cellsToPixels returns p with the positions in its mouse reports, which are cells and are moved by
// dx and dy, in pixels of a window of cols by rows cells: the middle of the cell. Positions count
// from 1.
func cellsToPixels(p []byte, px Pixels, cols, rows, dx, dy int) []byte {
	middle := func(at, pixels, cells int) int { return (2*at-1)*pixels/(2*cells) + 1 }
	return keyboard.ChangeMouse(p, func(x, y int) (int, int) {
		return middle(x+dx, px.Width, cols), middle(y+dy, px.Height, rows)
	})
}

// scaled returns at, a position in pixels in a window of so many pixels and cells, in one of others
// whose cells are of another size.
func scaled(at, pixels, cells, toPixels, toCells int) int {
	return at * (toPixels * cells) / (pixels * toCells)
}
