package vt

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"termhost/ptypool/vt/width"
)

// historyWriter draws scrollback in a window, and tracks the cursor.
type historyWriter struct {
	*writer
	cols    int
	rows    int
	x       int
	lines   int  // lines of the window that are finished
	colored bool // the line may have scrolled in with a background
	filled  bool // the last column was left empty because the next, wide character had no room
	whole   bool // see fitsSpread
}

// drawHistory draws scrollback from the cursor, which must be at the top left, and returns how many
// lines of the window that takes. With join the caller draws the screen's first row next, so a last
// line that continues in that row gets no line break; joined reports that there is such a line. Of
// the history h the lines are left out that have scrolled off the screen since m was.
func (m *model) drawHistory(w *writer, r *Redraw, h *history, join bool) (lines int, joined bool) {
	later := clamp(int(h.pushed-m.history.pushed), 0, h.lines)
	n := h.lines - later
	if r.Scrollback >= 0 {
		n = min(n, r.Scrollback)
	}
	hw := historyWriter{writer: w, cols: r.Cols, rows: r.Rows}
	for b := range h.newest(n + later) {
		if n == 0 {
			break
		}
		hw.draw(b)
		n--
		full := hw.x == hw.cols || hw.filled && hw.x == hw.cols-1
		if b[0] == lineEnds || n == 0 && !(join && full) {
			hw.newline()
		}
	}
	if joined = hw.x > 0; joined && hw.filled && !m.main.rows[0].startsWide() {
		w.str(" ")
	}
	return hw.lines, joined
}

// draw draws one line of the scrollback.
func (h *historyWriter) draw(b []byte) {
	line := readLine(b)
	h.whole = b[0] == lineEnds && h.x == 0 && line.fitsSpread(h.cols)
	marks := h.markHead(&line)
	for x := 0; ; { // x: the cells of the line that are drawn
		most := h.cols - h.x
		for ; len(marks) > 0 && marks[0].x <= x; marks = marks[1:] {
			h.dst = appendMark(h.dst, marks[0].kind, "")
		}
		if len(marks) > 0 {
			most = min(most, marks[0].x-x)
		}
		if !h.filled && h.x < h.cols {
			if run := line.ascii(most); len(run) > 0 {
				h.style(line.st, line.hyperlink)
				h.dst = append(h.dst, run...)
				h.x += len(run)
				x += len(run)
				continue
			}
		}
		text, width, ok := line.next()
		if !ok {
			break
		}
		h.char(&line, text, width)
		x += width
	}
	for _, mark := range marks { // behind blanks that are not kept
		h.dst = appendMark(h.dst, mark.kind, "")
	}
	h.filled = b[0] == lineFilled
}

// markHead draws the marks at the beginning of a line, and returns the others.
func (h *historyWriter) markHead(line *lineReader) (inner []innerMark) {
	if !h.marks || line.marks.set == 0 {
		return nil
	}
	if h.x == 0 {
		h.dst = line.marks.head(h.dst)
	}
	return line.marks.inner()
}

// char draws the character that line has read last.
func (h *historyWriter) char(line *lineReader, text []byte, cells int) {
	r, n := utf8.DecodeRune(text)
	cluster := n < len(text) || cells > 1 && width.Of(r) == width.Flag
	if h.filled && cells == 1 { // something else has taken the wide character's place
		h.str(" ")
		h.x++
	}
	h.filled = false
	if h.x+cells > h.cols {
		if h.x < h.cols {
			h.style(line.st, line.hyperlink)
			h.leaveColumn(onlyCluster(string(text), true))
		}
		h.x, h.lines, h.colored = 0, h.lines+1, line.st.bg != 0
	}
	h.x += cells
	h.style(line.st, line.hyperlink)
	if cluster {
		h.cluster(string(text), cells > 1)
	} else {
		h.dst = append(h.dst, text...)
		if !disputedRune(r) {
			return
		}
	}
	if h.whole && !line.joins(text) {
		return
	}
	if h.x < h.cols {
		h.csi("G", h.x+1) // terminals may disagree on where the cursor is: see disputed
	} else {
		h.separate()
	}
}

// fitsSpread is writer.fitsSpread for a line of the scrollback, and false for one without clusters
// that spread.
func (r lineReader) fitsSpread(cols int) bool {
	if bytes.IndexByte(r.b, tokCluster) < 0 && bytes.IndexByte(r.b, tokWideCluster) < 0 {
		return false // as nearly every line
	}
	need, more := 0, 0
	for {
		need += len(r.ascii(cols))
		text, own, ok := r.next()
		if !ok {
			return more > 0 && need+more <= cols
		}
		need += own
		if _, n := utf8.DecodeRune(text); n < len(text) {
			more += spread(string(text), own)
		}
	}
}

// joins reports whether a terminal might make one cluster of text and the next character.
func (r lineReader) joins(text []byte) bool {
	next, _, ok := r.next()
	if !ok {
		return false
	}
	n, _ := width.Cluster(slices.Concat(text, next))
	return n > len(text)
}

// newline ends the line.
func (h *historyWriter) newline() {
	h.style(style{}, hyperlink{})
	if (h.colored || h.lines < h.rows) && h.x < h.cols {
		h.str("\x1b[K")
	}
	h.str("\r\n")
	h.x, h.lines, h.colored, h.filled = 0, h.lines+1, false, false
}

// scrollOwn scrolls the lines above the cursor, and the cursor's line if it has text, into the
// terminal's scrollback. It does not know where the cursor is. So it prints as many blanks as a
// line has columns, which end on the next line unless the cursor was in the first column, and then
// one line feed fewer than the window has lines, which scroll by the number of lines above the
// cursor. On a fresh terminal nothing scrolls.
func (w *writer) scrollOwn(cols, rows int) {
	w.str("\x1b7\x1b[r\x1b8") // resetting the region homes the cursor
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
