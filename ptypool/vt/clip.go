package vt

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
