package vt

import "hash/maphash"

// Picture is what a viewer's terminal shows of a screen, row by row. The zero Picture is of
// nothing: the terminal may show anything, in any state.
type Picture struct {
	cols int
	rows []uint64 // a hash of what draws each row
}

var pictureSeed = maphash.MakeSeed()

// has reports whether a row is in the picture, where it is drawn by a sequence, and puts it there.
func (p *Picture) has(y int, draws []byte) bool {
	if p == nil {
		return false
	}
	is := maphash.Bytes(pictureSeed, draws)
	was := p.rows[y]
	p.rows[y] = is
	return is == was
}

// AppendOver appends a sequence that makes a viewer's terminal, whose window has cols by rows
// cells, show this screen, and has p be what it shows: only rows that differ from p are drawn. A
// larger window shows the screen in its top left corner, a smaller one the part around the cursor.
// All else is as by AppendRedraw, but the terminal is not in the program's state: call that before
// Data follows.
func (s *Screen) AppendOver(dst []byte, cols, rows int, p *Picture) []byte {
	m := &s.model
	w := writer{tb: &m.table, dst: dst}
	w.str("\x18\x1b[?2026h") // see Flush for CAN
	if p.cols != cols || len(p.rows) != rows {
		*p = Picture{cols, make([]uint64, rows)}
		s.resetViewer(&w, nil)
		w.str("\x1b[H \r") // a character ends SS2 and SS3
	} else {
		w.str("\x1b[0m" + resetInput)
		m.modes.resetKeys(&w)
	}
	w.str("\x1b[?2027h")
	x, y := m.drawPart(&w, cols, rows, p)
	w.drawKeyboard(kittyStack{m.grid.kitty.flags()})
	w.csi("H", y, x)
	if s.titles.set {
		w.dst = appendTitle(w.dst, 2, s.titles.current)
	}
	return s.endRedraw(&w)
}
