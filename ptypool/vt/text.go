package vt

import "bytes"

// AppendText appends what the screen shows now, one line per row, without the
// blanks at the end of a line. With ansi it carries colours and other styles as
// SGR sequences and hyperlinks as OSC 8, and nothing else that acts on a terminal.
func (t *Terminal) AppendText(dst []byte, ansi bool) []byte {
	w := writer{tb: &t.table, dst: dst}
	for y := range t.grid.rows {
		r := &t.grid.rows[y]
		n := r.used()
		for n > 0 && r.cells[n-1].blank() && (!ansi || !t.table.visible(r.cells[n-1])) {
			n--
		}
		for _, c := range r.cells[:n] {
			if ansi {
				st := *t.table.at(c.style())
				st.attrs &^= attrProtected
				w.style(st, t.table.linkOf(&st))
			}
			w.dst = t.table.text(w.dst, c)
		}
		w.style(style{}, link{})
		w.str("\n")
	}
	return w.dst
}

// visible reports whether a blank cell's style shows.
func (tb *table) visible(c cell) bool {
	st := tb.at(c.style())
	return st.bg != 0 || st.attrs&(attrInverse|attrStrike|attrOverline|attrUnderline) != 0
}

// AppendHistoryText appends the scrollback and the main screen as plain text. A line
// that was wrapped at the right margin is one line again; blanks at the end of a
// line and blank lines at the end are left out. Every line ends with a line feed.
// What a program shows on the alternate screen is not part of it.
func (t *Terminal) AppendHistoryText(dst []byte) []byte {
	start := len(dst) // of the current line
	end := len(dst)   // after the last line that is not blank
	line := func(wrapped bool) {
		if wrapped {
			return
		}
		dst = append(dst[:start], bytes.TrimRight(dst[start:], " ")...)
		blank := len(dst) == start
		dst = append(dst, '\n')
		start = len(dst)
		if !blank {
			end = start
		}
	}
	for b := range t.history.newest(t.history.lines) {
		for r := readLine(b); ; {
			text := r.ascii(len(r.b))
			if len(text) == 0 {
				var ok bool
				if text, _, ok = r.next(); !ok {
					break
				}
			}
			dst = append(dst, text...)
		}
		line(b[0] != lineEnds)
	}
	for y := range t.main.rows {
		r := &t.main.rows[y]
		for _, c := range r.cells {
			if c&cellFill == 0 {
				dst = t.table.text(dst, c)
			}
		}
		line(r.wrapped && y < len(t.main.rows)-1)
	}
	return dst[:end]
}
