package vt

// designate sets the character set of G0 to G3 (ESC ( and the like). ASCII, DEC special graphics
// and UK are known. The others, which replace a few ASCII characters by national ones, are treated
// as ASCII: programs that use UTF-8 do not need them.
func (m *model) designate(g int, final byte) {
	if final != '0' && final != 'A' {
		final = 'B'
	}
	m.cur.charsets[g] = final
	m.updatePlain()
}

// shift invokes G0 to G3 into GL (SI, SO, LS2, LS3).
func (m *model) shift(g uint8) {
	m.cur.gl = g
	m.updatePlain()
}

// singleShift takes the next character from G2 or G3 (SS2, SS3).
func (m *model) singleShift(g uint8) {
	m.single = g
	m.updatePlain()
}

// translate maps a character through the character set that applies to it.
func (m *model) translate(r rune) rune {
	set := m.cur.charsets[m.cur.gl]
	if m.single != 0 {
		set = m.cur.charsets[m.single]
		m.single = 0
		m.updatePlain()
	}
	switch {
	case set == '0' && r >= 0x5f && r < 0x7f:
		return specialGraphics[r-0x5f]
	case set == 'A' && r == '#':
		return '£'
	}
	return r
}

// specialGraphics is the DEC special graphics set from 0x5f (VT220 manual, table 2-4).
var specialGraphics = [...]rune{
	' ', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋',
	'┘', '┐', '┌', '└', '┼', '⎺', '⎻', '─', '⎼', '⎽', '├',
	'┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
}
