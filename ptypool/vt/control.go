package vt

// control applies the control functions without a prefix or intermediate that concern the screen
// alone, and reports whether c is one. It follows xterm's ctlseqs.
func (s *screen) control(c *csiSeq) (known bool) {
	g := s.grid
	switch c.final {
	case '@':
		insertCells(s.line(s.cur.y), s.cur.x, c.count(), s.eraseCell())
		s.cur.wrap = false
	case 'A':
		s.moveUp(c.count())
	case 'B':
		s.moveDown(c.count())
	case 'e':
		s.moveTo(s.cur.x, s.relY()+c.count())
	case 'C', 'a':
		s.moveX(s.cur.x + c.count())
	case 'D':
		s.moveX(s.cur.x - c.count())
	case 'E':
		s.moveDown(c.count())
		s.cur.x = 0
	case 'F':
		s.moveUp(c.count())
		s.cur.x = 0
	case 'G', '`':
		s.moveX(c.count() - 1)
	case 'H', 'f':
		s.moveTo(max(1, c.arg(1, 1))-1, c.count()-1)
	case 'I':
		s.tab(c.count())
	case 'J':
		s.eraseDisplay(c.arg(0, 0), false)
	case 'K':
		s.eraseLine(c.arg(0, 0), false)
	case 'L', 'M':
		if s.inRegion() {
			if c.final == 'L' {
				s.insertLines(s.cur.y, c.count())
			} else {
				s.deleteLines(s.cur.y, c.count())
			}
			s.moveX(0)
		}
	case 'P':
		deleteCells(s.line(s.cur.y), s.cur.x, c.count(), s.eraseCell())
		s.cur.wrap = false
	case 'S':
		g.rows[g.bottom].wrapped = false
		s.scrollUp(c.count())
	case 'T':
		if c.n > 1 { // highlight mouse tracking
			return false
		}
		s.scrollDown(c.count())
	case 'X':
		s.erase(s.cur.y, s.cur.x, min(s.cur.x+c.count(), s.width), false)
		s.cur.wrap = false
	case 'Z':
		s.backTab(c.count())
	case 'd':
		s.moveTo(s.cur.x, c.count()-1)
	case 'g':
		s.clearTab(c.arg(0, 0))
	case 'r':
		s.setRegion(c.count()-1, orMax(c.arg(1, 0), len(g.rows))-1)
	case 's':
		s.saveCursor()
	case 'u':
		s.restoreCursor()
	default:
		return false
	}
	return true
}

// orMax returns n, or hi for 0.
func orMax(n, hi int) int {
	if n == 0 {
		return hi
	}
	return n
}

// extendedControl is control for the functions with a prefix or intermediate.
func (s *screen) extendedControl(c *csiSeq) (known bool) {
	switch c.key() {
	case csiKey('?', 0, 'J'):
		s.eraseDisplay(c.arg(0, 0), true)
	case csiKey('?', 0, 'K'):
		s.eraseLine(c.arg(0, 0), true)
	case csiKey(0, ' ', 'q'):
		n := c.arg(0, 0)
		if n > 6 {
			return false
		}
		s.modes.cursorStyle = uint8(n)
	case csiKey(0, '"', 'q'):
		s.protect(c.arg(0, 0) == 1)
	case csiKey('?', 0, 'W'):
		if c.arg(0, 0) != 5 {
			return false
		}
		s.resetTabs()
	case csiKey(0, '!', 'p'):
		s.softReset()
	case csiKey(0, ' ', '@'), csiKey(0, ' ', 'A'):
		s.shiftColumns(c.count(), c.final == '@')
	case csiKey(0, '\'', '}'), csiKey(0, '\'', '~'):
		if s.inRegion() {
			for y := s.grid.top; y <= s.grid.bottom; y++ {
				s.columns(y, s.cur.x, c.count(), c.final == '~')
			}
		}
	default:
		return false
	}
	return true
}

// protect is DECSCA.
func (s *screen) protect(on bool) {
	st := s.pen
	st.attrs &^= attrProtected
	if on {
		st.attrs |= attrProtected
	}
	s.setPen(st)
}

// escapeSeq applies an escape sequence that is not a string or CSI, and reports whether it is
// known.
func (s *screen) escapeSeq(seq []byte) (known bool) {
	if len(seq) == 3 {
		switch i, final := seq[1], seq[2]; {
		case i >= '(' && i <= '+':
			s.designate(int(i-'('), final)
			return true
		case i >= '-' && i <= '/':
			s.designate(int(i-'-')+1, final)
			return true
		case i == '#' && final == '8':
			s.alignment()
			return true
		}
	}
	if len(seq) != 2 {
		return false
	}
	switch seq[1] {
	case '7':
		s.saveCursor()
	case '8':
		s.restoreCursor()
	case '=':
		s.modes.set(modeKeypad, true)
	case '>':
		s.modes.set(modeKeypad, false)
	case 'D':
		s.lineFeed()
	case 'E':
		s.lineFeed()
		s.cur.x = 0
	case 'H':
		s.setTab(s.cur.x, true)
	case 'M':
		s.reverseIndex()
	case 'N', 'O':
		s.singleShift(seq[1] - 'N' + 2)
	case 'n', 'o':
		s.shift(seq[1] - 'n' + 2)
	default:
		return false
	}
	return true
}

// softReset is DECSTR (VT510 manual, with xterm's choices).
func (s *screen) softReset() {
	s.modes.set(modeCursor|modeWrap, true)
	s.modes.set(modeInsert|modeCursorKeys|modeKeypad, false)
	s.cur.originMode, s.cur.wrap = false, false
	s.cur.charsets, s.cur.gl, s.single = powerUpCursor.charsets, 0, 0
	s.grid.top, s.grid.bottom = 0, s.height()-1
	s.grid.hasSaved = false
	s.setPen(style{})
	s.updatePlain()
}

// fullReset is what RIS does to the screen. Like xterm.js, VTE and kitty it forgets the scrollback.
func (s *screen) fullReset() {
	rows := s.height()
	s.main.init(rows)
	s.alt.init(rows)
	s.grid = &s.main
	s.history.clear()
	s.table.init()
	s.resetState()
}
