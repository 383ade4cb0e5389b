package vt

import "github.com/rivo/uniseg"

// runeWidth returns how many columns r takes by itself, and whether it may be
// part of a cluster of several characters. The ranges answered here are those of
// everyday text in which no character joins another (except under a mark that
// follows); uniseg answers the rest. TestRuneWidth compares the two.
func runeWidth(r rune) (w int, joins bool) {
	switch {
	case r < 0x300:
		return 1, r == 0xa9 || r == 0xae || r == 0xad
	case r < 0x1100:
		if r >= 0x370 && r < 0x483 || r >= 0x48a && r < 0x591 { // Greek, Cyrillic, Armenian
			return 1, false
		}
	case r < 0x2e80:
		if r >= 0x2500 && r < 0x25aa || r >= 0x2800 && r < 0x2900 || // boxes, blocks, Braille
			r >= 0x2010 && r < 0x2028 || r >= 0x2030 && r < 0x203c ||
			r >= 0x1e00 && r < 0x2000 || r >= 0x2200 && r < 0x2300 {
			return 1, false
		}
	case r < 0xa4d0:
		if r >= 0x4e00 && r < 0xa48d || r >= 0x3400 && r < 0x4dc0 || // ideographs, Yi
			r >= 0x3041 && r < 0x3097 || r >= 0x309b && r < 0x3100 { // kana
			return 2, false
		}
	case r >= 0xac00 && r < 0xd7a4:
		return 2, true
	case r >= 0xe000 && r < 0xf900, r == 0xfffd:
		return 1, false
	}
	_, _, w, _ = uniseg.FirstGraphemeClusterInString(string(r), -1)
	return min(w, 2), true
}

// join adds r to the character before the cursor if they make one grapheme
// cluster (Unicode annex 29), and reports whether it did. A mark of width 0
// always joins. With mode 2027 off nothing else does, as terminals of the
// wcwidth kind have it.
func (s *screen) join(r rune) bool {
	x := s.cur.x
	if !s.cur.wrap {
		x--
	}
	cells := s.grid.rows[s.cur.y].cells
	if x < 0 || cells == nil {
		return false
	}
	if cells[x]&cellTail != 0 && x > 0 {
		x--
	}
	w, joins := runeWidth(r)
	c := cells[x]
	if c&(cellRune|cellCluster) == 0 || w > 0 && (s.last == 0 || !s.modes.has(modeGraphemes)) {
		return false
	}
	var buf [maxCluster + 8]byte
	text := appendRune(s.table.text(buf[:0], c), r)
	_, rest, cw, _ := uniseg.FirstGraphemeCluster(text, -1)
	if w > 0 && len(rest) > 0 {
		return false
	}
	s.lastJoin = joins
	if len(text) > maxCluster {
		return true
	}
	id, ok := s.clusterID(text)
	if !ok {
		return true
	}
	c = cells[x] // clusterID may have renumbered
	cells[x] = c&^cellRune | cellCluster | cell(id)
	if cw > 1 && c&cellWide == 0 && s.modes.has(modeGraphemes) && len(rest) == 0 {
		s.widen(cells, x)
	}
	return true
}

// widen makes the narrow character just printed at cells[x] a wide one.
func (s *screen) widen(cells []cell, x int) {
	if x+1 >= s.width {
		return
	}
	pen := cell(cells[x].style()) << cellStyleShift
	if s.modes.has(modeInsert) {
		insertCells(cells, x+1, 1, pen)
	}
	cells[x] |= cellWide
	cells[x+1] = pen | cellTail
	splitTail(cells, x+2, pen)
	if s.cur.x = x + 2; s.cur.x >= s.width {
		s.cur.x = s.width - 1
		s.cur.wrap = s.modes.has(modeWrap)
	}
}
