package vt

// resize is Terminal.Resize, for a size within the bounds.
func (s *screen) resize(cols, rows int) {
	if cols == s.width && rows == s.height() {
		return
	}
	s.reflow(cols, rows)
	s.crop(cols, rows)
	s.width = cols
	s.last = 0
}

// crop gives the alternate screen a new size. Rows that do not fit are dropped at the bottom, but
// for those that must go at the top to keep the cursor on the screen.
func (s *screen) crop(cols, rows int) {
	from := 0
	if s.altShown() {
		from = max(0, s.cur.y-rows+1)
		s.cur.y -= from
		if s.cur.x >= cols || s.cur.wrap && s.cur.x != cols-1 {
			s.cur.wrap = false
		}
		s.cur.x = min(s.cur.x, cols-1)
	}
	lines := make([]row, rows)
	copy(lines, s.alt.rows[from:])
	for i := range lines {
		if lines[i].cells != nil {
			cells := make([]cell, cols)
			if copy(cells, lines[i].cells) == cols {
				splitEnd(cells, 0)
			}
			lines[i].cells = cells
		}
	}
	s.alt.setRows(lines)
	s.alt.saved.clampTo(cols, rows)
}

// clampTo keeps a saved cursor on a screen of a new size.
func (c *cursor) clampTo(cols, rows int) {
	if c.x >= cols || c.wrap && c.x != cols-1 {
		c.wrap = false
	}
	c.x, c.y = clamp(c.x, 0, cols-1), clamp(c.y, 0, rows-1)
}
