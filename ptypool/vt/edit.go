package vt

// blankRow makes row y blank on the pen's background.
func (s *screen) blankRow(y int) {
	r := &s.grid.rows[y]
	if e := s.eraseCell(); e != 0 {
		r.wrapped = false
		fill(s.line(y), e)
		return
	}
	s.grid.blank(r)
}

// scrollUp moves the lines of the region up by n; those that leave the top of the main screen
// become scrollback.
func (s *screen) scrollUp(n int) {
	g := s.grid
	n = min(n, g.bottom-g.top+1)
	for range n {
		if g.top == 0 && g == &s.main {
			s.history.push(&s.table, &g.rows[0])
		}
		if g.top == 0 && g.bottom == len(g.rows)-1 {
			cells := g.shift()
			g.rows[g.bottom].cells = cells
		} else {
			first := g.rows[g.top]
			copy(g.rows[g.top:g.bottom], g.rows[g.top+1:g.bottom+1])
			g.rows[g.bottom] = first
		}
		s.blankRow(g.bottom)
	}
	if g.top > 0 {
		g.rows[g.top-1].wrapped = false
	}
}

// scrollDown moves the lines of the region down by n.
func (s *screen) scrollDown(n int) { s.insertLines(s.grid.top, n) }

// insertLines moves the lines from y to the bottom of the region down by n.
func (s *screen) insertLines(y, n int) {
	g := s.grid
	for range min(n, g.bottom-y+1) {
		last := g.rows[g.bottom]
		copy(g.rows[y+1:g.bottom+1], g.rows[y:g.bottom])
		g.rows[y] = last
		s.blankRow(y)
	}
	g.rows[g.bottom].wrapped = false
	s.breakBefore(y)
}

// deleteLines moves the lines below y up by n, to the bottom of the region.
func (s *screen) deleteLines(y, n int) {
	g := s.grid
	g.rows[g.bottom].wrapped = false
	for range min(n, g.bottom-y+1) {
		first := g.rows[y]
		copy(g.rows[y:g.bottom], g.rows[y+1:g.bottom+1])
		g.rows[g.bottom] = first
		s.blankRow(g.bottom)
	}
	s.breakBefore(y)
}

// breakBefore ends the line before row y: what it went on in has been replaced.
func (s *screen) breakBefore(y int) {
	switch {
	case y > 0:
		s.grid.rows[y-1].wrapped = false
	case s.grid == &s.main:
		s.history.breakLine()
	}
}

// inRegion reports whether the cursor is in the scroll region: IL, DL and the like do nothing
// outside it.
func (s *screen) inRegion() bool {
	return s.cur.y >= s.grid.top && s.cur.y <= s.grid.bottom
}

// insertCells moves cells[x:] right by n, leaving blanks.
func insertCells(cells []cell, x, n int, blank cell) {
	splitWide(cells, x, blank)
	n = min(n, len(cells)-x)
	copy(cells[x+n:], cells[x:])
	fill(cells[x:x+n], blank)
	splitTail(cells, x+n, blank)
	splitEnd(cells, blank)
}

// deleteCells moves cells[x+n:] left by n, leaving blanks at the end.
func deleteCells(cells []cell, x, n int, blank cell) {
	splitWide(cells, x, blank)
	n = min(n, len(cells)-x)
	copy(cells[x:], cells[x+n:])
	fill(cells[len(cells)-n:], blank)
	splitTail(cells, x, blank)
}

// splitEnd repairs a wide character whose right half was pushed off the line.
func splitEnd(cells []cell, blank cell) {
	if last := len(cells) - 1; cells[last]&cellWide != 0 {
		cells[last] = blank
	}
}

// fill makes every cell c.
func fill(cells []cell, c cell) {
	for i := range cells {
		cells[i] = c
	}
}

// erase blanks columns [from,to) of row y; selective spares protected cells (DECSEL, DECSED).
func (s *screen) erase(y, from, to int, selective bool) {
	r := &s.grid.rows[y]
	if from == 0 {
		s.breakBefore(y)
	}
	if to == s.width {
		r.wrapped = false
	}
	switch {
	case r.cells == nil && s.eraseID == 0 || from >= to:
		return
	case !selective && from == 0 && to == s.width:
		s.blankRow(y)
		return
	}
	cells := s.line(y)
	if !selective {
		splitWide(cells, from, s.eraseCell())
		splitTail(cells, to, s.eraseCell())
		fill(cells[from:to], s.eraseCell())
		return
	}
	e := s.eraseCell()
	for x := from; x < to; x++ {
		if s.table.at(cells[x].style()).attrs&attrProtected == 0 {
			splitWide(cells, x, e)
			splitTail(cells, x+1, e)
			cells[x] = e
		}
	}
}

// eraseLine is EL and DECSEL.
func (s *screen) eraseLine(mode int, selective bool) {
	y, x := s.cur.y, s.cur.x
	switch mode {
	case 0:
		s.erase(y, x, s.width, selective)
	case 1:
		s.erase(y, 0, x+1, selective)
	case 2:
		s.erase(y, 0, s.width, selective)
	}
	s.cur.wrap = false
}

// eraseDisplay is ED and DECSED.
func (s *screen) eraseDisplay(mode int, selective bool) {
	y := s.cur.y
	from, to := 0, 0
	switch mode {
	case 0:
		s.eraseLine(0, selective)
		from, to = y+1, s.height()
	case 1:
		s.eraseLine(1, selective)
		to = y
	case 2:
		to = s.height()
	case 3:
		s.history.clear() // on the alternate screen too, like xterm
		return
	}
	for i := from; i < to; i++ {
		s.erase(i, 0, s.width, selective)
	}
	s.cur.wrap = false
}

// alignment is DECALN: the screen full of E.
func (s *screen) alignment() {
	s.grid.top, s.grid.bottom = 0, s.height()-1
	s.cur.originMode = false
	s.moveTo(0, 0)
	for y := range s.grid.rows {
		s.grid.rows[y].wrapped = false
		fill(s.line(y), 'E')
	}
}

// shiftColumns is SL (left) and SR: every line of the region by n columns.
func (s *screen) shiftColumns(n int, left bool) {
	for y := s.grid.top; y <= s.grid.bottom; y++ {
		s.columns(y, 0, n, left)
	}
}

// columns deletes or inserts n columns at x in row y (DECDC, DECIC, SL, SR).
func (s *screen) columns(y, x, n int, del bool) {
	s.grid.rows[y].wrapped = false
	if del {
		deleteCells(s.line(y), x, n, s.eraseCell())
	} else {
		insertCells(s.line(y), x, n, s.eraseCell())
	}
}
