package vt

import "termhost/ptypool/vt/width"

// join adds r, which takes w cells by itself, to the character before the cursor if they make one
// grapheme cluster, and reports whether it did. A character without width always joins, even an
// erased cell, which then counts as a space, because a redraw draws some erased cells as spaces.
// With mode 2027 off nothing else joins: each character is measured by itself, as programs do it
// with wcwidth.
func (m *model) join(r rune, w int) bool {
	x := m.cur.x
	if !m.cur.wrap {
		x--
	}
	if x < 0 || w > 0 && m.grid.rows[m.cur.y].cells == nil {
		return false
	}
	cells := m.line(m.cur.y)
	if cells[x]&cellTail != 0 && x > 0 {
		x--
	}
	c := cells[x]
	if w > 0 && (c&(cellRune|cellCluster) == 0 || m.last == 0 || !m.modes.clusters()) {
		return false
	}
	var buf [maxCluster + 8]byte
	text := appendRune(m.table.text(buf[:0], c), r)
	n, takes := width.Cluster(text)
	whole := n == len(text)
	if w > 0 && !whole {
		return false
	}
	if len(text) > maxCluster {
		return true
	}
	id, ok := m.clusterID(text)
	if !ok {
		return true
	}
	c = cells[x] // clusterID may have renumbered
	cells[x] = c&^(cellRune|cellFill) | cellCluster | cell(id)
	if takes > 1 && c&cellWide == 0 && m.modes.clusters() && whole {
		m.widen(cells, x)
	}
	return true
}

// widen makes the narrow character just printed at cells[x] a wide one.
func (m *model) widen(cells []cell, x int) {
	if x+1 >= m.width {
		return
	}
	pen := cell(cells[x].style()) << cellStyleShift
	if m.modes.has(modeInsert) {
		insertCells(cells, x+1, 1, pen)
	}
	cells[x] |= cellWide
	cells[x+1] = pen | cellTail
	splitTail(cells, x+2, pen)
	if m.cur.x = x + 2; m.cur.x >= m.width {
		m.cur.x = m.width - 1
		m.cur.wrap = m.modes.has(modeWrap)
	}
}
