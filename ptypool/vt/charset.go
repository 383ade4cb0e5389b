package vt

// designate sets the character set of G0 to G3 (ESC ( and the like). ASCII, DEC special graphics
// and UK are known. The others, which replace a few characters of ASCII by national ones, are taken
// for ASCII: with UTF-8 nobody needs them.
func (s *screen) designate(g int, final byte) {
	if final != '0' && final != 'A' {
		final = 'B'
	}
	s.cur.charsets[g] = final
	s.updatePlain()
}

// shift invokes G0 to G3 into GL (SI, SO, LS2, LS3).
func (s *screen) shift(g uint8) {
	s.cur.gl = g
	s.updatePlain()
}

// singleShift takes the next character from G2 or G3 (SS2, SS3).
func (s *screen) singleShift(g uint8) {
	s.single = g
	s.updatePlain()
}

// translate maps a character through the charset that is in force for it.
func (s *screen) translate(r rune) rune {
	set := s.cur.charsets[s.cur.gl]
	if s.single != 0 {
		set = s.cur.charsets[s.single]
		s.single = 0
		s.updatePlain()
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
