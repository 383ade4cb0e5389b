package vt

import (
	"bytes"
	"slices"
)

// Picture is what a viewer's terminal shows of a screen, cell by cell. The zero Picture is of
// nothing: the terminal may show anything, in any state.
type Picture struct {
	cols     int
	rows     []pictureRow
	x, y     int    // the position on the screen of the window's first cell
	modes    []byte // what sets all but the rows and the cursor; empty: unknown
	progress shownProgress
	cursor   pictureCursor

	// What the numbers in cells refer to.
	of     *Screen
	sweeps int

	// shows is which screen the terminal shows. beneath: when the program's turns were as many, the
	// terminal had the main screen right below the alternate one, and it has not changed since.
	shows   shownScreen
	beneath bool
	turns   uint64

	missed int // see Missed
	lifted bool
	under  bool // the main screen is drawn while the program shows the other one
}

// shownScreen is which of its two screens a viewer's terminal shows.
type shownScreen uint8

const (
	eitherScreen shownScreen = iota // it is not known
	mainScreen
	alternateScreen
)

// pictureRow is a row of a picture.
type pictureRow struct {
	cells []cell // without trailing blanks
	known bool
	plain bool // see plain

	aligned bool // it was drawn as the row of the cursor, see writer.aligned
}

// pictureCursor is where a picture has the cursor, counted from 1; 0: unknown.
type pictureCursor struct {
	x, y  int
	shown bool
}

// Forget has all rows drawn next time, and all modes set: the window has another size. It stays
// where it is on the screen.
func (p *Picture) Forget() { *p = Picture{x: p.x, y: p.y, shows: p.shows} }

// Begin makes p the picture of a terminal that AppendRedraw has drawn s for, or AppendAlternate, in
// a window of the screen's size, and that has got all Data since.
func (p *Picture) Begin(s *Screen) {
	*p = Picture{x: p.x, y: p.y, of: s, shows: mainScreen, beneath: true, turns: s.model.turns}
	if s.model.altShown() {
		p.shows = alternateScreen
	}
}

// OnAlternate reports whether the terminal shows the alternate screen, as the program of s does,
// and has the main screen right below that.
func (p *Picture) OnAlternate(s *Screen) bool {
	return p.shows == alternateScreen && s.model.altShown() && p.beneath && p.of == s &&
		p.turns == s.model.turns
}

// Alternate reports whether the terminal shows the alternate screen.
func (p *Picture) Alternate() bool { return p.shows == alternateScreen }

// NeedsMain reports whether the program is on the alternate screen, and AppendOver would go there
// in a window of the screen's size without having drawn the main screen. The caller draws both, by
// AppendRedraw, and calls Begin.
func (p *Picture) NeedsMain(s *Screen, cols, rows int) bool {
	exact := cols == s.model.width && rows == s.model.height()
	return exact && s.model.altShown() && s.shown().altShown() && !p.OnAlternate(s)
}

// ForgetRow has a row of the window, counted from 0, drawn next time.
func (p *Picture) ForgetRow(y int) {
	if y >= 0 && y < len(p.rows) {
		p.rows[y].known = false
	}
}

// Origin returns the position on the screen, counted from 0, of the window's first cell.
func (p *Picture) Origin() (x, y int) { return p.x, p.y }

// ForgetModes has the cursor and all modes, colours and the title set next time.
func (p *Picture) ForgetModes() { p.modes, p.cursor = p.modes[:0], pictureCursor{} }

// Covered is what of a window AppendOver does not draw.
type Covered struct {
	// First and Last are over how many of the first and of the last rows something else is drawn.
	First, Last int
	// Below is how many rows the terminal has below the window.
	Below int
	// Missed is how many of the newest lines above the screen are scrolled into the terminal's
	// scrollback before, where that is possible: see [Picture.Missed].
	Missed int
}

