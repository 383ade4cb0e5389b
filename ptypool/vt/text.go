package vt

import (
	"bytes"
	"iter"
	"math"
)

// appendText is Screen.AppendText.
func (m *model) appendText(dst []byte, ansi bool) []byte {
	w := writer{tb: &m.table, dst: dst}
	for y := range m.grid.rows {
		r := &m.grid.rows[y]
		n := r.used()
		for n > 0 && r.cells[n-1].blank() && (!ansi || !m.table.visible(r.cells[n-1])) {
			n--
		}
		for _, c := range r.cells[:n] {
			if ansi {
				st := m.table.at(c.style())
				w.shown(*st, m.table.hyperlinkOf(st))
			}
			w.dst = m.table.text(w.dst, c)
		}
		w.style(style{}, hyperlink{})
		w.str("\n")
	}
	return w.dst
}

// visible reports whether the style of a blank cell is visible.
func (tb *table) visible(c cell) bool {
	st := tb.at(c.style())
	return st.bg != 0 || st.attrs&(attrInverse|attrStrike|attrOverline|attrUnderline) != 0
}

// rowsBetween is how many rows are appended between two calls of more, which takes some ten
// microseconds, or a millisecond if the rows are very long.
const rowsBetween = 256

// newestWhile returns the newest rows of the scrollback, until more, unless it is nil, returns
// false.
func (m *model) newestWhile(rows int, more func() bool) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		n := 0
		for b := range m.history.newest(rows) {
			if n++; more != nil && n%rowsBetween == 0 && !more() || !yield(b) {
				return
			}
		}
	}
}

// historyTextLines is Screen.HistoryTextLines.
func (m *model) historyTextLines(more func() bool) int {
	ended, _ := m.history.skipLines(math.MaxInt)
	if n := m.mainLines(); n > 0 {
		return ended + n
	}
	// The last line that is not blank is in the scrollback, usually near its end.
	for rows := rowsBetween; ; rows *= 8 {
		rows = min(rows, m.history.lines)
		shown, after := false, 0 // after: the lines that have ended from the last one shown on
		for b := range m.newestWhile(rows, more) {
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
		case rows == m.history.lines:
			return 0
		}
	}
}

// mainLines returns the number of lines on the main screen down to the last one with text. The
// first may continue one of the scrollback.
func (m *model) mainLines() (n int) {
	line := 1
	for y := range m.main.rows {
		r := &m.main.rows[y]
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

// showsText reports whether a row of the scrollback has anything but blanks.
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

// appendHistoryLines is Screen.AppendHistoryLinesWhile.
func (m *model) appendHistoryLines(dst []byte, from, to int, more func() bool) []byte {
	if from >= to {
		return dst
	}
	w := writer{tb: &m.table, dst: dst}
	n, rows := m.history.skipLines(from) // n: of the next line
	end := func() {
		w.style(style{}, hyperlink{})
		w.str("\n")
	}
	for b := range m.newestWhile(rows, more) {
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
	for y := range m.main.rows {
		r := &m.main.rows[y]
		if n >= from {
			w.plainRow(r)
		}
		if r.wrapped && y < len(m.main.rows)-1 {
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

// shown sets the style of the following text, without protection, which is invisible.
func (w *writer) shown(st style, l hyperlink) {
	st.attrs &^= attrProtected
	w.style(st, l)
}

// appendHistoryText is Screen.AppendHistoryTextWhile.
func (m *model) appendHistoryText(dst []byte, more func() bool) []byte {
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
	for b := range m.newestWhile(m.history.lines, more) {
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
	for y := range m.main.rows {
		r := &m.main.rows[y]
		for _, c := range r.cells {
			if c&cellFill == 0 {
				dst = m.table.text(dst, c)
			}
		}
		line(r.wrapped && y < len(m.main.rows)-1)
	}
	return dst[:end]
}
