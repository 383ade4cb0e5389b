package vt

import (
	"iter"
	"slices"
)

// Redraw describes the viewer for which AppendRedraw draws.
type Redraw struct {
	// Cols and Rows are the viewer's window in cells; 0 or less means as large as the screen. A
	// larger window shows the screen in its top left corner. A smaller one shows the part around
	// the cursor.
	Cols, Rows int

	// Scrollback is how many lines of scrollback to draw first, so that they get into that of the
	// viewer's terminal; -1 means all. Unless Update is set, the lines that the terminal shows
	// count as the viewer's own and are scrolled into its scrollback before. With 0 they are drawn
	// over, unless Own is set.
	Scrollback int
	Own        bool

	// Update draws over an earlier redraw for the same window. In a window of the screen's size,
	// Scrollback is then how many lines have left the screen since (see Scrolled), so that the
	// viewer's scrollback continues without a gap. In other windows nothing is reset and no
	// scrollback is drawn.
	Update bool

	// Live: the program's output follows at once. While the program draws a frame (mode 2026), the
	// viewer's terminal shows nothing before that is complete, if it knows the mode.
	Live bool

	// Marks: the marks of prompts (OSC 133) that the rows have are drawn, in a window of the
	// screen's size.
	Marks bool

	// Still: nothing follows. A hidden frame is not drawn, as with every redraw for another size:
	// see Options.HideFrames.
	Still bool
}

// AppendRedraw appends a sequence that makes a viewer's terminal, whatever its state, show this
// screen: reset, scrollback, screen, cursor, title and every mode that concerns input. If the
// window has the screen's size, the terminal is then in the state in which the program left it:
// scroll region, tab stops, charsets, saved cursors, pending wrap and both screens; so Data may
// follow. For any other size the sequence sets only what is seen and the input modes, and the
// caller draws again after each change.
//
// The main screen is never erased as a whole: terminals differ on whether what was there goes to
// the scrollback (tmux: yes, xterm: no). It is drawn over line by line, so that only scrollback
// scrolls.
//
// The sequence never makes a terminal answer.
func (s *Screen) AppendRedraw(dst []byte, r Redraw) []byte {
	m := &s.model
	if r.Cols <= 0 {
		r.Cols = m.width
	}
	if r.Rows <= 0 {
		r.Rows = m.height()
	}
	exact := r.Cols == m.width && r.Rows == m.height()
	if r.Still || !exact {
		m = s.shown()
	}
	w := writer{tb: &m.table, dst: dst}
	w.str(DrawingBegins) // see Flush for CAN; no flicker where mode 2026 is known
	if exact || !r.Update {
		s.resetViewer(&w, func() {
			if (r.Scrollback != 0 || r.Own) && !r.Update {
				w.scrollOwn(r.Cols, r.Rows)
			}
		})
		w.str("\x1b[H \r") // a character ends SS2 and SS3
	} else {
		w.str("\x1b[0m" + resetInput)
		m.modes.resetKeys(&w)
		w.str(clustersOff)
	}
	w.over = true
	if w.marks = exact && r.Marks; exact {
		_, joined := m.drawHistory(&w, &r, &s.model.history, printsFirst(&m.main.rows[0]))
		m.drawExact(&w, joined)
	} else {
		if !r.Update {
			lines, _ := m.drawHistory(&w, &r, &s.model.history, false)
			w.scrollOff(lines, r.Rows)
		}
		m.drawClipped(&w, &r)
	}
	w.dst = s.AppendTitle(w.dst)
	return s.endRedraw(&w, m, r.Live)
}

