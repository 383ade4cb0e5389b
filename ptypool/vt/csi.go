package vt

// csiSeq is a parsed control sequence.
type csiSeq struct {
	prefix, inter, final byte
	n                    int    // parameters
	sub                  uint32 // bit i: parameter i followed a colon
	par                  [maxParams]int32
}

// parse reads what follows CSI. It reports false for what no terminal gives
// a meaning to: a prefix in the middle, or several intermediates.
func (c *csiSeq) parse(b []byte) bool {
	c.prefix, c.inter, c.n, c.sub = 0, 0, 0, 0
	last := len(b) - 1
	c.final = b[last]
	b = b[:last]
	if last == 0 {
		return true
	}
	i := 0
	if b[0] >= '<' && b[0] <= '?' {
		c.prefix = b[0]
		i = 1
	}
	v := int32(-1)
	params := i < len(b) && b[i] >= 0x30
	for ; i < len(b) && b[i] >= 0x30; i++ {
		switch d := b[i]; {
		case d <= '9':
			v = min(max(v, 0)*10+int32(d-'0'), maxParam)
		case d <= ';':
			c.push(v)
			v = -1
			if d == ':' && c.n < maxParams {
				c.sub |= 1 << c.n
			}
		default:
			return false
		}
	}
	if params {
		c.push(v)
	}
	if i < len(b) {
		c.inter = b[i]
		return i == len(b)-1
	}
	return true
}

func (c *csiSeq) push(v int32) {
	if c.n < maxParams {
		c.par[c.n] = v
		c.n++
	}
}

// isSub reports whether parameter i is a subparameter.
func (c *csiSeq) isSub(i int) bool { return c.sub&(1<<i) != 0 }

// arg returns parameter i, or def if it is missing.
func (c *csiSeq) arg(i, def int) int {
	if i >= c.n || c.par[i] < 0 {
		return def
	}
	return int(c.par[i])
}

// count returns parameter 0 where both a missing one and 0 mean 1.
func (c *csiSeq) count() int { return max(1, c.arg(0, 1)) }

// csiKey packs what identifies a control function.
func csiKey(prefix, inter, final byte) uint32 {
	return uint32(prefix)<<16 | uint32(inter)<<8 | uint32(final)
}

// dispatch applies a complete sequence, which begins with ESC in any case. What viewers do
// not get does not come between a character and its repetition.
func (t *Terminal) dispatch(seq []byte) verdict {
	last := t.last
	t.last = 0
	v := t.apply(seq, last)
	if v == drop {
		t.last = last
	}
	return v
}

// apply is dispatch for a sequence that follows the character last.
func (t *Terminal) apply(seq []byte, last rune) verdict {
	switch seq[1] {
	case '[':
		if len(seq) > maxCSI || !t.csi.parse(seq[2:]) {
			return drop
		}
		if t.csi.final == 'm' && t.csi.prefix|t.csi.inter == 0 {
			t.sgr(&t.csi)
			return keep
		}
		if t.csi.final == 'b' && t.csi.prefix|t.csi.inter == 0 {
			t.last = last
			t.repeat(t.csi.count())
			return keep
		}
		return t.control1(&t.csi)
	case ']':
		if len(seq) > maxOSC {
			return drop
		}
		return t.osc(seq)
	case 'P':
		if len(seq) <= maxDCS {
			t.dcs(trimString(seq))
		}
		return drop
	case 'X', '^', '_':
		return drop
	}
	return t.escapeSeq(seq)
}

// control1 applies the control functions without a prefix or intermediate, which
// are nearly all that programs draw with. It follows xterm's ctlseqs.
func (t *Terminal) control1(c *csiSeq) verdict {
	if c.prefix|c.inter != 0 {
		return t.control2(c)
	}
	g := t.grid
	switch c.final {
	case '@':
		insertCells(t.line(t.cur.y), t.cur.x, c.count(), t.eraseCell())
		t.cur.wrap = false
	case 'A':
		t.moveUp(c.count())
	case 'B':
		t.moveDown(c.count())
	case 'e':
		t.moveTo(t.cur.x, t.relY()+c.count())
	case 'C', 'a':
		t.moveX(t.cur.x + c.count())
	case 'D':
		t.moveX(t.cur.x - c.count())
	case 'E':
		t.moveDown(c.count())
		t.cur.x = 0
	case 'F':
		t.moveUp(c.count())
		t.cur.x = 0
	case 'G', '`':
		t.moveX(c.count() - 1)
	case 'H', 'f':
		t.moveTo(max(1, c.arg(1, 1))-1, c.count()-1)
	case 'I':
		t.tab(c.count())
	case 'J':
		t.eraseDisplay(c.arg(0, 0), false)
	case 'K':
		t.eraseLine(c.arg(0, 0), false)
	case 'L', 'M':
		if t.inRegion() {
			if c.final == 'L' {
				t.insertLines(t.cur.y, c.count())
			} else {
				t.deleteLines(t.cur.y, c.count())
			}
			t.moveX(0)
		}
	case 'P':
		deleteCells(t.line(t.cur.y), t.cur.x, c.count(), t.eraseCell())
		t.cur.wrap = false
	case 'S':
		g.rows[g.bottom].wrapped = false
		t.scrollUp(c.count())
	case 'T':
		if c.n > 1 { // highlight mouse tracking
			return drop
		}
		t.scrollDown(c.count())
	case 'X':
		t.erase(t.cur.y, t.cur.x, min(t.cur.x+c.count(), t.cols), false)
		t.cur.wrap = false
	case 'Z':
		t.backTab(c.count())
	case 'd':
		t.moveTo(t.cur.x, c.count()-1)
	case 'g':
		t.clearTab(c.arg(0, 0))
	case 'h', 'l':
		return t.setModes(c, c.final == 'h')
	case 'r':
		t.setRegion(c.count()-1, orMax(c.arg(1, 0), len(g.rows))-1)
	case 's':
		t.saveCursor()
	case 'u':
		t.restoreCursor()
	case 't':
		return t.windowOp(c)
	case 'c':
		t.primaryAttributes(c)
		return drop
	case 'n':
		t.statusReport(c)
		return drop
	default:
		return drop
	}
	return keep
}

