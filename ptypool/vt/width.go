package vt

import "github.com/rivo/uniseg"

//go:generate go run gen_width.go

// class is what the screen needs to know of a character: how wide it is, and with
// what it can make one grapheme cluster (Unicode annex 29).
type class uint8

const (
	classOther  class = iota // spacing and prepended marks, jamo, controls: uniseg decides
	classNarrow              // one column, joins nothing but a prepended mark
	classWide                // two columns, the same
	classMark                // no column, joins what is before it
	classZWJ                 // zero width joiner: a mark that ties pictographs
	classPicto               // a pictograph of one column; joins another over ZWJ
	classPicto2              // the same, of two columns
	classHangul              // a Hangul syllable, two columns; joins a leading jamo
	classFlag                // a regional indicator, two columns; two make one flag
)

// classOf looks r up in the table that gen_width.go makes of uniseg's.
func classOf(r rune) class {
	if r >= classLimit {
		if r < 0x40000 && r&0xffff < 0xfffe { // the ideographic planes
			return classWide
		}
		return classOther
	}
	b := classBlocks[int(classIndex[r>>7])<<6|int(r&127)>>1]
	return class(b >> (r & 1 * 4) & 15)
}

// width returns how many columns r, of class c, takes by itself.
func (c class) width(r rune) int {
	switch c {
	case classNarrow, classPicto:
		return 1
	case classWide, classPicto2, classHangul, classFlag:
		return 2
	case classMark, classZWJ:
		return 0
	}
	return min(uniseg.StringWidth(string(r)), 2)
}

// mayJoin reports whether a character of class c can join one of class last before
// it.
func (c class) mayJoin(last class) bool {
	switch c {
	case classNarrow, classWide, classHangul:
		return last == classOther
	case classPicto, classPicto2:
		return last == classZWJ || last == classOther
	case classFlag:
		return last == classFlag || last == classOther
	}
	return true
}

// join adds r to the character before the cursor if they make one grapheme
// cluster, and reports whether it did. A mark of width 0 always joins, an erased
// cell as if it were a space: redraws make spaces of some. With mode 2027 off nothing
// else does, as terminals of the wcwidth kind have it.
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
	_, rest, cw, _ := uniseg.FirstGraphemeCluster(text, -1)
	if w > 0 && len(rest) > 0 {
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