// AppendAlternate is AppendRedraw, in a window of the screen's size, for a program on the alternate
// screen and a viewer's terminal that is on it already: the main screen, its scrollback and the
// title stay as the viewer has them.
func (s *Screen) AppendAlternate(dst []byte) []byte {
	m := &s.model
	w := writer{tb: &m.table, dst: dst}
	w.str(DrawingBegins)
	m.modes.resetKeys(&w)
	s.resetShown(&w, nil)
	w.str("\x1b[H \r")
	w.over = true
	m.drawRows(&w, &m.alt, false)
	w.drawKeyboard(m.alt.kitty)
	m.drawState(&w)
	return s.endRedraw(&w, m, true)
}

// AppendTitle appends the title that the program has set, if it has set one.
func (s *Screen) AppendTitle(dst []byte) []byte {
	if s.titles.set {
		dst = appendTitle(dst, 2, s.titles.current)
	}
	return dst
}

// AppendBack appends a sequence that takes away what was drawn over some rows, counted from 0, of a
// viewer's terminal in the program's state. The terminal is then as if that had never been there,
// so Data may follow. What was drawn may have changed the cursor, the style, hyperlink and
// character sets of text, origin mode and a synchronized update, and nothing else. ok is false if
// it cannot be taken away now: the program is in the middle of a character, which a terminal that
// has got a part of it would show as a broken one.
//
// Nothing scrolls, the screen shown stays, and of other rows only those are drawn whose text goes
// on in the rows.
func (s *Screen) AppendBack(dst []byte, rows []int) (back []byte, ok bool) {
	m := &s.model
	if s.SplitsRune() {
		return dst, false
	}
	w := writer{tb: &m.table, dst: dst, over: true}
	w.str(DrawingBegins + resetWriting + resetMargins)
	for from, to := range m.lines(rows) {
		w.csi("H", from+1, 1)
		m.drawPiece(&w, m.grid, from, to, false)
		w.style(style{}, hyperlink{})
	}
	m.drawWriting(&w)
	return s.endSequence(&w, m, true), true
}

// SplitsRune reports whether Data has got the beginning of a character, but not the rest.
func (s *Screen) SplitsRune() bool {
	return s.parser.state == inRune && len(s.parser.given()) > 0
}

// Begun returns the beginning of an unfinished sequence that Data has got. A sequence that is
// written to a viewer's terminal then ends it, so Begun must be written again, unless SplitsRune.
func (s *Screen) Begun() []byte { return slices.Clone(s.parser.given()) }

// lines returns the pieces of the screen, as rows [from, to), that have the rows and what is
// wrapped from or to them.
func (m *model) lines(rows []int) iter.Seq2[int, int] {
	g := m.grid
	return func(yield func(int, int) bool) {
		for from := 0; from < len(g.rows); {
			to, wanted := from, false
			for goesOn := true; goesOn && to < len(g.rows); to++ {
				wanted = wanted || slices.Contains(rows, to)
				goesOn = g.rows[to].wrapped
			}
			if wanted && !yield(from, to) {
				return
			}
			from = to
		}
	}
}

// endRedraw appends the end of every redraw, of m. live: see Redraw.
func (s *Screen) endRedraw(w *writer, m *model, live bool) []byte {
	s.colors.draw(w)
	s.drawProgress(w)
	m.modes.drawInput(w)
	return s.endSequence(w, m, live)
}

// endSequence is endRedraw without colours and modes for input.
func (s *Screen) endSequence(w *writer, m *model, live bool) []byte {
	if m.modes.clusters() {
		w.str(clustersOn)
	}
	if !live || !m.modes.has(modeSync) {
		w.str(string(frameEnd))
	}
	return append(w.dst, s.parser.given()...) // what Flush has released of a sequence
}

// drawExact draws both screens from the cursor, and leaves the terminal in the program's state. For
// joined see drawRows.
func (m *model) drawExact(w *writer, joined bool) {
	m.drawRows(w, &m.main, joined)
	w.drawKeyboard(m.main.kitty)
	if m.altShown() {
		m.leaveMain(w)
		w.str("\x1b[r\x1b[H")
		m.drawRows(w, &m.alt, false)
		w.drawKeyboard(m.alt.kitty)
	}
	m.drawState(w)
}

