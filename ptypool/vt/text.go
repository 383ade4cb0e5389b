package vt

// AppendText appends what the screen shows now, one line per row, without the
// blanks at the end of a line. With ansi it carries colours and other styles as
// SGR sequences, and nothing else that acts on a terminal.
func (t *Terminal) AppendText(dst []byte, ansi bool) []byte {
	w := writer{tb: &t.table, dst: dst}
	for y := range t.grid.rows {
		r := &t.grid.rows[y]
		n := r.used()
		for n > 0 && r.cells[n-1].blank() && (!ansi || !t.visibleBlank(r.cells[n-1])) {
			n--
		}
		for _, c := range r.cells[:n] {
			if ansi {
				st := *t.table.at(c.style())
				st.link, st.attrs = 0, st.attrs&^attrProtected
				w.style(&st)
			}
			w.dst = t.table.text(w.dst, c)
		}
		if ansi {
			w.style(&style{})
		}
		w.dst = append(w.dst, '\n')
	}
	return w.dst
}

// visibleBlank reports whether a blank cell's style shows.
func (t *Terminal) visibleBlank(c cell) bool {
	st := t.table.at(c.style())
	return st.bg != 0 || st.attrs&(attrInverse|attrStrike|attrOverline|attrUnderline) != 0
}
