package vt

// execute applies a C0 control character other than ENQ and BEL.
func (s *screen) execute(b byte) {
	switch b {
	case '\b':
		s.backspace()
	case '\t':
		s.tab(1)
	case '\n', '\v', '\f':
		s.lineFeed()
		if s.modes.has(modeNewline) {
			s.cur.x = 0
		}
	case '\r':
		s.cur.x, s.cur.wrap = 0, false
	case 0x0e:
		s.shift(1)
	case 0x0f:
		s.shift(0)
	default:
		return
	}
	s.last = 0
}

// lineFeed ends the line at the cursor and moves down.
func (s *screen) lineFeed() {
	s.grid.rows[s.cur.y].wrapped = false
	s.cur.wrap = false
	s.index()
}

// index moves the cursor down, scrolling at the bottom of the region (IND).
func (s *screen) index() {
	g := s.grid
	switch {
	case s.cur.y == g.bottom:
		s.scrollUp(1)
	case s.cur.y < len(g.rows)-1:
		s.cur.y++
	}
}

// reverseIndex moves the cursor up, scrolling at the top of the region (RI).
func (s *screen) reverseIndex() {
	s.cur.wrap = false
	switch {
	case s.cur.y == s.grid.top:
		s.scrollDown(1)
	case s.cur.y > 0:
		s.cur.y--
	}
}

// backspace moves left; with reverse wraparound (mode 45) from the first column to the end of the
// line before, if that one was wrapped.
func (s *screen) backspace() {
	if s.cur.wrap {
		s.cur.wrap = false
		if s.modes.has(modeReverseWrap) {
			return
		}
	}
	switch {
	case s.cur.x > 0:
		s.cur.x--
	case s.modes.has(modeReverseWrap) && s.cur.y > s.grid.top && s.cur.y <= s.grid.bottom &&
		s.grid.rows[s.cur.y-1].wrapped:
		s.cur.y--
		s.grid.rows[s.cur.y].wrapped = false
		s.cur.x = s.width - 1
	}
}

// moveTo sets the cursor to a position counted from 0, relative to the scroll region in origin
// mode.
func (s *screen) moveTo(x, y int) {
	lo, hi := 0, s.height()-1
	if s.cur.originMode {
		lo, hi = s.grid.top, s.grid.bottom
		y += lo
	}
	s.cur.x, s.cur.y, s.cur.wrap = clamp(x, 0, s.width-1), clamp(y, lo, hi), false
}

// moveUp and moveDown stop at the scroll region's edge when the cursor is inside it.
func (s *screen) moveUp(n int) {
	lo := 0
	if s.cur.y >= s.grid.top {
		lo = s.grid.top
	}
	s.cur.y, s.cur.wrap = max(s.cur.y-n, lo), false
}

func (s *screen) moveDown(n int) {
	hi := s.height() - 1
	if s.cur.y <= s.grid.bottom {
		hi = s.grid.bottom
	}
	s.cur.y, s.cur.wrap = min(s.cur.y+n, hi), false
}

// moveX moves to a column counted from 0.
func (s *screen) moveX(x int) {
	s.cur.x, s.cur.wrap = clamp(x, 0, s.width-1), false
}

// relY returns the cursor's row as it is reported and addressed.
func (s *screen) relY() int {
	if s.cur.originMode {
		return s.cur.y - s.grid.top
	}
	return s.cur.y
}

// setRegion is DECSTBM with rows counted from 0, bottom inclusive.
func (s *screen) setRegion(top, bottom int) {
	bottom = min(bottom, s.height()-1)
	if top < 0 || top >= bottom {
		return
	}
	s.grid.top, s.grid.bottom = top, bottom
	s.moveTo(0, 0)
}

// resetTabs sets a tab stop every eight columns.
func (s *screen) resetTabs() {
	s.tabs = make([]uint64, (MaxCols+63)/64)
	for x := 8; x < MaxCols; x += 8 {
		s.setTab(x, true)
	}
}

// setTab sets or clears the tab stop at column x.
func (s *screen) setTab(x int, on bool) {
	if on {
		s.tabs[x/64] |= 1 << (x % 64)
	} else {
		s.tabs[x/64] &^= 1 << (x % 64)
	}
}

// tabAt reports whether there is a tab stop at column x.
func (s *screen) tabAt(x int) bool { return s.tabs[x/64]&(1<<(x%64)) != 0 }

// clearTab is TBC.
func (s *screen) clearTab(mode int) {
	switch mode {
	case 0:
		s.setTab(s.cur.x, false)
	case 3:
		clear(s.tabs)
	}
}

// tab moves right by n tab stops.
func (s *screen) tab(n int) {
	x := s.cur.x
	for n = min(n, s.width); n > 0 && x < s.width-1; n-- {
		for x++; x < s.width-1 && !s.tabAt(x); x++ {
		}
	}
	s.cur.x = x
}

// backTab moves left by n tab stops (CBT).
func (s *screen) backTab(n int) {
	x := s.cur.x
	for n = min(n, s.width); n > 0 && x > 0; n-- {
		for x--; x > 0 && !s.tabAt(x); x-- {
		}
	}
	s.cur.x, s.cur.wrap = x, false
}

// saveCursor is DECSC.
func (s *screen) saveCursor() {
	s.cur.pen = s.pen
	s.cur.pen.hyperlink = 0 // a hyperlink is not part of what DECSC saves in xterm
	s.grid.saved, s.grid.hasSaved = s.cur, true
}

// restoreCursor is DECRC; without a DECSC before it, the power-up state.
func (s *screen) restoreCursor() {
	c := powerUpCursor
	if s.grid.hasSaved {
		c = s.grid.saved
	}
	c.x, c.y = min(c.x, s.width-1), min(c.y, s.height()-1)
	c.wrap = c.wrap && c.x == s.width-1
	if c.originMode {
		c.y = clamp(c.y, s.grid.top, s.grid.bottom)
	}
	pen := c.pen
	pen.hyperlink = s.pen.hyperlink
	s.cur = c
	s.setPen(pen)
	s.updatePlain()
}