// AppendOver appends a sequence that makes a viewer's terminal, whose window has cols by rows
// cells, show this screen, and updates p, the window's present content: only differences from p are
// drawn, perhaps none. A larger window shows the screen in its top left corner, a smaller one a
// part with the cursor. Rows that are covered are not drawn: the caller draws something else there.
// All else is as by AppendRedraw, but the terminal is not in the program's state: call that before
// Data follows.
//
// The terminal goes to the alternate screen and leaves it only as the program does. See NeedsMain.
// The rows below the window are not drawn, and stay unless p has Lifted.
func (s *Screen) AppendOver(dst []byte, cols, rows int, covered Covered, p *Picture) []byte {
	m := s.shown()
	w := writer{tb: &m.table, dst: dst, over: true}
	w.str(DrawingBegins) // see Flush for CAN
	if p.cols != cols || len(p.rows) != rows {
		p.start(&w, s, cols, rows)
	} else {
		w.str("\x1b[0m")
	}
	begun := len(w.dst)
	p.missed, p.lifted = covered.Missed, false
	p.follow(s)
	p.lift(&w, covered.Below)
	if covered.Below > 0 && p.turnsTo(s) && p.shows == mainScreen {
		p.under = true // it is seen when the viewer leaves
		p.draw(&w, 0, rows)
		p.under = false
	}
	p.turn(&w, s)
	p.lift(&w, covered.Below)
	n := max(rows-covered.Last, 0)
	if covered.First == 0 {
		p.scroll(&w, n, covered.Below)
	}
	p.draw(&w, covered.First, n)
	p.drawModes(&w)
	p.progress.draw(&w, s)
	at := pictureCursor{m.cur.x - p.x + 1, m.cur.y - p.y + 1, m.modes.has(modeCursor)}
	if len(w.dst) == begun && at == p.cursor {
		return dst
	}
	w.csi("H", at.y, at.x)
	if p.cursor.x == 0 || p.cursor.shown != at.shown {
		w.str(modeString(at.shown, 25))
	}
	p.cursor = at
	w.str("\x1b[?2026l")
	return w.dst
}

// start makes p a picture of a window of another size, or of the first one, in default modes.
func (p *Picture) start(w *writer, s *Screen, cols, rows int) {
	exact := cols == s.model.width && rows == s.model.height()
	*p = Picture{cols: cols, rows: make([]pictureRow, rows), x: p.x, y: p.y, of: p.of,
		shows: p.shows, beneath: p.beneath && p.cols == 0 && exact, turns: p.turns}
	if p.shows == eitherScreen {
		s.resetViewer(w, nil)
		p.shows = mainScreen
	} else {
		s.model.modes.resetKeys(w)
		s.resetShown(w, nil)
	}
	w.str("\x1b[H \r") // a character ends SS2 and SS3
}

// AppendArrival is AppendOver for a viewer's terminal in whatever state, of which p, which may have
// any value, becomes the picture. The terminal has some rows below the window. own: the lines that
// the terminal shows are scrolled into its scrollback before; else they are drawn over.
func (s *Screen) AppendArrival(
	dst []byte, cols, rows, below int, own bool, p *Picture,
) []byte {
	w := writer{tb: &s.model.table, dst: append(dst, can)}
	s.resetViewer(&w, func() {
		if own {
			w.scrollOwn(cols, rows+below)
		}
	})
	*p = Picture{shows: mainScreen}
	return s.AppendOver(w.dst, cols, rows, Covered{Below: below}, p)
}

// turn has the terminal show the screen that the program shows. While a frame hides that the
// program has gone to the other one, there is no need.
func (p *Picture) turn(w *writer, s *Screen) {
	if !p.turnsTo(s) {
		return
	}
	want := wanted(s)
	w.str(modeString(want == alternateScreen, 1049))
	s.model.modes.resetKeys(w)
	s.resetShown(w, nil) // 1049 restores more than the cursor
	p.ForgetModes()
	for y := range p.rows {
		p.rows[y].known = false
	}
	p.shows, p.beneath = want, false
}

// wanted is the screen that the program shows.
func wanted(s *Screen) shownScreen {
	if s.shown().altShown() {
		return alternateScreen
	}
	return mainScreen
}

// turnsTo reports whether the terminal goes to its other screen now.
func (p *Picture) turnsTo(s *Screen) bool {
	return wanted(s) != p.shows && s.shown().altShown() == s.model.altShown()
}

// model returns what is drawn.
func (p *Picture) model() *model {
	m := p.of.shown()
	if p.under {
		main := *m
		main.grid = &main.main
		return &main
	}
	return m
}

