package vt

// A viewer that is drawn, and not written the program's output, gets the lines that leave the
// screen from the scrollback. The whole terminal scrolls for that, without margins: some terminals
// keep no line that leaves the top of a scroll region.

// Missed returns how many of the newest lines above the screen the last AppendOver has not brought:
// those that have left it within a frame that is hidden, and all of them while the terminal shows
// the alternate screen.
func (p *Picture) Missed() int { return p.missed }

// Lifted reports whether the last AppendOver has scrolled the whole terminal, and with it the rows
// below the window, which are blank now.
func (p *Picture) Lifted() bool { return p.lifted }

// lift scrolls the lines into the terminal's scrollback that it lacks, if it shows the main screen.
// It has as many rows more as below says. Lines that the terminal shows are drawn again, because a
// program may have changed them before they left the screen.
func (p *Picture) lift(w *writer, below int) {
	s := p.of
	m, h := s.shown(), &s.model.history
	later := clamp(int(h.pushed-m.history.pushed), 0, h.lines)
	if p.missed <= later || p.shows != mainScreen {
		return
	}
	if p.missed = min(p.missed, h.lines); p.missed <= later {
		return
	}
	total := len(p.rows) + below
	w.style(style{}, hyperlink{})
	for y := len(p.rows); y < total; y++ {
		w.csi("H", y+1)
		w.str("\x1b[2K")
	}
	if m.modes.clusters() {
		w.str(clustersOff)
	}
	w.str("\x1b[H")
	w.marks, w.aligned = true, false
	r := Redraw{Cols: p.cols, Rows: total, Scrollback: p.missed - later}
	lines, _ := m.drawHistory(w, &r, h, false)
	w.scrollOff(lines, total)
	w.marks = false
	if m.modes.clusters() {
		w.str(clustersOn)
	}
	p.missed, p.lifted = later, true
	p.raise(min(lines, total))
}

// raise moves the picture up by some rows; the last ones are blank.
func (p *Picture) raise(by int) {
	n := len(p.rows)
	for y := range p.rows {
		r := pictureRow{known: true, plain: true}
		if y+by < n {
			r = p.rows[y+by]
		}
		p.rows[y] = r
	}
}
