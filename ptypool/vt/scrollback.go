package vt

import "unicode/utf8"

// historyWriter draws scrollback on a window and follows where the cursor is.
type historyWriter struct {
	*writer
	cols    int
	rows    int
	x       int
	lines   int  // lines of the window that are finished
	colored bool // the line may have scrolled in with a background
	filled  bool // the last column was left empty for a wide character, which is to follow
}

// drawHistory draws scrollback from the cursor, at the top left, on, and returns
// how many lines of the window that takes. With join the screen's first row follows
// at once, so that a line that goes on in it is not broken; joined tells that this
// is so.
func (t *Terminal) drawHistory(w *writer, r *Redraw, join bool) (lines int, joined bool) {
	n := r.Scrollback
	if n < 0 {
		n = t.history.lines
	}
	n = min(n, t.history.lines)
	h := historyWriter{writer: w, cols: r.Cols, rows: r.Rows}
	for b := range t.history.newest(n) {
		h.draw(b)
		n--
		full := h.x == h.cols || h.filled && h.x == h.cols-1
		if b[0] == lineEnds || n == 0 && !(join && full) {
			h.newline()
		}
	}
	if joined = h.x > 0; joined && h.filled && !t.main.rows[0].startsWide() {
		w.str(" ")
	}
	return h.lines, joined
}

// draw draws one line of the scrollback.
func (h *historyWriter) draw(b []byte) {
	line := readLine(b)
	for {
		if !h.filled && h.x < h.cols {
			if run := line.ascii(h.cols - h.x); len(run) > 0 {
				h.style(line.st, line.link)
				h.dst = append(h.dst, run...)
				h.x += len(run)
				continue
			}
		}
		text, width, ok := line.next()
		if !ok {
			break
		}
		h.char(&line, text, width)
	}
	h.filled = b[0] == lineFilled
}

// char draws the character that line has come to.
func (h *historyWriter) char(line *lineReader, text []byte, width int) {
	if h.filled && width == 1 { // something else has taken the wide character's place
		h.str(" ")
		h.x++
	}
	h.filled = false
	if h.x+width > h.cols {
		if h.x < h.cols {
			h.style(line.st, line.link)
			h.leaveColumn(utf8.RuneCount(text) > 1)
		}
		h.x, h.lines, h.colored = 0, h.lines+1, line.st.bg != 0
	}
	h.x += width
	h.style(line.st, line.link)
	if r, n := utf8.DecodeRune(text); n < len(text) {
		h.cluster(string(text), width > 1)
	} else {
		h.dst = append(h.dst, text...)
		if !disputedRune(r) {
			return
		}
	}
	if h.x < h.cols {
		h.csi("G", h.x+1) // see disputed
	} else {
		h.separate()
	}
}

// newline ends the line.
func (h *historyWriter) newline() {
	h.style(style{}, link{})
	if (h.colored || h.lines < h.rows) && h.x < h.cols {
		h.str("\x1b[K")
	}
	h.str("\r\n")
	h.x, h.lines, h.colored, h.filled = 0, h.lines+1, false, false
}

// scrollOwn scrolls what a terminal shows above the cursor, and the cursor's line if
// there is text in it, into its scrollback. Where the cursor is, is not known: a line
// of blanks goes on to the next line unless it begins in the first column, and line
// feeds as many as the window has lines, less one, scroll by as many as there are above.
// Nothing scrolls on a fresh terminal.
func (w *writer) scrollOwn(cols, rows int) {
	w.str("\x1b7\x1b[r\x1b8") // the region's end homes the cursor
	for range cols {
		w.str(" ")
	}
	w.str("\r\x1b[K")
	for range rows - 1 {
		w.str("\n")
	}
}

// scrollOff scrolls the lines just drawn out of a window.
func (w *writer) scrollOff(lines, rows int) {
	if lines == 0 {
		return
	}
	w.csi("H", rows)
	for range min(lines, rows-1) {
		w.str("\n")
	}
}
