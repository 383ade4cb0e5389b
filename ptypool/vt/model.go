package vt

import "termhost/ptypool/vt/width"

// cursor is what DECSC saves: the position, and how text is written.
type cursor struct {
	x, y       int
	wrap       bool // the last column was written; the next character goes to the next line
	originMode bool // DECOM, kept here as it is saved and restored
	pen        style
	charsets   [4]byte // G0 to G3: the final byte of the designation
	gl         uint8   // which of them is in GL
}

// powerUpCursor is the cursor of a new terminal. It is never changed.
var powerUpCursor = cursor{charsets: [4]byte{'B', 'B', 'B', 'B'}}

// model is the program's drawing, and all state on which further drawing depends: the two grids,
// the cursor, the modes and the scrollback. It knows nothing of partial sequences, viewers or
// answers.
type model struct {
	main, alt grid
	grid      *grid  // the one shown
	turns     uint64 // counts what may have changed the screen that is not shown
	width     int    // columns
	cur       cursor
	pen       style  // the style of new text (cursor.pen is used in saved ones only)
	penID     uint32 // its index in table.styles
	eraseID   uint32 // the index of the style of erased cells: the pen's background alone
	single    uint8  // G2 or G3 for the next character only (SS2, SS3)
	plain     bool   // printASCII may take its fast path

	last      rune        // the last character printed, for REP; 0 after anything else
	lastClass width.Class // of the last character printed, also if that joined another

	modes   modes
	tabs    []uint64 // a bit per column
	table   table
	history history
}

// init makes a blank screen.
func (m *model) init(cols, rows int, o *Options) {
	*m = model{width: cols}
	m.table.init()
	m.main.init(rows)
	m.alt.init(rows)
	m.grid = &m.main
	m.history.limit, m.history.most = max(0, o.ScrollbackLines), o.ScrollbackBytes
	if o.ScrollbackBytes <= 0 {
		m.history.most = m.history.limit * historyLineBytes
	}
	m.resetState()
}

// resetState sets everything but the grids' contents to its power-up value.
func (m *model) resetState() {
	m.cur = powerUpCursor
	m.setPen(style{})
	m.single = 0
	m.last, m.lastClass = 0, width.Narrow
	m.modes.reset()
	m.resetTabs()
	m.updatePlain()
}

// height returns the number of rows.
func (m *model) height() int { return len(m.grid.rows) }

// altShown reports whether the alternate screen is shown.
func (m *model) altShown() bool { return m.grid == &m.alt }

// switchScreen switches to the alternate screen, which is blank then, or back to the main one.
func (m *model) switchScreen(alt bool) {
	if alt == m.altShown() {
		return
	}
	m.turns++
	m.cur.wrap = false
	if alt {
		m.grid = &m.alt
		for y := range m.grid.rows {
			m.blankRow(y)
		}
		return
	}
	m.alt.init(len(m.alt.rows))
	m.grid = &m.main
	if m.cur.originMode { // the screens' scroll regions differ
		m.cur.y = clamp(m.cur.y, m.grid.top, m.grid.bottom)
	}
}

// line returns row y's cells, allocated.
func (m *model) line(y int) []cell {
	r := &m.grid.rows[y]
	if r.cells == nil {
		r.cells = m.grid.take(m.width)
	}
	return r.cells
}

// setPen makes st the style of new text and its background that of erased cells.
func (m *model) setPen(st style) {
	bg := m.pen.bg
	m.pen = st
	m.penChanged(bg)
}

// penChanged is called when pen has changed; bg is the background it had.
func (m *model) penChanged(bg color) {
	if m.pen.bg != bg {
		m.eraseID = m.styleID(&style{bg: m.pen.bg})
	}
	m.penID = m.styleID(&m.pen)
}

// eraseCell is an erased cell: empty, on the pen's background.
func (m *model) eraseCell() cell { return cell(m.eraseID) << cellStyleShift }

// updatePlain recomputes whether ASCII may be copied into cells unchanged.
func (m *model) updatePlain() {
	m.plain = m.single == 0 && !m.modes.has(modeInsert) && m.cur.charsets[m.cur.gl] == 'B'
}
