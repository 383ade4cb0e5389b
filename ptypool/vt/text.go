package vt

import "bytes"

// appendText is Terminal.AppendText.
func (s *screen) appendText(dst []byte, ansi bool) []byte {
	w := writer{tb: &s.table, dst: dst}
	for y := range s.grid.rows {
		r := &s.grid.rows[y]
		n := r.used()
		for n > 0 && r.cells[n-1].blank() && (!ansi || !s.table.visible(r.cells[n-1])) {
			n--
		}
		for _, c := range r.cells[:n] {
			if ansi {
				st := s.table.at(c.style())
				w.shown(*st, s.table.hyperlinkOf(st))
			}
			w.dst = s.table.text(w.dst, c)
		}
		w.style(style{}, hyperlink{})
		w.str("\n")
	}
	return w.dst
}

// visible reports whether a blank cell's style shows.
func (tb *table) visible(c cell) bool {
	st := tb.at(c.style())
	return st.bg != 0 || st.attrs&(attrInverse|attrStrike|attrOverline|attrUnderline) != 0
}

// appendHistoryLines is Terminal.AppendHistoryLines.
func (s *screen) appendHistoryLines(dst []byte, from, to int) []byte {
	if from >= to {
		return dst
	}
	w := writer{tb: &s.table, dst: dst}
	n := 0 // of the line that comes
	end := func() {
		w.style(style{}, hyperlink{})
		w.str("\n")
	}
	for b := range s.history.newest(s.history.lines) {
		if n >= from && n < to {
			w.historyRow(b)
		}
		if b[0] != lineEnds {
			continue
		}
		if n >= from && n < to {
			end()
		}
		if n++; n >= to {
			return w.dst
		}
	}
	for y := range s.main.rows {
		r := &s.main.rows[y]
		if n >= from {
			w.plainRow(r)
		}
		if r.wrapped && y < len(s.main.rows)-1 {
			continue
		}
		if n >= from {
			end()
		}
		if n++; n >= to {
			break
		}
	}
	return w.dst
}

// historyRow appends the text of a line of the scrollback, with its styles.
func (w *writer) historyRow(b []byte) {
	r := readLine(b)
	for {
		text := r.ascii(len(r.b))
		if len(text) == 0 {
			var ok bool
			if text, _, ok = r.next(); !ok {
				return
			}
		}
		w.shown(r.st, r.hyperlink)
		w.dst = append(w.dst, text...)
	}
}

// plainRow appends the text of a row, with its styles.
func (w *writer) plainRow(r *row) {
	n := r.used()
	if r.wrapped {
		n = len(r.cells)
	}
	for _, c := range r.cells[:n] {
		if c&cellFill == 0 {
			st := w.tb.at(c.style())
			w.shown(*st, w.tb.hyperlinkOf(st))
			w.dst = w.tb.text(w.dst, c)
		}
	}
}

// shown makes a style that of what follows, but for protection, which nobody sees.
func (w *writer) shown(st style, l hyperlink) {
	st.attrs &^= attrProtected
	w.style(st, l)
}

// appendHistoryText is Terminal.AppendHistoryText.
func (s *screen) appendHistoryText(dst []byte) []byte {
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
	for b := range s.history.newest(s.history.lines) {
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
	for y := range s.main.rows {
		r := &s.main.rows[y]
		for _, c := range r.cells {
			if c&cellFill == 0 {
				dst = s.table.text(dst, c)
			}
		}
		line(r.wrapped && y < len(s.main.rows)-1)
	}
	return dst[:end]
}
