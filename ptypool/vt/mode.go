package vt

import "strconv"

// modeSet is a set of modes.
type modeSet uint32

const (
	modeCursorKeys  modeSet = 1 << iota // ?1 DECCKM
	modeReverse                         // ?5 DECSCNM
	modeWrap                            // ?7 DECAWM
	modeBlink                           // ?12
	modeCursor                          // ?25 DECTCEM
	modeReverseWrap                     // ?45
	modeKeypad                          // ?66 DECNKM, ESC = and ESC >
	modeBackarrow                       // ?67 DECBKM
	modeFocus                           // ?1004
	modeAltScroll                       // ?1007
	modePaste                           // ?2004
	modeSync                            // ?2026
	modeGraphemes                       // ?2027
	modeInsert                          // 4 IRM
	modeNewline                         // 20 LNM

	// defaultModes are those set at power-up. Grapheme clustering is: most
	// terminals in use cluster always, and a program can turn it off.
	defaultModes = modeWrap | modeCursor | modeGraphemes
)

func (m modeSet) has(f modeSet) bool { return m&f != 0 }

func (m *modeSet) set(f modeSet, on bool) {
	if *m &^= f; on {
		*m |= f
	}
}

// privateModes are the modes of CSI ? h and l that are plain flags; those with
// more to them are in setPrivate. Modes that make a terminal send something by
// itself (2031, 2048), those that change its size or font, and the user's choice of
// what Alt does (1034, 1036, 1039) are left out on purpose: they are removed from Data and reported as unknown.
var privateModes = [...]struct {
	number int
	flag   modeSet
}{
	{1, modeCursorKeys}, {5, modeReverse}, {7, modeWrap}, {12, modeBlink}, {25, modeCursor},
	{45, modeReverseWrap}, {66, modeKeypad}, {67, modeBackarrow}, {1004, modeFocus},
	{1007, modeAltScroll}, {2004, modePaste}, {2026, modeSync}, {2027, modeGraphemes},
}

// privateFlag returns the flag of a private mode, or 0.
func privateFlag(n int) modeSet {
	for i := range privateModes {
		if privateModes[i].number == n {
			return privateModes[i].flag
		}
	}
	return 0
}

// ansiFlag returns the flag of a mode of CSI h and l, or 0.
func ansiFlag(n int) modeSet {
	switch n {
	case 4:
		return modeInsert
	case 20:
		return modeNewline
	}
	return 0
}

// setModes is SM, RM, DECSET and DECRST. A sequence with modes that we do not
// know goes on without them.
func (t *Terminal) setModes(c *csiSeq, on bool) verdict {
	t.repl = append(t.repl[:0], "\x1b["...)
	if c.prefix != 0 {
		t.repl = append(t.repl, c.prefix)
	}
	known := 0
	for i := range c.n {
		n := c.arg(i, 0)
		ok := false
		if c.prefix == '?' {
			ok = t.setPrivate(n, on)
		} else if f := ansiFlag(n); f != 0 {
			t.modes.set(f, on)
			ok = true
		}
		if !ok {
			continue
		}
		if known > 0 {
			t.repl = append(t.repl, ';')
		}
		t.repl = strconv.AppendInt(t.repl, int64(n), 10)
		known++
	}
	t.updatePlain()
	switch known {
	case c.n:
		return keep
	case 0:
		return drop
	}
	t.repl = append(t.repl, c.final)
	return replace
}

// setPrivate sets or resets one private mode and reports whether it is known.
func (s *screen) setPrivate(n int, on bool) bool {
	switch n {
	case 6:
		s.cur.origin = on
		s.moveTo(0, 0)
	case 9, 1000, 1002, 1003:
		s.mouse = 0
		if on {
			s.mouse = uint16(n)
		}
	case 1005, 1006, 1015, 1016:
		s.mouseEnc = 0
		if on {
			s.mouseEnc = uint16(n)
		}
	case 47, 1047:
		s.switchScreen(on)
	case 1048:
		if on {
			s.saveCursor()
		} else {
			s.restoreCursor()
		}
	case 1049:
		if on {
			s.saveCursor()
			s.switchScreen(true)
			break
		}
		s.switchScreen(false)
		s.restoreCursor()
	default:
		f := privateFlag(n)
		if f == 0 {
			return false
		}
		s.modes.set(f, on)
		s.touched |= f
		if f == modeWrap && !on {
			s.cur.wrap = false
		}
	}
	return true
}

// switchScreen goes to the alternate screen, which is then blank, or back to
// the main one.
func (s *screen) switchScreen(alt bool) {
	if alt == (s.grid == &s.alt) {
		return
	}
	s.cur.wrap = false
	if alt {
		s.grid = &s.alt
		s.fillScreen()
		return
	}
	s.alt.init(len(s.alt.rows))
	s.grid = &s.main
	if s.cur.origin { // the screens' scroll regions differ
		s.cur.y = clamp(s.cur.y, s.grid.top, s.grid.bottom)
	}
}

// fillScreen blanks the grid on the pen's background.
func (s *screen) fillScreen() {
	for y := range s.grid.rows {
		s.blankRow(y)
	}
}

// modeState is a mode's DECRQM value: 0 unknown, 1 set, 2 reset.
func (t *Terminal) modeState(c *csiSeq) int {
	n := c.arg(0, 0)
	var on bool
	if c.prefix == 0 {
		f := ansiFlag(n)
		if f == 0 {
			return 0
		}
		on = t.modes.has(f)
	} else {
		switch n {
		case 6:
			on = t.cur.origin
		case 9, 1000, 1002, 1003:
			on = t.mouse == uint16(n)
		case 1005, 1006, 1015, 1016:
			on = t.mouseEnc == uint16(n)
		case 47, 1047, 1049:
			on = t.AltScreen()
		case 1048:
			on = t.grid.hasSaved
		default:
			f := privateFlag(n)
			if f == 0 {
				return 0
			}
			on = t.modes.has(f)
		}
	}
	if on {
		return 1
	}
	return 2
}

// softReset is DECSTR (VT510 manual, with xterm's choices).
func (s *screen) softReset() {
	s.modes.set(modeCursor|modeWrap, true)
	s.modes.set(modeInsert|modeCursorKeys|modeKeypad, false)
	s.cur.origin, s.cur.wrap = false, false
	s.cur.charsets, s.cur.gl, s.single = powerUpCursor.charsets, 0, 0
	s.grid.top, s.grid.bottom = 0, s.height()-1
	s.grid.hasSaved = false
	s.setPen(style{})
	s.updatePlain()
}

// fullReset is RIS. Like xterm.js, VTE and kitty it forgets the scrollback; the
// title stays.
func (s *screen) fullReset() {
	rows := s.height()
	s.main.init(rows)
	s.alt.init(rows)
	s.grid = &s.main
	s.history.clear()
	s.titleStack = nil
	s.table.init()
	s.resetState()
}
