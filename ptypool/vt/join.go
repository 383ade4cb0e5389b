package vt

import "termhost/ptypool/vt/width"

// join adds r, which takes w cells by itself, to the character before the cursor if they make one
// grapheme cluster, and reports whether it did. A character of no width always joins, even what was
// erased, which is then taken for a space: a redraw draws some erased cells as spaces. With mode
// 2027 off nothing else joins, as in terminals that measure every character by itself (wcwidth).
func (s *screen) join(r rune, w int) bool {
	x := s.cur.x
	if !s.cur.wrap {
		x--
	}
	if x < 0 || w > 0 && s.grid.rows[s.cur.y].cells == nil {
		return false
	}
	cells := s.line(s.cur.y)
	if cells[x]&cellTail != 0 && x > 0 {
		x--
	}
	c := cells[x]
	if w > 0 && (c&(cellRune|cellCluster) == 0 || s.last == 0 || !s.modes.has(modeGraphemes)) {
		return false
	}
	var buf [maxCluster + 8]byte
	text := appendRune(s.table.text(buf[:0], c), r)
	n, takes := width.Cluster(text)
	whole := n == len(text)
	if w > 0 && !whole {
		return false
	}
	if len(text) > maxCluster {
		return true
	}
	id, ok := s.clusterID(text)
	if !ok {
		return true
	}
	c = cells[x] // clusterID may have renumbered
	cells[x] = c&^(cellRune|cellFill) | cellCluster | cell(id)
	if takes > 1 && c&cellWide == 0 && s.modes.has(modeGraphemes) && whole {
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
