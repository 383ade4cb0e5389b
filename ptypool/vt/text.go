package vt

import (
	"bytes"
	"iter"
	"math"
)

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

// rowsBetween is how many rows are appended between two calls of goOn: some ten microseconds'
// worth, a millisecond's if they are very long.
const rowsBetween = 256

// newestWhile returns the newest rows of the scrollback, until goOn, unless it is nil, returns
// false.
func (s *screen) newestWhile(rows int, goOn func() bool) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		n := 0
		for b := range s.history.newest(rows) {
			if n++; goOn != nil && n%rowsBetween == 0 && !goOn() || !yield(b) {
				return
			}
		}
	}
}

// historyTextLines is Terminal.HistoryTextLines.
func (s *screen) historyTextLines(goOn func() bool) int {
	ended, _ := s.history.skipLines(math.MaxInt)
	if n := s.mainLines(); n > 0 {
		return ended + n
	}
	// The last line that is not blank is in the scrollback, and most likely near its end.
	for rows := rowsBetween; ; rows *= 8 {
		rows = min(rows, s.history.lines)
		shown, after := false, 0 // after: the lines that have ended from the last one shown on
		for b := range s.newestWhile(rows, goOn) {
			if showsText(b) {
				shown, after = true, 0
			}
			if b[0] == lineEnds {
				after++
			}
		}
		switch {
		case shown:
			return ended - after + 1
		case rows == s.history.lines:
			return 0
		}
	}
}

// mainLines returns how many lines there are on the main screen, down to the last one with text.
// The first may go on from the scrollback.
func (s *screen) mainLines() (n int) {
	line := 1
	for y := range s.main.rows {
		r := &s.main.rows[y]
		for _, c := range r.cells {
			if !c.blank() {
				n = line
				break
			}
		}
		if !r.wrapped {
			line++
		}
	}
	return n
}

// showsText reports whether there is something but blanks in a row of the scrollback.
func showsText(b []byte) bool {
	for r := readLine(b); ; {
		text := r.ascii(len(r.b))
		if len(text) == 0 {
			var ok bool
			if text, _, ok = r.next(); !ok {
				return false
			}
		}
		if len(bytes.TrimLeft(text, " ")) > 0 {
			return true
		}
	}
}

// appendHistoryLines is Terminal.AppendHistoryLinesWhile.
func (s *screen) appendHistoryLines(dst []byte, from, to int, goOn func() bool) []byte {
	if from >= to {
		return dst
	}
	w := writer{tb: &s.table, dst: dst}
	n, rows := s.history.skipLines(from) // n: of the line that comes
	end := func() {
		w.style(style{}, hyperlink{})
		w.str("\n")
	}
	for b := range s.newestWhile(rows, goOn) {
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

// appendHistoryText is Terminal.AppendHistoryTextWhile.
func (s *screen) appendHistoryText(dst []byte, goOn func() bool) []byte {
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
	for b := range s.newestWhile(s.history.lines, goOn) {
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
