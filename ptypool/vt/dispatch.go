package vt

// apply applies a complete sequence, which begins with ESC in any case, and returns what becomes of
// it in Data. What viewers do not get does not come between a character and its repetition (REP).
func (t *Terminal) apply(seq []byte) verdict {
	last := t.screen.last
	t.screen.last = 0
	v := drop
	switch seq[1] {
	case '[':
		switch c := &t.csi; { // what programs draw with comes first
		case len(seq) > maxCSI || !c.parse(seq[2:]):
		case !c.plain():
			v = t.control2(c)
		case c.final == 'm':
			t.screen.sgr(c)
			v = keep
		case t.screen.control(c):
			v = keep
		default:
			v = t.control1(c, last)
		}
		if v == keep && t.csi.reduced { // viewers get no more than the screen
			t.output.repl = t.csi.appendTo(t.output.repl[:0])
			v = replace
		}
	case ']':
		if len(seq) <= maxOSC {
			v = t.osc(seq)
		}
	case 'P':
		if len(seq) <= maxDCS {
			t.queries.dcs(&t.output, &t.screen, trimString(seq))
		}
	case 'X', '^', '_':
	case 'Z': // DECID
		t.output.reply("\x1b[" + primaryDA)
	case 'c': // RIS
		t.fullReset()
		v = keep
	default:
		v = keepIf(t.screen.escapeSeq(seq))
	}
	if v == drop {
		t.screen.last = last
	}
	return v
}

// keepIf keeps a sequence that is known.
func keepIf(known bool) verdict {
	if known {
		return keep
	}
	return drop
}

// control1 applies a control function without a prefix or intermediate that concerns more than the
// screen, or the character last that it follows.
func (t *Terminal) control1(c *csiSeq, last rune) verdict {
	switch c.final {
	case 'b':
		t.screen.repeat(last, c.count())
		return keep
	case 'h', 'l':
		return t.setModes(c, c.final == 'h')
	case 't':
		return t.windowOp(c)
	case 'c', 'n':
		t.queries.csi(&t.output, &t.screen, c)
	}
	return drop
}

// control2 applies a control function with a prefix or intermediate.
func (t *Terminal) control2(c *csiSeq) verdict {
	s := &t.screen
	switch c.key() {
	case csiKey('?', 0, 'h'), csiKey('?', 0, 'l'):
		return t.setModes(c, c.final == 'h')
	case csiKey('>', 0, 'm'):
		return keepIf(s.modes.modifyKeys(c))
	case csiKey('>', 0, 'n'):
		if c.arg(0, 2) != 4 {
			return drop
		}
		s.modes.modifyOther = 0
		return keep
	case csiKey('>', 0, 'u'), csiKey('<', 0, 'u'), csiKey('=', 0, 'u'):
		s.modes.kittyUsed = true
		s.grid.kitty.apply(c)
		return keep
	}
	if s.extendedControl(c) {
		return keep
	}
	t.queries.csi(&t.output, s, c)
	return drop
}

// windowOp is XTWINOPS: sizes are answered, the title stack is kept here, and everything else
// (moving, resizing, reading the title) is not for programs.
func (t *Terminal) windowOp(c *csiSeq) verdict {
	switch n := c.arg(0, 0); n {
	case 14, 16, 18:
		t.queries.size(&t.output, &t.screen, n)
	case 22:
		if c.arg(1, 0) != 1 { // 1 is the icon name alone
			t.titles.push()
		}
	case 23:
		if c.arg(1, 0) == 1 {
			break
		}
		if title, ok := t.titles.pop(); ok {
			t.output.event().Title(title)
			t.output.repl = appendTitle(t.output.repl[:0], 2, title)
			return replace
		}
	}
	return drop
}

// fullReset is RIS. The title stays.
func (t *Terminal) fullReset() {
	t.screen.fullReset()
	t.titles.stack = nil
	t.colors.reset()
}
