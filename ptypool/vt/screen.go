package vt

import "termhost/ptypool/vt/width"

// cursor is what DECSC saves: the position and how text is written.
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

// screen is what the program has drawn, and everything that decides how it goes on drawing: the two
// grids, the cursor, the modes and the scrollback. Its methods are the functions of a terminal that
// act on the screen alone; it knows nothing of sequences held back, viewers or answers.
type screen struct {
	main, alt grid
	grid      *grid // the one shown
	width     int   // columns
	cur       cursor
	pen       style  // the style of new text (cursor.pen is used in saved ones only)
	penID     uint32 // its number
	eraseID   uint32 // the number of the style of erased cells: the pen's background alone
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
func (s *screen) init(cols, rows int, o *Options) {
	*s = screen{width: cols}
	s.table.init()
	s.main.init(rows)
	s.alt.init(rows)
	s.grid = &s.main
	s.history.limit, s.history.most = max(0, o.ScrollbackLines), o.ScrollbackBytes
	if o.ScrollbackBytes <= 0 {
		s.history.most = s.history.limit * historyLineBytes
	}
	s.resetState()
}

// resetState sets everything but the grids' contents to its power-up value.
func (s *screen) resetState() {
	s.cur = powerUpCursor
	s.setPen(style{})
	s.single = 0
	s.last, s.lastClass = 0, width.Narrow
	s.modes.reset()
	s.resetTabs()
	s.updatePlain()
}

// height returns the number of rows.
func (s *screen) height() int { return len(s.grid.rows) }

// altShown reports whether the alternate screen is shown.
func (s *screen) altShown() bool { return s.grid == &s.alt }

// switchScreen goes to the alternate screen, which is then blank, or back to the main one.
func (s *screen) switchScreen(alt bool) {
	if alt == s.altShown() {
		return
	}
	s.cur.wrap = false
	if alt {
		s.grid = &s.alt
		for y := range s.grid.rows {
			s.blankRow(y)
		}
		return
	}
	s.alt.init(len(s.alt.rows))
	s.grid = &s.main
	if s.cur.originMode { // the screens' scroll regions differ
		s.cur.y = clamp(s.cur.y, s.grid.top, s.grid.bottom)
	}
}

// line returns row y's cells, allocated.
func (s *screen) line(y int) []cell {
	r := &s.grid.rows[y]
	if r.cells == nil {
		r.cells = s.grid.take(s.width)
	}
	return r.cells
}

// setPen makes st the style of new text and its background that of erased cells.
func (s *screen) setPen(st style) {
	bg := s.pen.bg
	s.pen = st
	s.penChanged(bg)
}

// penChanged is called when pen has changed; bg is the background it had.
func (s *screen) penChanged(bg color) {
	if s.pen.bg != bg {
		s.eraseID = s.styleID(&style{bg: s.pen.bg})
	}
	s.penID = s.styleID(&s.pen)
}

// eraseCell is what erasing leaves: nothing, on the pen's background.
func (s *screen) eraseCell() cell { return cell(s.eraseID) << cellStyleShift }

// updatePlain recomputes whether ASCII may be copied into cells as it is.
func (s *screen) updatePlain() {
	s.plain = s.single == 0 && !s.modes.has(modeInsert) && s.cur.charsets[s.cur.gl] == 'B'
}
