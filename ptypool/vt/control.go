package vt

// control applies the control functions without a prefix or intermediate that concern the screen
// alone, and reports whether c is one. It follows xterm's ctlseqs.
func (m *model) control(c *csiSeq) (known bool) {
	g := m.grid
	switch c.final {
	case '@':
		insertCells(m.line(m.cur.y), m.cur.x, c.count(), m.eraseCell())
		m.cur.wrap = false
	case 'A':
		m.moveUp(c.count())
	case 'B':
		m.moveDown(c.count())
	case 'e':
		m.moveTo(m.cur.x, m.relY()+c.count())
	case 'C', 'a':
		m.moveX(m.cur.x + c.count())
	case 'D':
		m.moveX(m.cur.x - c.count())
	case 'E':
		m.moveDown(c.count())
		m.cur.x = 0
	case 'F':
		m.moveUp(c.count())
		m.cur.x = 0
	case 'G', '`':
		m.moveX(c.count() - 1)
	case 'H', 'f':
		m.moveTo(max(1, c.arg(1, 1))-1, c.count()-1)
	case 'I':
		m.tab(c.count())
	case 'J':
		m.eraseDisplay(c.arg(0, 0), false)
	case 'K':
		m.eraseLine(c.arg(0, 0), false)
	case 'L', 'M':
		if m.inRegion() {
			if c.final == 'L' {
				m.insertLines(m.cur.y, c.count())
			} else {
				m.deleteLines(m.cur.y, c.count())
			}
			m.moveX(0)
		}
	case 'P':
		deleteCells(m.line(m.cur.y), m.cur.x, c.count(), m.eraseCell())
		m.cur.wrap = false
	case 'S':
		g.rows[g.bottom].wrapped = false
		m.scrollUp(c.count())
	case 'T':
		if c.n > 1 { // highlight mouse tracking
			return false
		}
		m.scrollDown(c.count())
	case 'X':
		m.erase(m.cur.y, m.cur.x, min(m.cur.x+c.count(), m.width), false)
		m.cur.wrap = false
	case 'Z':
		m.backTab(c.count())
	case 'd':
		m.moveTo(m.cur.x, c.count()-1)
	case 'g':
		m.clearTab(c.arg(0, 0))
	case 'r':
		m.setRegion(c.count()-1, orMax(c.arg(1, 0), len(g.rows))-1)
	case 's':
		m.saveCursor()
	case 'u':
		m.restoreCursor()
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
func (m *model) extendedControl(c *csiSeq) (known bool) {
	switch c.key() {
	case csiKey('?', 0, 'J'):
		m.eraseDisplay(c.arg(0, 0), true)
	case csiKey('?', 0, 'K'):
		m.eraseLine(c.arg(0, 0), true)
	case csiKey(0, ' ', 'q'):
		n := c.arg(0, 0)
		if n > 6 {
			return false
		}
		m.modes.cursorStyle = uint8(n)
	case csiKey(0, '"', 'q'):
		m.protect(c.arg(0, 0) == 1)
	case csiKey('?', 0, 'W'):
		if c.arg(0, 0) != 5 {
			return false
		}
		m.resetTabs()
	case csiKey(0, '!', 'p'):
		m.softReset()
	case csiKey(0, ' ', '@'), csiKey(0, ' ', 'A'):
		m.shiftColumns(c.count(), c.final == '@')
	case csiKey(0, '\'', '}'), csiKey(0, '\'', '~'):
		if m.inRegion() {
			for y := m.grid.top; y <= m.grid.bottom; y++ {
				m.columns(y, m.cur.x, c.count(), c.final == '~')
			}
		}
	default:
		return false
	}
	return true
}

// protect is DECSCA.
func (m *model) protect(on bool) {
	st := m.pen
	st.attrs &^= attrProtected
	if on {
		st.attrs |= attrProtected
	}
	m.setPen(st)
}

// escapeSeq applies an escape sequence that is not a string or CSI, and reports whether it is
// known.
func (m *model) escapeSeq(seq []byte) (known bool) {
	if len(seq) == 3 {
		switch i, final := seq[1], seq[2]; {
		case i >= '(' && i <= '+':
			m.designate(int(i-'('), final)
			return true
		case i >= '-' && i <= '/':
			m.designate(int(i-'-')+1, final)
			return true
		case i == '#' && final == '8':
			m.alignment()
			return true
		}
	}
	if len(seq) != 2 {
		return false
	}
	switch seq[1] {
	case '7':
		m.saveCursor()
	case '8':
		m.restoreCursor()
	case '=':
		m.modes.set(modeKeypad, true)
	case '>':
		m.modes.set(modeKeypad, false)
	case 'D':
		m.lineFeed()
	case 'E':
		m.lineFeed()
		m.cur.x = 0
	case 'H':
		m.setTab(m.cur.x, true)
	case 'M':
		m.reverseIndex()
	case 'N', 'O':
		m.singleShift(seq[1] - 'N' + 2)
	case 'n', 'o':
		m.shift(seq[1] - 'n' + 2)
	default:
		return false
	}
	return true
}

// softReset is DECSTR (VT510 manual, with xterm's choices).
func (m *model) softReset() {
	m.modes.set(modeCursor|modeWrap, true)
	m.modes.set(modeInsert|modeCursorKeys|modeKeypad, false)
	m.cur.originMode, m.cur.wrap = false, false
	m.cur.charsets, m.cur.gl, m.single = powerUpCursor.charsets, 0, 0
	m.grid.top, m.grid.bottom = 0, m.height()-1
	m.grid.hasSaved = false
	m.setPen(style{})
	m.updatePlain()
}

// fullReset is the effect of RIS on the screen. Like xterm.js, VTE and kitty it drops the
// scrollback.
func (m *model) fullReset() {
	rows := m.height()
	m.turns++
	m.main.init(rows)
	m.alt.init(rows)
	m.grid = &m.main
	m.history.clear()
	m.table.init()
	m.resetState()
}