// drawState leaves a terminal that shows the screen in the program's state.
func (m *model) drawState(w *writer) {
	m.drawTabs(w)
	w.drawSaved(m.grid, 0, "\x1b7")
	m.drawWriting(w)
}

// drawWriting gives the terminal the cursor and all that decides how and where text is written.
func (m *model) drawWriting(w *writer) {
	w.region(m.grid)
	w.drawCursor(m.grid, &m.cur, m.grid.top)
	for _, mode := range [...]struct {
		flag modeSet
		seq  string
	}{
		{modeReverse, "\x1b[?5h"}, {modeReverseWrap, "\x1b[?45h"},
		{modeInsert, "\x1b[4h"}, {modeNewline, "\x1b[20h"},
	} {
		if m.modes.has(mode.flag) {
			w.str(mode.seq)
		}
	}
	if !m.modes.has(modeWrap) {
		w.str("\x1b[?7l")
	}
	w.style(m.pen, m.table.hyperlinkOf(&m.pen))
	if m.single != 0 {
		w.dst = append(w.dst, esc, 'N'+m.single-2)
	}
}

// leaveMain gives the main screen its scroll region and saved cursor, and goes to the alternate
// screen.
func (m *model) leaveMain(w *writer) {
	g := &m.main
	if c := &g.saved; g.hasSaved && c.originMode && (c.y < g.top || c.y > g.bottom) {
		// The cursor was saved before there was a region, and is outside of it.
		w.drawSaved(g, 0, "\x1b7")
		w.region(g)
		w.str("\x1b[?1047h")
		return
	}
	w.region(g)
	w.drawSaved(g, g.top, "\x1b[?1049h") // for tmux DECSC and 1049 save different things
}

// drawRows draws a grid over what a terminal shows, from the first row, where the cursor must be.
// It draws with text and line breaks only, so that the viewer's terminal wraps the lines that
// wrapped for the program. joined: the first row continues the line before.
func (m *model) drawRows(w *writer, g *grid, joined bool) {
	m.drawPiece(w, g, 0, len(g.rows), joined)
}

// drawPiece is drawRows for the rows [from, to), of which the last one does not wrap.
func (m *model) drawPiece(w *writer, g *grid, from, to int, joined bool) {
	last := to - 1
	defer func() { w.aligned = false }()
	for y := from; y < to; y++ {
		w.aligned = g == m.grid && y == m.cur.y // the person types at the cursor
		r := &g.rows[y]
		goesOn := r.wrapped && y < last
		cells := r.cells
		filled := goesOn && cells[len(cells)-1]&cellFill != 0 && g.rows[y+1].startsWide()
		if filled {
			cells = cells[:len(cells)-1]
		}
		if joined && y > 0 && len(cells) > 0 && w.wouldJoin(g.rows[y-1].lastChar(), cells[0]) {
			w.separate()
		}
		if w.marks && g == &m.main && !joined {
			w.dst = r.marks.head(w.dst)
		}
		x := 0
		if joined && !goesOn && !printsFirst(r) { // a terminal wraps only at a character
			if len(cells) > 0 {
				w.styleOf(cells[0])
			}
			w.str(" ")
			x = 1
		}
		switch {
		case w.marks && g == &m.main:
			w.marked(r, cells, x, goesOn)
		case x < len(cells):
			w.cells(cells[x:], x, goesOn)
		}
		switch {
		case filled:
			w.drawFill(r.cells[len(cells)], g.rows[y+1].cells[0])
		case !goesOn && max(r.used(), x) < m.width:
			w.style(style{}, hyperlink{})
			w.str("\x1b[K")
		}
		joined = goesOn
		if y < last && !goesOn {
			w.style(style{}, hyperlink{})
			w.str("\r\n")
		}
	}
}

