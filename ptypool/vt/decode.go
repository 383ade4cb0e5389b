package vt

import (
	"encoding/binary"
	"math"
	"unicode/utf8"
)

// lineReader reads a line written by encodeRow.
type lineReader struct {
	kind      byte // lineEnds, lineWrapped or lineFilled
	marks     rowMarks
	b         []byte
	st        style // of the cell read last; without its hyperlink
	hyperlink hyperlink
}

// readLine returns a reader of a line.
func readLine(b []byte) lineReader {
	marks, rest := readMarks(b[1:])
	return lineReader{kind: b[0], marks: marks, b: rest}
}

// next returns the text of the next cell, its width, and false at the end. The text is a slice of
// the line.
func (r *lineReader) next() (text []byte, width int, ok bool) {
	if len(r.b) > 0 && r.b[0] == tokStyle {
		r.b = r.readStyle(r.b[1:])
	}
	if len(r.b) == 0 {
		return nil, 0, false
	}
	switch tok := r.b[0]; tok {
	case tokCluster, tokWideCluster:
		n := 2 + int(r.b[1])
		text, r.b = r.b[2:n], r.b[n:]
		return text, 1 + int(tok-tokCluster), true
	case tokWide:
		_, n := utf8.DecodeRune(r.b[1:])
		text, r.b = r.b[1:1+n], r.b[1+n:]
		return text, 2, true
	}
	n := 1
	if r.b[0] >= utf8.RuneSelf {
		_, n = utf8.DecodeRune(r.b)
	}
	text, r.b = r.b[:n], r.b[n:]
	return text, 1, true
}

// ascii returns at once what several calls of next would: the next ASCII characters of one style,
// at most n. It returns nothing if something else comes first.
func (r *lineReader) ascii(n int) []byte {
	if len(r.b) > 0 && r.b[0] == tokStyle {
		r.b = r.readStyle(r.b[1:])
	}
	b := r.b[:min(n, len(r.b))]
	for i, c := range b {
		if c-' ' >= utf8.RuneSelf-' ' {
			b = b[:i]
			break
		}
	}
	r.b = r.b[len(b):]
	return b
}

// readStyle is the reverse of table.appendStyle. It returns what follows the style.
func (r *lineReader) readStyle(b []byte) []byte {
	r.st = style{attrs: attrs(binary.LittleEndian.Uint16(b))}
	b = b[2:]
	for _, c := range [...]*color{&r.st.fg, &r.st.bg, &r.st.ul} {
		*c = color(b[0]) << 24
		switch *c {
		case colorIndexed:
			*c |= color(b[1])
			b = b[1:]
		case colorRGB:
			*c |= color(b[1])<<16 | color(b[2])<<8 | color(b[3])
			b = b[3:]
		}
		b = b[1:]
	}
	r.hyperlink = hyperlink{}
	n := int(b[0])
	r.hyperlink.id, b = string(b[1:1+n]), b[1+n:]
	size, k := binary.Uvarint(b)
	r.hyperlink.uri = string(b[k : k+int(size)])
	return b[k+int(size):]
}

// decodeRow returns a scrollback line as a row. Its cells are not in a grid yet, so the tables must
// not be swept meanwhile: see keepTables.
func (m *model) decodeRow(b []byte) row {
	var cells []cell
	r := readLine(b)
	id, was, wasHyperlink := uint32(0), style{}, hyperlink{}
	for {
		text, width, ok := r.next()
		if !ok {
			return row{cells: cells, marks: r.marks}
		}
		if r.st != was || r.hyperlink != wasHyperlink {
			was, wasHyperlink = r.st, r.hyperlink
			st := r.st
			if r.hyperlink != (hyperlink{}) {
				st.hyperlink = m.hyperlinkID(r.hyperlink)
			}
			id = m.styleID(&st)
		}
		pen := cell(id) << cellStyleShift
		ch, n := utf8.DecodeRune(text)
		c := cell(ch)
		if n < len(text) {
			if k, ok := m.clusterID(text); ok {
				c = cellCluster | cell(k)
			}
		}
		if width == 2 {
			cells = append(cells, pen|c|cellWide, pen|cellTail)
		} else {
			cells = append(cells, pen|c)
		}
	}
}

// keepTables prevents sweeps of the tables while cells are held outside the grids, where a sweep
// would not find them. It returns a function that permits sweeps again.
func (m *model) keepTables() func() {
	tb := &m.table
	styles, clusters, links := tb.styleQuota, tb.clusterQuota, tb.hyperlinkQuota
	never := quota{sweepAt: math.MaxInt}
	tb.styleQuota, tb.clusterQuota, tb.hyperlinkQuota = never, never, never
	return func() { tb.styleQuota, tb.clusterQuota, tb.hyperlinkQuota = styles, clusters, links }
}
