package vt

import (
	"unicode/utf8"

	"termhost/ptypool/vt/width"
)

// appendRune appends r in UTF-8.
func appendRune(dst []byte, r rune) []byte { return utf8.AppendRune(dst, r) }

// printASCII writes the printable ASCII at the beginning of p to the screen and returns how many
// bytes that was, at least one.
func (s *screen) printASCII(p []byte) int {
	if !s.plain || s.lastClass == width.Prepended { // which joins p[0]
		s.printRune(rune(p[0]))
		return 1
	}
	s.lastClass = width.Narrow
	total := 0
	pen := cell(s.penID) << cellStyleShift
	for {
		if s.cur.wrap {
			s.wrapLine()
		}
		x := s.cur.x
		cells := s.line(s.cur.y)
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
		s.last = rune(src[n-1])
		total += n
		x += n
		if x < len(cells) {
			splitTail(cells, x, pen)
			s.cur.x = x
			return total
		}
		s.cur.x = len(cells) - 1
		s.cur.wrap = s.modes.has(modeWrap)
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

// wrapLine does the line break that a character in the last column put off.
func (s *screen) wrapLine() {
	s.cur.wrap = false
	s.line(s.cur.y) // a wrapped row has cells, even if its text has been scrolled away meanwhile
	s.grid.rows[s.cur.y].wrapped = true
	s.cur.x = 0
	s.index()
}

// printRune writes one character to the screen.
func (s *screen) printRune(r rune) {
	if r < del && r >= 0x20 || s.single != 0 {
		r = s.translate(r)
	}
	c := width.Of(r)
	last := s.lastClass
	s.lastClass = c
	w := c.Cells()
	if (w == 0 || c.MayJoin(last)) && s.join(r, w) {
		return
	}
	if w == 0 {
		return // a combining character with nothing before it
	}
	s.last = r
	s.put(cell(r), w)
}

// put writes a cell of width w at the cursor and advances it.
func (s *screen) put(c cell, w int) {
	if w > s.width {
		return
	}
	if s.cur.wrap {
		s.wrapLine()
	}
	if s.cur.x+w > s.width { // a wide character in the last column
		if s.modes.has(modeWrap) {
			cells := s.line(s.cur.y)
			splitWide(cells, s.cur.x, cell(s.penID)<<cellStyleShift)
			cells[s.cur.x] = cell(s.penID)<<cellStyleShift | cellFill
			s.wrapLine()
		} else {
			s.cur.x = s.width - w
		}
	}
	x := s.cur.x
	cells := s.line(s.cur.y)
	pen := cell(s.penID) << cellStyleShift
	if s.modes.has(modeInsert) {
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
	if x >= s.width {
		x = s.width - 1
		s.cur.wrap = s.modes.has(modeWrap)
	}
	s.cur.x = x
}

// repeat prints r, the last character, n more times (REP); 0 is none.
func (s *screen) repeat(r rune, n int) {
	if r == 0 {
		return
	}
	n = min(n, s.width) // more would be work out of proportion to the output
	for range n {
		s.put(cell(r), width.Of(r).Cells())
	}
}
