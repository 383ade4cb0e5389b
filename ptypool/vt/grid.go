package vt

// grid is the main or the alternate screen.
type grid struct {
	rows []row    // one per line of the screen; a window onto buf
	buf  []row    // twice as many, so that scrolling moves the window, not the rows
	off  int      // rows == buf[off:off+len(rows)]
	free [][]cell // cells of rows that have become blank, for reuse; at most a screenful

	top, bottom int // scroll region, inclusive, counted from 0

	saved    cursor // DECSC
	hasSaved bool

	kitty []uint8 // keyboard flags: the stack, the current ones last; empty: 0
}

func (g *grid) init(rows int) {
	*g = grid{buf: make([]row, 2*rows), bottom: rows - 1}
	g.rows = g.buf[:rows]
}

// setRows replaces the lines of the grid and resets its scroll region.
func (g *grid) setRows(rows []row) {
	g.buf = make([]row, 2*len(rows))
	g.off, g.free = 0, nil
	g.rows = g.buf[:len(rows)]
	copy(g.rows, rows)
	g.top, g.bottom = 0, len(rows)-1
}

// shift moves every row up by one and returns the first one's cells for use
// as the last.
func (g *grid) shift() []cell {
	n := len(g.rows)
	first := g.rows[0].cells
	g.rows[0] = row{}
	if g.off++; g.off+n > len(g.buf) {
		copy(g.buf, g.rows[1:])
		clear(g.buf[n-1:])
		g.off = 0
	}
	g.rows = g.buf[g.off : g.off+n]
	return first
}

// cursor is what DECSC saves: the position and how text is written.
type cursor struct {
	x, y     int
	wrap     bool // the last column was written; the next character goes to the next line
	origin   bool // DECOM, kept here as it is saved and restored
	pen      style
	charsets [4]byte // G0 to G3: the final byte of the designation
	gl       uint8   // which of them is in GL
}

// powerUpCursor is the cursor of a new terminal. It is never changed.
var powerUpCursor = cursor{charsets: [4]byte{'B', 'B', 'B', 'B'}}

// screen is the state that output changes and redraws reproduce.
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

	last      rune  // the last character printed, for REP; 0 after anything else
	lastClass class // of the last character printed, also if that joined another

	modes       modeSet
	touched     modeSet // private modes that the program has ever set or reset
	mouse       uint16  // the mouse tracking mode in force: 0, 9, 1000, 1002 or 1003
	mouseEnc    uint16  // the mouse encoding in force: 0, 1005, 1006, 1015 or 1016
	cursorStyle uint8   // DECSCUSR 0..6
	modifyOther uint8   // XTMODKEYS resource 4, modifyOtherKeys: 0..2
	kittyUsed   bool    // the program has ever set kitty's keyboard flags
	modifyUsed  bool    // or modifyOtherKeys
	tabs        []uint64

	title      string
	titled     bool // the program has set a title, perhaps an empty one
	titleStack []string
	colors     colors

	table   table
	history history
}

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
	s.last, s.lastClass = 0, classNarrow
	s.modes = defaultModes
	s.mouse, s.mouseEnc = 0, 0
	s.cursorStyle, s.modifyOther = 0, 0
	s.resetTabs()
	s.colors = colors{theme: s.colors.theme, touched: s.colors.touched}
	s.updatePlain()
}

// height returns the number of rows.
func (s *screen) height() int { return len(s.grid.rows) }

// line returns row y's cells, allocated.
func (s *screen) line(y int) []cell {
	r := &s.grid.rows[y]
	if r.cells == nil {
		r.cells = s.grid.take(s.width)
	}
	return r.cells
}

// take returns n blank cells.
func (g *grid) take(n int) []cell {
	last := len(g.free) - 1
	if last < 0 {
		return make([]cell, n)
	}
	cells := g.free[last]
	g.free = g.free[:last]
	clear(cells)
	return cells
}

// blank makes row r blank in the default style. Clearing its cells is put off until
// they are needed, so that erasing a screen again and again costs little.
func (g *grid) blank(r *row) {
	if r.cells != nil {
		g.free = append(g.free, r.cells)
	}
	*r = row{}
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
