package vt

// DrawingBegins is what AppendRedraw, AppendAlternate, AppendOver and AppendBack begin with. It
// makes a terminal end any sequence, and show nothing before the drawing is complete. No Data has
// it, because a program's CAN is not passed on.
const DrawingBegins = "\x18\x1b[?2026h"

// A Guess is what a person has typed, drawn on their terminal before the program shows it: cells
// of one row, none of them in the last column, that are blank or have a character of one cell (see
// [Screen.Char]). It is drawn and taken away as a whole; see [Screen.AppendGuess].
type Guess struct {
	X, Y   int    // its first cell, counted from 0
	Text   []rune // a character of one cell each; 0: a blank over what the program shows
	Cursor int    // the column in which the cursor is to be
}

// End returns the column behind the last cell.
func (g *Guess) End() int { return g.X + len(g.Text) }

// Spot returns the cursor's position, counted from 0. ok reports whether the next character of one
// cell that the program prints will be in exactly that cell of every terminal, and the rest of the
// row as it is: the output does not end in the middle of a sequence or frame, the cursor is shown
// and not in the last column, no mode or character set is on that changes or moves what is printed,
// the row does not wrap, nor the one above into this cell, and no text before the cursor is of a
// width on which terminals disagree.
func (s *Screen) Spot() (x, y int, ok bool) {
	m := &s.model
	x, y = m.cur.x, m.cur.y
	if s.InSequence() || m.modes.has(modeSync) || !m.modes.has(modeCursor) || !m.plain ||
		m.pen.attrs&attrInvisible != 0 || m.cur.wrap || x >= m.width-1 {
		return x, y, false
	}
	r := &m.grid.rows[y]
	if r.wrapped || x == 0 && y > 0 && m.grid.rows[y-1].wrapped {
		return x, y, false // what is drawn there would change where the line goes on
	}
	return x, y, plain(r.cells[:min(x, len(r.cells))])
}

// Char returns the character of a cell, counted from 0: a space for a blank, and 0 where there is
// another than one character of one cell, or no cell.
func (s *Screen) Char(x, y int) rune {
	m := &s.model
	if x < 0 || y < 0 || x >= m.width || y >= m.height() {
		return 0
	}
	cells := m.grid.rows[y].cells
	switch {
	case x >= len(cells) || cells[x].blank():
		return ' '
	case cells[x]&(cellCluster|cellWide|cellTail) != 0:
		return 0
	}
	return rune(cells[x] & cellRune)
}

// AppendGuess appends a sequence that draws g, underlined, on a viewer's terminal in the program's
// state, over whatever part of an earlier guess was drawn in the same cells. Spot must be ok. The
// terminal is not in the program's state then: append [Screen.AppendGuessAway] before Data follows.
func (s *Screen) AppendGuess(dst []byte, g Guess) []byte {
	m := &s.model
	w := writer{tb: &m.table, dst: dst}
	w.str(beginGuess)
	w.csi("H", g.Y+1, g.X+1)
	for i, r := range g.Text {
		var st style
		if cells := m.grid.rows[g.Y].cells; g.X+i < len(cells) {
			st = *m.table.at(cells[g.X+i].style())
		}
		st.attrs &^= attrProtected
		if r == 0 {
			r = ' '
		} else {
			st.setUnderline(1)
		}
		w.style(st, hyperlink{})
		w.dst = appendRune(w.dst, r)
	}
	w.style(style{}, hyperlink{})
	w.csi("H", g.Y+1, g.Cursor+1)
	w.str(string(frameEnd))
	return w.dst
}

// AppendGuessAway appends a sequence that takes away what AppendGuess has drawn for g. The terminal
// is as if that had never been there, so Data may follow. There must have been no output since.
func (s *Screen) AppendGuessAway(dst []byte, g Guess) []byte {
	m := &s.model
	w := writer{tb: &m.table, dst: dst, over: true}
	w.str(beginGuess)
	r := &m.grid.rows[g.Y]
	if len(g.Text) > 0 {
		w.change(g.Y, g.X, g.End(), r.cells[:r.used()])
		w.style(style{}, hyperlink{})
	}
	m.drawWriting(&w)
	return s.endSequence(&w, m, true)
}

// beginGuess brings a terminal in the program's state into one in which cells are drawn.
const beginGuess = "\x1b[?2026h" + resetWriting + resetMargins
