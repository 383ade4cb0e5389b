package vt

// kittyFlags returns the keyboard flags in force on the screen shown.
func (s *screen) kittyFlags() int {
	if k := s.grid.kitty; len(k) > 0 {
		return int(k[len(k)-1])
	}
	return 0
}

// kittyKeyboard is CSI > u (push), CSI < u (pop) and CSI = u (set) of kitty's
// keyboard protocol. Each screen has its own stack; its first entry is what
// CSI = u sets when nothing was pushed.
func (s *screen) kittyKeyboard(c *csiSeq) {
	g := s.grid
	s.kittyUsed = true
	if len(g.kitty) == 0 {
		g.kitty = append(make([]uint8, 0, 4), 0)
	}
	flags := uint8(c.arg(0, 0)) & 31
	top := len(g.kitty) - 1
	switch c.prefix {
	case '>':
		if len(g.kitty) > maxKittyStack {
			copy(g.kitty[1:], g.kitty[2:])
			g.kitty = g.kitty[:top]
		}
		g.kitty = append(g.kitty, flags)
	case '<':
		n := c.count()
		if n > top {
			g.kitty = append(g.kitty[:0], 0)
			break
		}
		g.kitty = g.kitty[:len(g.kitty)-n]
	case '=':
		switch c.arg(1, 1) {
		case 1:
			g.kitty[top] = flags
		case 2:
			g.kitty[top] |= flags
		case 3:
			g.kitty[top] &^= flags
		}
	}
}

// keyModifiers is XTMODKEYS. Only modifyOtherKeys (resource 4) is modelled; the
// others change function keys in ways that no program we know asks for.
func (t *Terminal) keyModifiers(c *csiSeq) verdict {
	switch {
	case c.n == 0:
		t.modifyOther = 0
	case c.arg(0, 0) == 4:
		t.modifyOther = uint8(min(c.arg(1, 0), 2))
	default:
		return drop
	}
	t.modifyUsed = true
	return keep
}
