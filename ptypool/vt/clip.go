package vt

// drawClipped draws the part of the screen around the cursor that fits in a window of another size.
func (m *model) drawClipped(w *writer, r *Redraw) {
	x, y := m.drawPart(w, r.Cols, r.Rows)
	w.drawKeyboard(kittyStack{m.grid.kitty.flags()})
	w.csi("H", y, x)
}

// drawPart draws the part of the screen that a window of another size shows, and returns the
// cursor's position in the window, counted from 1.
func (m *model) drawPart(w *writer, cols, rows int) (x, y int) {
	x0, y0 := m.clip(cols, rows)
	w.over = true
	for y := range rows {
		w.aligned = y0+y == m.cur.y
		w.row(y, m.part(x0, y0+y, cols), cols)
	}
	w.str(modeString(m.modes.has(modeReverse), 5))
	return m.cur.x - x0 + 1, m.cur.y - y0 + 1
}

// clip returns the position on the screen of the first cell of a window of another size.
func (m *model) clip(cols, rows int) (x, y int) {
	return max(0, m.cur.x-cols+1), max(0, m.cur.y-rows+1)
}

// Clip returns the position on the screen, counted from 0, of the first cell of a window for which
// AppendRedraw draws now.
func (s *Screen) Clip(cols, rows int) (x, y int) { return s.model.clip(cols, rows) }

// part returns the cells of row y from column x on, at most cols; nil: they are blank, or the row
// is below the screen.
func (m *model) part(x, y, cols int) []cell {
	if y >= m.height() {
		return nil
	}
	cells := m.grid.rows[y].cells
	if len(cells) <= x {
		return nil
	}
	return cells[x:min(len(cells), x+cols)]
}

// row draws the cells of row y of a window with cols columns.
func (w *writer) row(y int, cells []cell, cols int) {
	w.csi("H", y+1)
	w.cells(cells, 0, false)
	w.style(style{}, hyperlink{})
	if n := (&row{cells: cells}).used(); n < cols {
		if n == len(cells) { // else it is there, or behind clusters that have spread
			w.csi("G", n+1)
		}
		w.str("\x1b[K")
	}
}

// AppendPicture appends a sequence that draws the screen in a window of cols by rows cells: the
// part around the cursor if the screen is larger. It sets neither the title nor modes for input,
// because the viewer's keys do not go to the program. The window must be that of a blank terminal
// in its default modes.
func (s *Screen) AppendPicture(dst []byte, cols, rows int) []byte {
	m := &s.model
	w := writer{tb: &m.table, dst: dst}
	w.str("\x1b[?2026h\x1b[0m" + clustersOff)
	x, y := m.drawPart(&w, cols, rows)
	w.csi("H", y, x)
	w.str(modeString(m.modes.has(modeCursor), 25) + "\x1b[?2026l")
	return w.dst
}
