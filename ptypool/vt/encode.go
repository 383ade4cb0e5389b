package vt

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"
)

// A line of scrollback begins with one of the line kinds, followed by its cells in order: a narrow
// character is its UTF-8; everything else begins with a token below, with which no cell's text
// begins.
const (
	lineEnds    = 0 // a line break follows the line
	lineWrapped = 1 // the text continues in the next line
	lineFilled  = 2 // as lineWrapped, and the last column was left empty for a wide character

	tokStyle       = 1 // a style follows: see appendStyle
	tokWide        = 2 // a double-width character follows
	tokCluster     = 3 // a length byte and a cluster of one column follow
	tokWideCluster = 4 // the same, of two columns
	tokMarks       = 5 // marks follow: see rowMarks.encode; before all cells
)

// encodeRow appends a row without trailing blanks.
func encodeRow(dst []byte, tb *table, r *row) []byte {
	n := r.used()
	kind := byte(lineEnds)
	if r.wrapped {
		kind = lineWrapped
		if n = len(r.cells); n > 0 && r.cells[n-1]&cellFill != 0 {
			kind = lineFilled
			n--
		}
	}
	dst = append(dst, kind)
	if r.marks.set != 0 {
		dst = r.marks.encode(dst)
	}
	id := uint32(0)
	for cells := r.cells[:n]; len(cells) > 0; {
		c := cells[0]
		if c.style() != id {
			id = c.style()
			dst = tb.appendStyle(append(dst, tokStyle), id)
		}
		if c&(1<<cellStyleShift-1) < utf8.RuneSelf {
			var k int
			dst, k = appendASCII(dst, cells, id)
			cells = cells[k:]
			continue
		}
		cells = cells[1:]
		switch ch := c & (1<<cellStyleShift - 1); {
		case ch&cellTail != 0:
		case ch&cellCluster != 0:
			text := tb.clusters[ch&cellRune]
			tok := byte(tokCluster)
			if ch&cellWide != 0 {
				tok = tokWideCluster
			}
			dst = append(append(dst, tok, byte(len(text))), text...)
		case ch&cellWide != 0:
			dst = utf8.AppendRune(append(dst, tokWide), rune(ch&cellRune))
		case ch&cellRune == 0:
			dst = append(dst, ' ')
		default:
			dst = utf8.AppendRune(dst, rune(ch&cellRune))
		}
	}
	return dst
}

// appendASCII appends the ASCII characters and blanks of one style at the beginning of cells, and
// returns their number.
func appendASCII(dst []byte, cells []cell, id uint32) ([]byte, int) {
	dst = slices.Grow(dst, len(cells))
	out := dst[len(dst) : len(dst)+len(cells)]
	pen := cell(id) << cellStyleShift
	for i, c := range cells {
		c ^= pen
		if c >= utf8.RuneSelf {
			return dst[:len(dst)+i], i
		}
		out[i] = byte(max(c, ' '))
	}
	return dst[:len(dst)+len(cells)], len(cells)
}

// appendStyle appends a style: attributes, three colours, and the hyperlink's id and URI with their
// lengths.
func (tb *table) appendStyle(dst []byte, id uint32) []byte {
	st := tb.at(id)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(st.attrs))
	for _, c := range [...]color{st.fg, st.bg, st.ul} {
		dst = append(dst, byte(c>>24))
		switch c & colorTag {
		case colorIndexed:
			dst = append(dst, byte(c))
		case colorRGB:
			dst = append(dst, byte(c>>16), byte(c>>8), byte(c))
		}
	}
	var l hyperlink
	if st.hyperlink != 0 {
		l = tb.hyperlinks[st.hyperlink]
	}
	dst = append(dst, byte(len(l.id)))
	dst = append(dst, l.id...)
	dst = binary.AppendUvarint(dst, uint64(len(l.uri)))
	return append(dst, l.uri...)
}