// follow makes p one of s, with the cursor in the window. The window moves by half of its size, not
// with every character: moving it draws all rows.
func (p *Picture) follow(s *Screen) {
	m := s.shown()
	if p.of != s || p.sweeps != m.table.sweeps {
		p.of, p.sweeps = s, m.table.sweeps
		for y := range p.rows {
			p.rows[y].known = false
		}
	}
	along := func(from, cursor, window, size int) int {
		if cursor < from || cursor >= from+window {
			from = cursor - window/2
		}
		return clamp(from, 0, max(0, size-window))
	}
	p.x = along(p.x, m.cur.x, p.cols, m.width)
	p.y = along(p.y, m.cur.y, len(p.rows), m.height())
}

// draw draws the rows [from, to) where they differ. Comparing all cells takes a microsecond or two.
func (p *Picture) draw(w *writer, from, to int) {
	m := p.model()
	off := !m.modes.clusters() // the terminal is not in mode 2027
	for y := range p.rows {
		r := &p.rows[y]
		if y < from || y >= to {
			r.known = false
			continue
		}
		is := p.shown(y)
		w.aligned = p.y+y == m.cur.y
		if r.known && (r.plain || r.aligned == w.aligned) && slices.Equal(r.cells, is) {
			continue
		}
		plain := plain(is)
		if r.known && r.plain && plain {
			w.changes(y, r.cells, is)
		} else {
			if !off {
				w.str(clustersOff)
				off = true
			}
			w.row(y, m.part(p.x, p.y+y, p.cols), p.cols)
		}
		r.cells, r.known, r.plain = append(r.cells[:0], is...), true, plain
		r.aligned = w.aligned
	}
	w.style(style{}, hyperlink{})
	if off && m.modes.clusters() {
		w.str(clustersOn)
	}
}

// drawModes sets the modes, colours and title of the program, unless they are set already.
func (p *Picture) drawModes(w *writer) {
	s, begun := p.of, len(w.dst)
	m := &s.model
	w.str(resetInput)
	m.modes.resetTouched(w)
	m.modes.resetKeys(w)
	w.drawKeyboard(kittyStack{m.grid.kitty.flags()})
	w.str(modeString(m.modes.has(modeReverse), 5))
	w.str(modeString(m.modes.clusters(), 2027))
	w.dst = s.AppendOwnColors(w.dst)
	s.colors.draw(w)
	m.modes.drawKeys(w)
	w.dst = s.AppendTitle(w.dst)
	if set := w.dst[begun:]; bytes.Equal(set, p.modes) {
		w.dst = w.dst[:begun]
	} else {
		p.modes = append(p.modes[:0], set...)
	}
}

// plain reports whether all terminals agree on the columns of cells, so that each can be drawn
// where it is.
func plain(cells []cell) bool {
	for _, c := range cells {
		if c&cellCluster != 0 || c&cellRune >= del && disputedRune(rune(c&cellRune)) {
			return false
		}
	}
	return true
}

// changes draws where row y of a window, which shows plain cells, is to show others. Neither has
// trailing blanks.
func (w *writer) changes(y int, was, is []cell) {
	// Fewer cells than near that are the same are drawn again, too: to skip them takes as much.
	const near = 8
	at := func(cells []cell, x int) cell {
		if x < len(cells) {
			return cells[x]
		}
		return 0
	}
	n := max(len(was), len(is))
	differs := func(x int) bool { return at(was, x) != at(is, x) }
	half := func(x int) bool { return (at(was, x)|at(is, x))&cellTail != 0 } // the second one
	for x := 0; x < n; x++ {
		if !differs(x) {
			continue
		}
		from, to := x, x+1
		for i := to; i < min(n, to+near); i++ {
			if differs(i) {
				to = i + 1
			}
		}
		for from > 0 && half(from) {
			from--
		}
		for to < n && half(to) {
			to++
		}
		w.change(y, from, to, is)
		x = to - 1
	}
}

// change draws the columns from..to of row y.
func (w *writer) change(y, from, to int, is []cell) {
	w.csi("H", y+1, from+1)
	var drawn int
	if from < len(is) {
		cells := is[from:min(to, len(is))]
		w.cells(cells, from, false)
		drawn = (&row{cells: cells}).used()
	}
	switch blank := to - from - drawn; {
	case blank == 0:
	case to >= len(is):
		w.style(style{}, hyperlink{})
		w.str("\x1b[K")
	default:
		w.style(style{}, hyperlink{})
		w.csi("X", blank)
	}
}
