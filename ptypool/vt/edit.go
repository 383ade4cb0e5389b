package vt

// blankRow makes row y blank on the pen's background.
func (m *model) blankRow(y int) {
	r := &m.grid.rows[y]
	if e := m.eraseCell(); e != 0 {
		r.wrapped, r.marks = false, rowMarks{}
		fill(m.line(y), e)
		return
	}
	m.grid.blank(r)
}

// scrollUp moves the lines of the region up by n; those that leave the top of the main screen
// become scrollback.
func (m *model) scrollUp(n int) {
	g := m.grid
	n = min(n, g.bottom-g.top+1)
	for range n {
		if g.top == 0 && g == &m.main {
			m.history.push(&m.table, &g.rows[0])
		}
		if g.top == 0 && g.bottom == len(g.rows)-1 {
			cells := g.shift()
			g.rows[g.bottom].cells = cells
		} else {
			first := g.rows[g.top]
			copy(g.rows[g.top:g.bottom], g.rows[g.top+1:g.bottom+1])
			g.rows[g.bottom] = first
		}
		m.blankRow(g.bottom)
	}
	if g.top > 0 {
		g.rows[g.top-1].wrapped = false
	}
}

// scrollDown moves the lines of the region down by n.
func (m *model) scrollDown(n int) { m.insertLines(m.grid.top, n) }

// insertLines moves the lines from y to the bottom of the region down by n.
func (m *model) insertLines(y, n int) {
	g := m.grid
	for range min(n, g.bottom-y+1) {
		last := g.rows[g.bottom]
		copy(g.rows[y+1:g.bottom+1], g.rows[y:g.bottom])
		g.rows[y] = last
		m.blankRow(y)
	}
	g.rows[g.bottom].wrapped = false
	m.breakBefore(y)
}

// deleteLines moves the lines below y up by n, to the bottom of the region.
func (m *model) deleteLines(y, n int) {
	g := m.grid
	g.rows[g.bottom].wrapped = false
	for range min(n, g.bottom-y+1) {
		first := g.rows[y]
		copy(g.rows[y:g.bottom], g.rows[y+1:g.bottom+1])
		g.rows[g.bottom] = first
		m.blankRow(g.bottom)
	}
	m.breakBefore(y)
}

// breakBefore ends the line before row y, whose continuation has been replaced.
func (m *model) breakBefore(y int) {
	switch {
	case y > 0:
		m.grid.rows[y-1].wrapped = false
	case m.grid == &m.main:
		m.history.breakLine()
	}
}

// inRegion reports whether the cursor is in the scroll region: IL, DL and the like do nothing
// outside it.
func (m *model) inRegion() bool {
	return m.cur.y >= m.grid.top && m.cur.y <= m.grid.bottom
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
func (m *model) erase(y, from, to int, selective bool) {
	r := &m.grid.rows[y]
	if from == 0 {
		m.breakBefore(y)
	}
	if to == m.width {
		r.wrapped = false
	}
	switch {
	case from >= to:
		return
	case r.cells == nil && m.eraseID == 0:
		if from == 0 && to == m.width {
			r.marks = rowMarks{}
		}
		return
	case !selective && from == 0 && to == m.width:
		m.blankRow(y)
		return
	}
	cells := m.line(y)
	if !selective {
		splitWide(cells, from, m.eraseCell())
		splitTail(cells, to, m.eraseCell())
		fill(cells[from:to], m.eraseCell())
		return
	}
	e := m.eraseCell()
	for x := from; x < to; x++ {
		if m.table.at(cells[x].style()).attrs&attrProtected == 0 {
			splitWide(cells, x, e)
			splitTail(cells, x+1, e)
			cells[x] = e
		}
	}
}

// eraseLine is EL and DECSEL. The marks of prompts stay, as in kitty: shells erase the line, and
// print the prompt again.
func (m *model) eraseLine(mode int, selective bool) {
	y, x := m.cur.y, m.cur.x
	r := &m.grid.rows[y]
	marks := r.marks
	defer func() { r.marks = marks }()
	switch mode {
	case 0:
		m.erase(y, x, m.width, selective)
	case 1:
		m.erase(y, 0, x+1, selective)
	case 2:
		m.erase(y, 0, m.width, selective)
	}
	m.cur.wrap = false
}

// eraseDisplay is ED and DECSED. The output of a command that runs begins anew where the first line
// was erased, as by clear(1).
func (m *model) eraseDisplay(mode int, selective bool) {
	y := m.cur.y
	from, to := 0, 0
	switch mode {
	case 0:
		m.eraseLine(0, selective)
		from, to = y+1, m.height()
	case 1:
		m.eraseLine(1, selective)
		to = y
	case 2:
		to = m.height()
	case 3:
		m.history.clear() // on the alternate screen too, like xterm
		return
	}
	running := false
	for i := from; i < to; i++ {
		if marks := m.grid.rows[i].marks; marks.running() {
			running = true
		} else if marks.set&markEnd != 0 {
			running = false
		}
		m.erase(i, 0, m.width, selective)
	}
	if running && m.grid == &m.main {
		if mode == 0 && m.cur.x == 0 {
			from = y
		}
		m.grid.rows[from].marks = rowMarks{set: markOutput | markBare}
	}
	m.cur.wrap = false
}

// alignment is DECALN: the screen full of E.
func (m *model) alignment() {
	m.grid.top, m.grid.bottom = 0, m.height()-1
	m.cur.originMode = false
	m.moveTo(0, 0)
	for y := range m.grid.rows {
		m.grid.rows[y].wrapped = false
		fill(m.line(y), 'E')
	}
}

// shiftColumns is SL (left) and SR: every line of the region by n columns.
func (m *model) shiftColumns(n int, left bool) {
	for y := m.grid.top; y <= m.grid.bottom; y++ {
		m.columns(y, 0, n, left)
	}
}

// columns deletes or inserts n columns at x in row y (DECDC, DECIC, SL, SR).
func (m *model) columns(y, x, n int, del bool) {
	m.grid.rows[y].wrapped = false
	if del {
		deleteCells(m.line(y), x, n, m.eraseCell())
	} else {
		insertCells(m.line(y), x, n, m.eraseCell())
	}
}
