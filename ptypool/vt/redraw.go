package vt

// Redraw says for whom AppendRedraw draws.
type Redraw struct {
	Cols, Rows int // the viewer's window; 0: as the screen
	Scrollback int // lines of scrollback to send first; -1: all
}

// AppendRedraw appends what makes a viewer's terminal show this screen: reset,
// scrollback, screen, cursor, title and modes. Nothing in it makes a terminal
// answer.
func (t *Terminal) AppendRedraw(dst []byte, r Redraw) []byte {
	w := writer{tb: &t.table, dst: dst}
	w.str("\x1b[m\x1b[2J")
	for y := range t.grid.rows {
		w.csi("H", y+1)
		w.cells(t.grid.rows[y].cells, false)
	}
	w.csi("H", t.cur.y+1, t.cur.x+1)
	w.style(&t.pen)
	return w.dst
}

// AppendRestore appends what leaves a viewer's terminal as a shell expects it:
// main screen, modes off, default style, cursor shown.
func (t *Terminal) AppendRestore(dst []byte) []byte {
	return append(dst, "\x18\x1b[?1049l\x1b[m\x1b[?25h"...)
}
