package vt

import "unicode/utf8"

// drawHistory draws scrollback from the cursor, at the top left, on, and returns
// how many lines of the window that takes. With join the screen's first row follows
// at once, so that a line that goes on in it is not broken; joined tells that this
// is so.
func (t *Terminal) drawHistory(w *writer, r *Redraw, join bool) (lines int, joined bool) {
	n := r.Scrollback
	if n < 0 {
		n = t.history.lines
	}
	x := 0
	colored := false // the line may have scrolled in with a background
	filled := false  // the last column is empty for a wide character that is to follow
	for b := range t.history.newest(n) {
		for line := readLine(b); ; {
			text, width, ok := line.next()
			if !ok {
				break
			}
			if filled && width == 1 { // something else has taken its place
				w.str(" ")
				x++
			}
			filled = false
			if x+width > r.Cols {
				x, lines, colored = 0, lines+1, line.st.bg != 0
			}
			x += width
			w.style(line.st, line.link)
			if utf8.RuneCount(text) > 1 {
				w.cluster(string(text), width > 1)
				if x < r.Cols {
					w.csi("G", x+1) // see disputed
				} else {
					w.separate()
				}
			} else {
				w.dst = append(w.dst, text...)
			}
		}
		filled = b[0] == lineFilled
		if n--; b[0] == lineEnds || n == 0 && !(join && x+int(b[0]/lineFilled) == r.Cols) {
			w.style(style{}, link{})
			if colored && x < r.Cols {
				w.str("\x1b[K")
			}
			w.str("\r\n")
			x, lines, filled, colored = 0, lines+1, false, false
		}
	}
	if joined = x > 0; joined && filled && !t.main.rows[0].startsWide() {
		w.str(" ")
	}
	return lines, joined
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

// drawClipped draws the part of the screen around the cursor that a window of
// another size has room for.
func (t *Terminal) drawClipped(w *writer, r *Redraw) {
	x0, y0 := max(0, t.cur.x-r.Cols+1), max(0, t.cur.y-r.Rows+1)
	w.over = true
	for y := range r.Rows {
		w.csi("H", y+1)
		var cells []cell
		if y0+y < t.rows {
			cells = t.grid.rows[y0+y].cells
		}
		if len(cells) > x0 {
			cells = cells[x0:min(len(cells), x0+r.Cols)]
			w.cells(cells, 0, false)
		} else {
			cells = nil
		}
		w.style(style{}, link{})
		if n := (&row{cells: cells}).used(); n < r.Cols {
			w.csi("G", n+1)
			w.str("\x1b[K")
		}
	}
	w.str(modeString(modeReverse, t.modes, 5))
	w.drawKeyboard(&grid{kitty: []uint8{uint8(t.kittyFlags())}})
	w.csi("H", t.cur.y-y0+1, t.cur.x-x0+1)
}
