package vt

// Resize changes the screen's size, clamped as in New. The main screen's text is
// wrapped anew: lines that no longer fit at the top become scrollback, and when
// there is room below the text's end scrollback comes back. The alternate screen is
// cut or extended; its programs repaint it.
func (t *Terminal) Resize(cols, rows int) {
	cols, rows = clamp(cols, 1, MaxCols), clamp(rows, 1, MaxRows)
	if cols == t.cols && rows == t.rows {
		return
	}
	t.reflow(cols, rows)
	t.crop(cols, rows)
	t.cols, t.rows, t.width = cols, rows, cols
	t.last = 0
}

// crop gives the alternate screen a new size. Rows go at the top only as far as
// the cursor needs it.
func (t *Terminal) crop(cols, rows int) {
	from := 0
	if t.AltScreen() {
		from = max(0, t.cur.y-rows+1)
		t.cur.y -= from
		if t.cur.x >= cols || t.cur.wrap && t.cur.x != cols-1 {
			t.cur.wrap = false
		}
		t.cur.x = min(t.cur.x, cols-1)
	}
	lines := make([]row, rows)
	copy(lines, t.alt.rows[from:])
	for i := range lines {
		if lines[i].cells != nil {
			cells := make([]cell, cols)
			if copy(cells, lines[i].cells) == cols {
				splitEnd(cells, 0)
			}
			lines[i].cells = cells
		}
	}
	t.alt.setRows(lines)
	t.alt.saved.clampTo(cols, rows)
}

// clampTo keeps a saved cursor on a screen of a new size.
func (c *cursor) clampTo(cols, rows int) {
	if c.x >= cols || c.wrap && c.x != cols-1 {
		c.wrap = false
	}
	c.x, c.y = clamp(c.x, 0, cols-1), clamp(c.y, 0, rows-1)
}