// drawFill draws fill, the last column of a row, which was left empty because first, a wide
// character, had no room in it. A terminal gives the column the style of the character that it
// wraps, so the character is printed in the column's style here, and again where the next row is
// drawn.
func (w *writer) drawFill(fill, first cell) {
	w.styleOf(fill)
	cluster := onlyCluster(string(w.tb.text(nil, first)), true)
	w.leaveColumn(cluster)
	if !cluster && first.style() != fill.style() {
		w.dst = w.tb.text(w.dst, first)
		w.str("\r")
	}
}

// printsFirst reports whether drawing a row begins with a character, so that it continues the row
// before.
func printsFirst(r *row) bool {
	return r.cells != nil && (r.wrapped || r.cells[0]&(cellRune|cellCluster) != 0)
}

// lastChar returns the cell with the last character of a wrapped row.
func (r *row) lastChar() cell {
	n := len(r.cells) - 1
	for n > 0 && r.cells[n]&(cellTail|cellFill) != 0 {
		n--
	}
	return r.cells[n]
}

// startsWide reports whether the first character is a wide one.
func (r *row) startsWide() bool { return r.cells != nil && r.cells[0]&cellWide != 0 }

// drawSaved makes a screen's saved cursor the terminal's cursor, saves it with seq, and resets its
// attributes. A cursor that was never saved is the power-up one. top is where the terminal's scroll
// region begins: 0 while it has none, so that origin mode does not restrict positions.
func (w *writer) drawSaved(g *grid, top int, seq string) {
	c := powerUpCursor
	if g.hasSaved {
		c = g.saved
	}
	w.drawCursor(g, &c, top)
	w.style(c.pen, hyperlink{})
	w.str(seq)
	w.style(style{}, hyperlink{})
	if c.originMode {
		w.str("\x1b[?6l")
	}
	if c.charsets != powerUpCursor.charsets || c.gl != 0 {
		w.str(resetCharsets)
	}
}

// drawCursor gives the terminal the position, pending wrap, origin mode and charsets of c, on a
// terminal whose scroll region begins at row top.
func (w *writer) drawCursor(g *grid, c *cursor, top int) {
	y := c.y
	if c.originMode {
		w.str("\x1b[?6h")
		y = max(0, y-top)
	}
	cells := g.rows[c.y].cells
	x := c.x
	if c.wrap && cells != nil && cells[x]&cellTail != 0 && x > 0 {
		x--
	}
	w.csi("H", y+1, x+1)
	switch {
	case !c.wrap:
	case cells == nil:
		w.style(style{}, hyperlink{})
		w.str(" ")
	default: // print the last column's character again
		w.cells(cells[x:], x, true)
	}
	for i, set := range c.charsets {
		if set != 'B' {
			w.dst = append(w.dst, esc, '('+byte(i), set)
		}
	}
	switch c.gl {
	case 1:
		w.str("\x0e")
	case 2, 3:
		w.dst = append(w.dst, esc, 'n'+c.gl-2)
	}
}

// region gives the terminal g's scroll region, and homes the cursor if it has one.
func (w *writer) region(g *grid) {
	if g.top > 0 || g.bottom < len(g.rows)-1 {
		w.csi("r", g.top+1, g.bottom+1)
	}
}

// drawTabs sets the tab stops if they are not the usual ones.
func (m *model) drawTabs(w *writer) {
	usual := true
	for x := range m.width {
		usual = usual && m.tabAt(x) == (x > 0 && x%8 == 0)
	}
	if usual {
		return
	}
	w.str("\x1b[3g")
	for x := range m.width {
		if m.tabAt(x) {
			w.csi("G", x+1)
			w.str("\x1bH")
		}
	}
}

// hyperlinkOf returns a style's hyperlink.
func (tb *table) hyperlinkOf(st *style) hyperlink {
	if st.hyperlink == 0 {
		return hyperlink{}
	}
	return tb.hyperlinks[st.hyperlink]
}
