package vt

import "slices"

// reflow gives the main screen a new size.
func (m *model) reflow(cols, rows int) {
	defer m.keepTables()()
	anchors := []anchor{{cur: &m.main.saved}}
	if !m.altShown() {
		anchors = append(anchors, anchor{cur: &m.cur})
	}
	active := &anchors[len(anchors)-1]
	last := m.lastRow(active.cur.y)
	full := last == len(m.main.rows)-1

	pulled := m.pullWrapped(nil)
	lines := joinRows(append(pulled, m.main.rows[:last+1]...), anchors, len(pulled))
	out := wrapLines(lines, cols, anchors)
	for full && len(out) < rows && m.history.lines > 0 {
		front := wrapLines(joinRows(m.pullLine(), nil, 0), cols, nil)
		out = append(front, out...)
		for i := range anchors {
			anchors[i].row += len(front)
		}
	}
	from := max(0, min(len(out)-rows, active.row))
	for i := range from {
		m.history.push(&m.table, &out[i])
	}
	fresh := make([]row, rows)
	copy(fresh, out[from:])
	m.main.setRows(fresh)
	for i := range anchors {
		a := &anchors[i]
		a.cur.x, a.cur.y, a.cur.wrap = a.col, a.row-from, a.wrap && m.modes.has(modeWrap)
		a.cur.clampTo(cols, rows)
	}
}

// lastRow returns the main screen's last row with text, or the cursor's if that is further down.
func (m *model) lastRow(y int) int {
	last := len(m.main.rows) - 1
	for last > y && m.main.rows[last].used() == 0 {
		last--
	}
	return last
}

// pullLine removes the last line of the scrollback, at most MaxRows rows, and returns it.
func (m *model) pullLine() []row {
	return m.pullWrapped([]row{m.decodeRow(m.history.pop())})
}

// pullWrapped removes from the scrollback the beginning of the line that continues in rows, and
// prepends it.
func (m *model) pullWrapped(rows []row) []row {
	h := &m.history
	first := len(rows)
	for len(rows) < MaxRows && h.lines > 0 && h.last()[0] != lineEnds {
		r := m.decodeRow(h.pop())
		r.wrapped = true
		rows = append(rows, r)
	}
	slices.Reverse(rows[first:])
	if first == 0 {
		return rows
	}
	return append(rows[first:], rows[:first]...)
}

// anchor is a cursor that keeps its place in the text while the text is wrapped again.
type anchor struct {
	cur  *cursor
	line int // the line it is in
	off  int // cells from the line's beginning

	row, col int // its place after wrapping
	wrap     bool
}

// textLine is one or several rows of which each but the last is wrapped.
type textLine struct {
	cells []cell
	tail  cell // fills the rest of its last row
	marks []lineMarks
}

// joinRows joins rows to lines, and finds the places of the anchors, whose rows are counted from
// rows[first].
func joinRows(rows []row, anchors []anchor, first int) []textLine {
	lines := make([]textLine, 1, len(rows)+1)
	for y := range rows {
		r := &rows[y]
		l := &lines[len(lines)-1]
		for i := range anchors {
			if a := &anchors[i]; a.cur.y+first == y || y == len(rows)-1 && a.cur.y+first > y {
				a.line, a.off = len(lines)-1, len(l.cells)+a.cur.x
				if a.cur.wrap {
					a.off++
				}
			}
		}
		n := len(r.cells)
		switch {
		case !r.wrapped:
			n = r.used()
			if n == len(r.cells) && n > 0 && r.cells[n-1]&(cellRune|cellCluster|cellTail) == 0 {
				l.tail = r.cells[n-1]
				for n > 0 && r.cells[n-1] == l.tail {
					n--
				}
			}
		case n > 0 && r.cells[n-1]&cellFill != 0:
			n--
		}
		if r.marks.set != 0 {
			l.marks = append(l.marks, lineMarks{len(l.cells), r.marks})
		}
		l.cells = append(l.cells, r.cells[:n]...)
		if !r.wrapped && y < len(rows)-1 {
			lines = append(lines, textLine{})
		}
	}
	return lines
}

// wrapLines wraps lines into rows of cols cells, and moves the anchors along.
func wrapLines(lines []textLine, cols int, anchors []anchor) []row {
	var out []row
	for i := range lines {
		l := &lines[i]
		for pos := 0; ; {
			n := min(cols, len(l.cells)-pos)
			end := pos+n == len(l.cells)
			var r row
			if n > 0 || l.tail != 0 {
				r.cells = make([]cell, cols)
			}
			if !end && l.cells[pos+n]&cellTail != 0 {
				n--
				if n == 0 { // a wide character on a screen of one column
					l.cells[pos] &^= cellRune | cellCluster | cellWide
					l.cells[pos+1] &^= cellTail
					n++
				} else {
					r.cells[n] = cellFill
				}
			}
			copy(r.cells, l.cells[pos:pos+n])
			r.wrapped = !end
			for x := n; end && x < len(r.cells); x++ {
				r.cells[x] = l.tail
			}
			for k := range anchors {
				if a := &anchors[k]; a.line == i && a.off >= pos && (end || a.off < pos+n) {
					a.row, a.col, a.wrap = len(out), min(a.off-pos, cols-1), a.off-pos == cols
				}
			}
			for k := range l.marks {
				to := pos + n
				if end {
					to = pos + cols + 1
				}
				l.marks[k].in(&r.marks, pos, to)
			}
			out = append(out, r)
			if pos += n; end {
				break
			}
		}
	}
	return out
}
