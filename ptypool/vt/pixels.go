package vt

import "fmt"

// window is what is known of the window of the viewer that the terminal follows, besides its cells.
type window struct {
	width, height int  // in pixels; 0: unknown
	cellMouse     bool // its terminal reports the mouse in cells only
}

// SetPixels tells how large the window is in pixels, which the program may ask for; 0: that is
// unknown.
func (s *Screen) SetPixels(width, height int) {
	s.window.width, s.window.height = width, height
	s.windowChanged()
}

// SetCellMouse tells whether the viewer's terminal can report the mouse in cells only.
func (s *Screen) SetCellMouse(on bool) {
	s.window.cellMouse = on
	s.windowChanged()
}

// windowChanged decides whether the terminal knows mode 1016. Where it does not, DECRQM says so, as
// terminals without the mode do, and a program that sets it nevertheless gets cells.
func (s *Screen) windowChanged() {
	w := &s.window
	s.model.modes.knowsPixels = w.width > 0 && w.height > 0 && !w.cellMouse
}

// MousePixels reports whether the program gets the positions of the mouse in pixels (mode 1016).
// Viewers' terminals are never told by Data: only those whose pixels are known may be in this mode,
// and the others, which are in mode 1006, report cells, which are to be converted.
func (s *Screen) MousePixels() bool { return s.model.modes.inPixels() }

// AppendMousePixels appends a sequence that brings mode 1016 into a new Screen, behind a redraw,
// which has the mode of viewers' terminals.
func (s *Screen) AppendMousePixels(dst []byte) []byte {
	if s.model.modes.pixelMouse {
		dst = append(dst, modeString(true, 1016)...)
	}
	return dst
}

// cellSize returns a cell's size in pixels: the real one, or that by which pictures are measured if
// it is unknown.
func (s *Screen) cellSize() (width, height int) {
	w, m := &s.window, &s.model
	if w.width < m.width || w.height < m.height() { // unknown, or nonsense
		return s.queries.cellWidth, s.queries.cellHeight
	}
	return w.width / m.width, w.height / m.height()
}

// replySize answers CSI 14 t and 18 t, the screen's size in pixels and in cells, and 16 t, a cell's
// size.
//
// While the pixels are unknown, 14 and 16 get no answer, as from xterm.js and from consoles. The
// programs that ask (kitty's icat, chafa, timg, yazi, notcurses) send DA1 behind it or wait for a
// moment only, and then take the window size of the pty, where the pixels are 0, and choose for
// themselves. An invented size they would believe. The exception is a viewer that draws pictures:
// what takes a cell is decided here then, whatever the viewer's cells are.
func (s *Screen) replySize(n int) {
	o, m := &s.output, &s.model
	if n == 18 {
		o.reply(fmt.Sprintf("\x1b[8;%d;%dt", m.height(), m.width))
		return
	}
	cols, rows := s.cellSize()
	width, height := s.window.width, s.window.height
	if width <= 0 || height <= 0 {
		if !o.event().DrawsPictures() {
			return
		}
		width, height = cols*m.width, rows*m.height()
	}
	if n == 14 {
		o.reply(fmt.Sprintf("\x1b[4;%d;%dt", height, width))
	} else {
		o.reply(fmt.Sprintf("\x1b[6;%d;%dt", rows, cols))
	}
}
