package vt

// execute applies a C0 control character other than ENQ and BEL.
func (m *model) execute(b byte) {
	switch b {
	case '\b':
		m.backspace()
	case '\t':
		m.tab(1)
	case '\n', '\v', '\f':
		m.lineFeed()
		if m.modes.has(modeNewline) {
			m.cur.x = 0
		}
	case '\r':
		m.cur.x, m.cur.wrap = 0, false
	case 0x0e:
		m.shift(1)
	case 0x0f:
		m.shift(0)
	default:
		return
	}
	m.last = 0
}

// lineFeed ends the line at the cursor and moves down.
func (m *model) lineFeed() {
	m.grid.rows[m.cur.y].wrapped = false
	m.cur.wrap = false
	m.index()
}

// index moves the cursor down, scrolling at the bottom of the region (IND).
func (m *model) index() {
	g := m.grid
	switch {
	case m.cur.y == g.bottom:
		m.scrollUp(1)
	case m.cur.y < len(g.rows)-1:
		m.cur.y++
	}
}

// reverseIndex moves the cursor up, scrolling at the top of the region (RI).
func (m *model) reverseIndex() {
	m.cur.wrap = false
	switch {
	case m.cur.y == m.grid.top:
		m.scrollDown(1)
	case m.cur.y > 0:
		m.cur.y--
	}
}

// backspace moves left; with reverse wraparound (mode 45) from the first column to the end of the
// line before, if that one was wrapped.
func (m *model) backspace() {
	if m.cur.wrap {
		m.cur.wrap = false
		if m.modes.has(modeReverseWrap) {
			return
		}
	}
	switch {
	case m.cur.x > 0:
		m.cur.x--
	case m.modes.has(modeReverseWrap) && m.cur.y > m.grid.top && m.cur.y <= m.grid.bottom &&
		m.grid.rows[m.cur.y-1].wrapped:
		m.cur.y--
		m.grid.rows[m.cur.y].wrapped = false
		m.cur.x = m.width - 1
	}
}

// moveTo sets the cursor to a position counted from 0, relative to the scroll region in origin
// mode.
func (m *model) moveTo(x, y int) {
	lo, hi := 0, m.height()-1
	if m.cur.originMode {
		lo, hi = m.grid.top, m.grid.bottom
		y += lo
	}
	m.cur.x, m.cur.y, m.cur.wrap = clamp(x, 0, m.width-1), clamp(y, lo, hi), false
}

// moveUp and moveDown stop at the scroll region's edge when the cursor is inside it.
func (m *model) moveUp(n int) {
	lo := 0
	if m.cur.y >= m.grid.top {
		lo = m.grid.top
	}
	m.cur.y, m.cur.wrap = max(m.cur.y-n, lo), false
}

func (m *model) moveDown(n int) {
	hi := m.height() - 1
	if m.cur.y <= m.grid.bottom {
		hi = m.grid.bottom
	}
	m.cur.y, m.cur.wrap = min(m.cur.y+n, hi), false
}

// moveX moves to a column counted from 0.
func (m *model) moveX(x int) {
	m.cur.x, m.cur.wrap = clamp(x, 0, m.width-1), false
}

// relY returns the cursor's row as it is reported and addressed.
func (m *model) relY() int {
	if m.cur.originMode {
		return m.cur.y - m.grid.top
	}
	return m.cur.y
}

// setRegion is DECSTBM with rows counted from 0, bottom inclusive.
func (m *model) setRegion(top, bottom int) {
	bottom = min(bottom, m.height()-1)
	if top < 0 || top >= bottom {
		return
	}
	m.grid.top, m.grid.bottom = top, bottom
	m.moveTo(0, 0)
}

// resetTabs sets a tab stop every eight columns.
func (m *model) resetTabs() {
	m.tabs = make([]uint64, (MaxCols+63)/64)
	for x := 8; x < MaxCols; x += 8 {
		m.setTab(x, true)
	}
}

// setTab sets or clears the tab stop at column x.
func (m *model) setTab(x int, on bool) {
	if on {
		m.tabs[x/64] |= 1 << (x % 64)
	} else {
		m.tabs[x/64] &^= 1 << (x % 64)
	}
}

// tabAt reports whether there is a tab stop at column x.
func (m *model) tabAt(x int) bool { return m.tabs[x/64]&(1<<(x%64)) != 0 }

// clearTab is TBC.
func (m *model) clearTab(mode int) {
	switch mode {
	case 0:
		m.setTab(m.cur.x, false)
	case 3:
		clear(m.tabs)
	}
}

// tab moves right by n tab stops.
func (m *model) tab(n int) {
	x := m.cur.x
	for n = min(n, m.width); n > 0 && x < m.width-1; n-- {
		for x++; x < m.width-1 && !m.tabAt(x); x++ {
		}
	}
	m.cur.x = x
}

// backTab moves left by n tab stops (CBT).
func (m *model) backTab(n int) {
	x := m.cur.x
	for n = min(n, m.width); n > 0 && x > 0; n-- {
		for x--; x > 0 && !m.tabAt(x); x-- {
		}
	}
	m.cur.x, m.cur.wrap = x, false
}

// saveCursor is DECSC.
func (m *model) saveCursor() {
	m.cur.pen = m.pen
	m.cur.pen.hyperlink = 0 // a hyperlink is not part of what DECSC saves in xterm
	m.grid.saved, m.grid.hasSaved = m.cur, true
}

// restoreCursor is DECRC; without a DECSC before it, the power-up state.
func (m *model) restoreCursor() {
	c := powerUpCursor
	if m.grid.hasSaved {
		c = m.grid.saved
	}
	c.x, c.y = min(c.x, m.width-1), min(c.y, m.height()-1)
	c.wrap = c.wrap && c.x == m.width-1
	if c.originMode {
		c.y = clamp(c.y, m.grid.top, m.grid.bottom)
	}
	pen := c.pen
	pen.hyperlink = m.pen.hyperlink
	m.cur = c
	m.setPen(pen)
	m.updatePlain()
}
