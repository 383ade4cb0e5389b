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
				st := *s.table.at(c.style())
				st.attrs &^= attrProtected
				w.style(st, s.table.hyperlinkOf(&st))
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
