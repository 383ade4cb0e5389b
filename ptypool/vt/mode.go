package vt

import (
	"strconv"

	"termhost/ptypool/keyboard"
)

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
	modeTheme                           // ?2031, which viewers' terminals never get
	modeInsert                          // 4 IRM
	modeNewline                         // 20 LNM

	// defaultModes are those set at power-up. Grapheme clusters are not among them: readline and
	// most programs measure each character by itself.
	defaultModes = modeWrap | modeCursor
)

// privateModes are the modes of CSI ? h and l that are plain flags; setMode and modes.setPrivate
// handle those that are more. Modes that make a terminal send something by itself (2048), that
// change its size or font, or that override the user's choice of what Alt does (1034, 1036,
// 1039) are left out on purpose: they are removed from Data and reported as unknown.
var privateModes = [...]struct {
	number int
	flag   modeSet
}{
	{1, modeCursorKeys}, {5, modeReverse}, {7, modeWrap}, {12, modeBlink}, {25, modeCursor},
	{45, modeReverseWrap}, {66, modeKeypad}, {67, modeBackarrow}, {1004, modeFocus},
	{1007, modeAltScroll}, {2004, modePaste}, {2026, modeSync},
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

// modes are the modes that a program has set, except those that are a part of the screen's state:
// origin mode, and which screen is shown.
type modes struct {
	on            modeSet
	touched       modeSet // private modes that the program has ever set or reset
	mouse         uint16  // the current mouse tracking mode: 0, 9, 1000, 1002 or 1003
	mouseEncoding uint16  // the current mouse encoding: 0, 1005, 1006 or 1015
	pixelMouse    bool    // the program has set 1016; the encoding is that of 1006
	knowsPixels   bool    // 1016 is known now
	knowsClusters bool    // 2027 is
	cursorStyle   uint8   // DECSCUSR 0..6
	modifyOther   uint8   // XTMODKEYS resource 4, modifyOtherKeys: 0..2
	kittyUsed     bool    // the program has ever set kitty's keyboard flags
	modifyUsed    bool    // or modifyOtherKeys
}

// reset sets every mode as at power-up.
func (m *modes) reset() {
	m.on = defaultModes
	m.mouse, m.mouseEncoding, m.pixelMouse = 0, 0, false
	m.cursorStyle, m.modifyOther = 0, 0
}

// has reports whether one of the modes f is set.
func (m *modes) has(f modeSet) bool { return m.on&f != 0 }

// set sets or resets the modes f.
func (m *modes) set(f modeSet, on bool) {
	if m.on &^= f; on {
		m.on |= f
	}
}

// setANSI sets or resets a mode of CSI h and l, and reports whether it is known.
func (m *modes) setANSI(n int, on bool) (known bool) {
	f := ansiFlag(n)
	m.set(f, on)
	return f != 0
}

// setPrivate sets or resets a mode of CSI ? h and l, and reports whether it is known.
func (m *modes) setPrivate(n int, on bool) (known bool) {
	value := uint16(0)
	if on {
		value = uint16(n)
	}
	switch n {
	case 9, 1000, 1002, 1003:
		m.mouse = value
	case 1005, 1006, 1015:
		m.mouseEncoding, m.pixelMouse = value, false
	case 1016: // viewers' terminals get 1006: see setModes
		m.pixelMouse = on
		if m.mouseEncoding = 0; on {
			m.mouseEncoding = 1006
		}
	case 2027:
		m.set(modeGraphemes, on)
		return m.knowsClusters
	case 2031: // the host sends these reports: viewers' terminals are not told
		m.set(modeTheme, on)
		return false
	default:
		f := privateFlag(n)
		m.set(f, on)
		m.touched |= f
		return f != 0
	}
	return true
}

// inPixels reports whether the program gets the positions of the mouse in pixels.
func (m *modes) inPixels() bool { return m.pixelMouse && m.knowsPixels }

// clusters reports whether grapheme clusters are measured, and not characters (mode 2027).
func (m *modes) clusters() bool { return m.knowsClusters && m.has(modeGraphemes) }

// state returns whether a mode is set, and whether it is known.
func (m *modes) state(n int, private bool) (on, known bool) {
	if !private {
		f := ansiFlag(n)
		return m.has(f), f != 0
	}
	switch n {
	case 9, 1000, 1002, 1003:
		return m.mouse == uint16(n), true
	case 1005, 1006, 1015:
		return m.mouseEncoding == uint16(n) && !m.inPixels(), true
	case 1016:
		return m.pixelMouse, m.knowsPixels
	case 2027:
		return m.has(modeGraphemes), m.knowsClusters
	case 2031:
		return m.has(modeTheme), true
	}
	f := privateFlag(n)
	return m.has(f), f != 0
}

// modifyKeys is XTMODKEYS. Only modifyOtherKeys (resource 4) is modelled; no known program uses the
// others, which change function keys.
func (m *modes) modifyKeys(c *csiSeq) (known bool) {
	switch {
	case c.n == 0:
		m.modifyOther = 0
	case c.arg(0, 0) == 4:
		m.modifyOther = uint8(min(c.arg(1, 0), 2))
	default:
		return false
	}
	m.modifyUsed = true
	return true
}

// keyboard returns the modes that say how a terminal sends keys; kitty are the flags of kitty's
// protocol.
func (m *modes) keyboard(kitty uint8) keyboard.Modes {
	return keyboard.Modes{
		CursorKeys:  m.has(modeCursorKeys),
		Keypad:      m.has(modeKeypad),
		Backarrow:   m.has(modeBackarrow),
		Newline:     m.has(modeNewline),
		Paste:       m.has(modePaste),
		ModifyOther: m.modifyOther,
		Kitty:       kitty,
	}
}

// setModes is SM, RM, DECSET and DECRST. Unknown modes are removed from the sequence, and 1006
// stands for 1016.
func (s *Screen) setModes(c *csiSeq, on bool) verdict {
	repl := append(append(s.output.repl[:0], "\x1b["...), c.prefixText()...)
	known, same := 0, true
	for i := range c.n {
		n := c.arg(i, 0)
		if !s.model.setMode(n, c.prefix == '?', on) {
			continue
		}
		if known > 0 {
			repl = append(repl, ';')
		}
		if n == 1016 && c.prefix == '?' {
			n, same = 1006, false
		}
		repl = strconv.AppendInt(repl, int64(n), 10)
		known++
		if n == 2026 && c.prefix == '?' {
			s.synchronize(on)
		}
	}
	s.model.updatePlain()
	s.output.repl = append(repl, c.final)
	switch {
	case known == c.n && same:
		return keep
	case known == 0:
		return drop
	}
	return replace
}

// setMode sets or resets a mode, and reports whether it is known.
func (m *model) setMode(n int, private, on bool) (known bool) {
	if !private {
		return m.modes.setANSI(n, on)
	}
	switch n {
	case 6:
		m.cur.originMode = on
		m.moveTo(0, 0)
	case 7:
		if !on {
			m.cur.wrap = false
		}
		return m.modes.setPrivate(n, on)
	case 47, 1047:
		m.switchScreen(on)
	case 1048:
		if on {
			m.saveCursor()
		} else {
			m.restoreCursor()
		}
	case 1049:
		if on {
			m.saveCursor()
			m.switchScreen(true)
			break
		}
		m.switchScreen(false)
		m.restoreCursor()
	default:
		return m.modes.setPrivate(n, on)
	}
	return true
}

// modeState is a mode's DECRQM value: 0 unknown, 1 set, 2 reset.
func (m *model) modeState(n int, private bool) int {
	on, known := m.modes.state(n, private)
	if private {
		switch n {
		case 6:
			on, known = m.cur.originMode, true
		case 47, 1047, 1049:
			on, known = m.altShown(), true
		case 1048:
			on, known = m.grid.hasSaved, true
		}
	}
	switch {
	case !known:
		return 0
	case on:
		return 1
	}
	return 2
}