// orMax returns n, or hi for 0.
func orMax(n, hi int) int {
	if n == 0 {
		return hi
	}
	return n
}

// control2 applies the control functions with a prefix or intermediate.
func (t *Terminal) control2(c *csiSeq) verdict {
	switch csiKey(c.prefix, c.inter, c.final) {
	case csiKey('?', 0, 'h'), csiKey('?', 0, 'l'):
		return t.setModes(c, c.final == 'h')
	case csiKey('?', 0, 'J'):
		t.eraseDisplay(c.arg(0, 0), true)
	case csiKey('?', 0, 'K'):
		t.eraseLine(c.arg(0, 0), true)
	case csiKey(0, ' ', 'q'):
		n := c.arg(0, 0)
		if n > 6 {
			return drop
		}
		t.cursorStyle = uint8(n)
	case csiKey(0, '"', 'q'):
		t.protect(c.arg(0, 0) == 1)
	case csiKey('?', 0, 'W'):
		if c.arg(0, 0) != 5 {
			return drop
		}
		t.resetTabs()
	case csiKey(0, '!', 'p'):
		t.softReset()
	case csiKey(0, ' ', '@'), csiKey(0, ' ', 'A'):
		t.shiftColumns(c.count(), c.final == '@')
	case csiKey(0, '\'', '}'), csiKey(0, '\'', '~'):
		if t.inRegion() {
			for y := t.grid.top; y <= t.grid.bottom; y++ {
				t.columns(y, t.cur.x, c.count(), c.final == '~')
			}
		}
	case csiKey('>', 0, 'm'):
		return t.keyModifiers(c)
	case csiKey('>', 0, 'n'):
		if c.arg(0, 2) != 4 {
			return drop
		}
		t.modifyOther = 0
	case csiKey('>', 0, 'u'), csiKey('<', 0, 'u'), csiKey('=', 0, 'u'):
		t.kittyKeyboard(c)
	default:
		t.query(c)
		return drop
	}
	return keep
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

// clearTab is TBC.
func (s *screen) clearTab(mode int) {
	switch mode {
	case 0:
		s.setTab(s.cur.x, false)
	case 3:
		clear(s.tabs)
	}
}

// escapeSeq applies an escape sequence that is not a string or CSI.
func (t *Terminal) escapeSeq(seq []byte) verdict {
	if len(seq) == 3 {
		switch i, final := seq[1], seq[2]; {
		case i >= '(' && i <= '+':
			t.designate(int(i-'('), final)
			return keep
		case i >= '-' && i <= '/':
			t.designate(int(i-'-')+1, final)
			return keep
		case i == '#' && final == '8':
			t.alignment()
			return keep
		}
	}
	if len(seq) != 2 {
		return drop
	}
	switch seq[1] {
	case '7':
		t.saveCursor()
	case '8':
		t.restoreCursor()
	case '=':
		t.modes.set(modeKeypad, true)
	case '>':
		t.modes.set(modeKeypad, false)
	case 'D':
		t.lineFeed()
	case 'E':
		t.lineFeed()
		t.cur.x = 0
	case 'H':
		t.setTab(t.cur.x, true)
	case 'M':
		t.reverseIndex()
	case 'N', 'O':
		t.singleShift(seq[1] - 'N' + 2)
	case 'n', 'o':
		t.shift(seq[1] - 'n' + 2)
	case 'Z':
		t.reply("\x1b[" + primaryDA)
		return drop
	case 'c':
		t.fullReset()
	default:
		return drop
	}
	return keep
}
