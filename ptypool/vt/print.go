package vt

import (
	"unicode/utf8"

	"termhost/ptypool/vt/width"
)

// appendRune appends r in UTF-8.
func appendRune(dst []byte, r rune) []byte { return utf8.AppendRune(dst, r) }

// printASCII writes the printable ASCII at the beginning of p to the screen and returns how many
// bytes that was, at least one.
func (m *model) printASCII(p []byte) int {
	if !m.plain || m.lastClass == width.Prepended { // p[0] joins it
		m.printRune(rune(p[0]))
		return 1
	}
	m.lastClass = width.Narrow
	total := 0
	pen := cell(m.penID) << cellStyleShift
	for {
		if m.cur.wrap {
			m.wrapLine()
		}
		x := m.cur.x
		cells := m.line(m.cur.y)
		splitWide(cells, x, pen)
		dst := cells[x:]
		if len(dst) > len(p) {
			dst = dst[:len(p)]
		}
		src := p[:len(dst)]
		n := 0
		for n < len(src) {
			b := src[n]
			if b-0x20 >= del-0x20 {
				break
			}
			dst[n] = pen | cell(b)
			n++
		}
		if n == 0 {
			return total
		}
		m.last = rune(src[n-1])
		total += n
		x += n
		if x < len(cells) {
			splitTail(cells, x, pen)
			m.cur.x = x
			return total
		}
		m.cur.x = len(cells) - 1
		m.cur.wrap = m.modes.has(modeWrap)
		p = p[n:]
		if len(p) == 0 || p[0]-0x20 >= del-0x20 {
			return total
		}
	}
}

// splitWide prepares cells[x] to be overwritten: if it is the right half of a wide character, the
// left half becomes a blank.
func splitWide(cells []cell, x int, blank cell) {
	if cells[x]&cellTail != 0 && x > 0 {
		cells[x-1] = blank
	}
}

// splitTail repairs cells[x] after cells[x-1] was overwritten: a right half left alone becomes a
// blank.
func splitTail(cells []cell, x int, blank cell) {
	if x < len(cells) && cells[x]&cellTail != 0 {
		cells[x] = blank
	}
}

// wrapLine does the pending wrap after a character in the last column.
func (m *model) wrapLine() {
	m.cur.wrap = false
	m.line(m.cur.y) // a wrapped row has cells, even if its text has scrolled away meanwhile
	m.grid.rows[m.cur.y].wrapped = true
	m.cur.x = 0
	m.index()
}

// printRune writes one character to the screen.
func (m *model) printRune(r rune) {
	if r < del && r >= 0x20 || m.single != 0 {
		r = m.translate(r)
	}
	c := width.Of(r)
	last := m.lastClass
	m.lastClass = c
	w := m.cellsOf(c)
	if (w == 0 || c.MayJoin(last)) && m.join(r, w) {
		return
	}
	if w == 0 {
		return // a combining character with nothing before it
	}
	m.last = r
	m.put(cell(r), w)
}

// cellsOf returns how many cells a character of class c takes if it joins no other.
func (m *model) cellsOf(c width.Class) int {
	if m.modes.clusters() {
		return c.InCluster()
	}
	return c.Cells()
}

// put writes a cell of width w at the cursor and advances it.
func (m *model) put(c cell, w int) {
	if w > m.width {
		return
	}
	if m.cur.wrap {
		m.wrapLine()
	}
	if m.cur.x+w > m.width { // a wide character in the last column
		if m.modes.has(modeWrap) {
			cells := m.line(m.cur.y)
			splitWide(cells, m.cur.x, cell(m.penID)<<cellStyleShift)
			cells[m.cur.x] = cell(m.penID)<<cellStyleShift | cellFill
			m.wrapLine()
		} else {
			m.cur.x = m.width - w
		}
	}
	x := m.cur.x
	cells := m.line(m.cur.y)
	pen := cell(m.penID) << cellStyleShift
	if m.modes.has(modeInsert) {
		insertCells(cells, x, w, pen)
	}
	splitWide(cells, x, pen)
	if w == 2 {
		cells[x] = pen | c | cellWide
		cells[x+1] = pen | cellTail
	} else {
		cells[x] = pen | c
	}
	splitTail(cells, x+w, pen)
	x += w
	if x >= m.width {
		x = m.width - 1
		m.cur.wrap = m.modes.has(modeWrap)
	}
	m.cur.x = x
}

// repeat prints r, the last character, n more times (REP); 0 is none.
func (m *model) repeat(r rune, n int) {
	if r == 0 {
		return
	}
	n = min(n, m.width) // more would cost too much for so little output
	for range n {
		m.put(cell(r), m.cellsOf(width.Of(r)))
	}
}
