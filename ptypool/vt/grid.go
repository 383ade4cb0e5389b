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

	kitty kittyStack
}

// init makes a blank grid.
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

// shift moves every row up by one and returns the first one's cells for use as the last.
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

// take returns n blank cells, reused if possible.
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

// blank makes row r blank in the default style. Its cells are cleared only when they are needed, so
// that erasing a screen repeatedly costs little.
func (g *grid) blank(r *row) {
	if r.cells != nil {
		g.free = append(g.free, r.cells)
	}
	*r = row{}
}
