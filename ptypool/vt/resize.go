package vt

// resize is Screen.Resize, for a size within the bounds.
func (m *model) resize(cols, rows int) {
	if cols == m.width && rows == m.height() {
		return
	}
	m.turns++
	m.reflow(cols, rows)
	m.crop(cols, rows)
	m.width = cols
	m.last = 0
}

// crop gives the alternate screen a new size. Rows that do not fit are dropped at the bottom, or at
// the top if that is needed to keep the cursor on the screen.
func (m *model) crop(cols, rows int) {
	from := 0
	if m.altShown() {
		from = max(0, m.cur.y-rows+1)
		m.cur.y -= from
		if m.cur.x >= cols || m.cur.wrap && m.cur.x != cols-1 {
			m.cur.wrap = false
		}
		m.cur.x = min(m.cur.x, cols-1)
	}
	lines := make([]row, rows)
	copy(lines, m.alt.rows[from:])
	for i := range lines {
		if lines[i].cells != nil {
			cells := make([]cell, cols)
			if copy(cells, lines[i].cells) == cols {
				splitEnd(cells, 0)
			}
			lines[i].cells = cells
		}
	}
	m.alt.setRows(lines)
	m.alt.saved.clampTo(cols, rows)
}

// clampTo keeps a saved cursor on a screen of a new size.
func (c *cursor) clampTo(cols, rows int) {
	if c.x >= cols || c.wrap && c.x != cols-1 {
		c.wrap = false
	}
	c.x, c.y = clamp(c.x, 0, cols-1), clamp(c.y, 0, rows-1)
}
