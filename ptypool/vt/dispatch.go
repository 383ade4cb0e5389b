package vt

// apply applies a complete sequence, which always begins with ESC, and returns its verdict for
// Data. A sequence that viewers do not get does not separate a character from its repetition (REP).
func (s *Screen) apply(seq []byte) verdict {
	last := s.model.last
	s.model.last = 0
	v := drop
	switch seq[1] {
	case '[':
		switch c := &s.csi; { // the sequences that programs draw with come first
		case len(seq) > maxCSI || !c.parse(seq[2:]):
		case !c.plain():
			v = s.control2(c)
		case c.final == 'm':
			s.model.sgr(c)
			v = keep
		case s.model.control(c):
			v = keep
		default:
			v = s.control1(c, last)
		}
		if v == keep && s.csi.reduced { // viewers get no more than the screen
			s.output.repl = s.csi.appendTo(s.output.repl[:0])
			v = replace
		}
	case ']':
		if isPicture(seq) {
			s.iterm(trimString(seq)[len(itermPrefix):])
		} else if len(seq) <= maxOSC {
			v = s.osc(seq)
		}
	case 'P':
		if string(seq) == controlMode {
			s.output.event().ControlMode()
		} else if isPicture(seq) {
			s.sixel(trimString(seq))
		} else if len(seq) <= maxDCS {
			s.queries.dcs(&s.output, &s.model, trimString(seq))
		}
	case '_':
		if isPicture(seq) {
			s.kitty(trimString(seq)[1:])
		}
	case 'X', '^':
	case 'Z': // DECID
		s.output.primary()
	case 'c': // RIS
		s.fullReset()
		s.output.repl = s.output.repl[:0]
		s.overProgress(true) // not every terminal resets it
		// Most that know mode 2027 set it.
		s.output.repl = append(s.output.repl, "\x1bc"+clustersOff...)
		v = replace
	default:
		v = keepIf(s.model.escapeSeq(seq))
	}
	if v == drop {
		s.model.last = last
	}
	return v
}

// controlMode begins tmux's control mode (tmux -CC), a device control string that lasts until tmux
// ends and is for iTerm2. It counts as ended at once, so what tmux says is seen.
const controlMode = "\x1bP1000p"

// keepIf returns keep for a known sequence, or else drop.
func keepIf(known bool) verdict {
	if known {
		return keep
	}
	return drop
}

// control1 applies a control function without a prefix or intermediate that concerns more than the
// screen, or that depends on last, the character before it.
func (s *Screen) control1(c *csiSeq, last rune) verdict {
	switch c.final {
	case 'b':
		s.model.repeat(last, c.count())
		return keep
	case 'h', 'l':
		return s.setModes(c, c.final == 'h')
	case 't':
		return s.windowOp(c)
	case 'c', 'n':
		s.queries.csi(&s.output, &s.model, c)
	}
	return drop
}

// control2 applies a control function with a prefix or intermediate.
func (s *Screen) control2(c *csiSeq) verdict {
	m := &s.model
	switch c.key() {
	case csiKey('?', 0, 'h'), csiKey('?', 0, 'l'):
		return s.setModes(c, c.final == 'h')
	case csiKey('>', 0, 'm'):
		return keepIf(m.modes.modifyKeys(c))
	case csiKey('>', 0, 'n'):
		if c.arg(0, 2) != 4 {
			return drop
		}
		m.modes.modifyOther = 0
		return keep
	case csiKey('>', 0, 'u'), csiKey('<', 0, 'u'), csiKey('=', 0, 'u'):
		m.modes.kittyUsed = true
		m.grid.kitty.apply(c)
		return keep
	}
	if c.key() == csiKey('?', 0, 'n') && c.arg(0, 0) == 996 {
		s.output.reply(s.colors.scheme())
		return drop
	}
	if m.extendedControl(c) {
		return keep
	}
	s.queries.csi(&s.output, m, c)
	return drop
}

// windowOp is XTWINOPS: it answers with sizes and implements the title stack; everything else
// (moving, resizing, reading the title) is removed, because programs must not do it.
func (s *Screen) windowOp(c *csiSeq) verdict {
	switch n := c.arg(0, 0); n {
	case 14, 16, 18:
		s.replySize(n)
	case 22:
		if c.arg(1, 0) != 1 { // 1 is the icon name alone
			s.titles.push()
		}
	case 23:
		if c.arg(1, 0) == 1 {
			break
		}
		if title, ok := s.titles.pop(); ok {
			s.output.event().Title(title)
			s.output.repl = appendTitle(s.output.repl[:0], 2, title)
			return replace
		}
	}
	return drop
}

// fullReset is RIS. The title stays.
func (s *Screen) fullReset() {
	s.model.fullReset()
	s.synchronize(false)
	s.titles.stack = nil
	s.colors.reset()
}
