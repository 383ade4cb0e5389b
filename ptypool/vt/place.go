package vt

import "bytes"

// place is a position on the main screen that stays with its text as lines become scrollback. The
// zero place is none.
type place struct {
	row   uint64 // counted from the first line that ever became scrollback
	x     int
	width int // of the screen then; another one wraps lines anew
}

// here returns the cursor's place.
func (m *model) here() place {
	if m.altShown() {
		return place{}
	}
	return place{m.history.pushed + uint64(m.cur.y), m.cur.x, m.width}
}

// lineSince returns the text between a place and the row of the cursor, without trailing blanks, if
// that is one line in the rows of the screen; else "".
func (m *model) lineSince(p place) string {
	if m.altShown() || p.width != m.width || p.row < m.history.pushed {
		return ""
	}
	var text []byte
	x, last := p.x, m.cur.y-1
	for y := int(p.row - m.history.pushed); y <= last; y++ {
		r := &m.main.rows[y]
		if y < last && !r.wrapped {
			return ""
		}
		for _, c := range r.cells[min(x, len(r.cells)):] {
			text = m.table.text(text, c)
		}
		x = 0
	}
	return string(bytes.TrimRight(text, " "))
}
