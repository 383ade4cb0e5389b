package vt

// Resize changes the screen's size, clamped as in New.
func (t *Terminal) Resize(cols, rows int) {
	cols, rows = clamp(cols, 1, MaxCols), clamp(rows, 1, MaxRows)
	if cols == t.cols && rows == t.rows {
		return
	}
	for _, g := range [...]*grid{&t.main, &t.alt} {
		lines := make([]row, rows)
		copy(lines, g.rows)
		for i := range lines {
			if lines[i].cells != nil {
				cells := make([]cell, cols)
				copy(cells, lines[i].cells)
				lines[i].cells = cells
				t.splitEnd(cells)
			}
		}
		g.setRows(lines)
	}
	t.cols, t.rows, t.width = cols, rows, cols
	t.cur.x, t.cur.y, t.cur.wrap = min(t.cur.x, cols-1), min(t.cur.y, rows-1), false
}
