package host

import (
	"slices"

	"termhost/ahp"
)

// A window below minCols by minRows never gives a terminal its size: it is one that somebody has
// pushed aside, and nothing could be read at that size in any other window either.
const (
	minCols = 20
	minRows = 5
)

// followed returns the viewer whose window the terminal follows: of the holder's viewers the one
// that was active last, or nil. A terminal whose size its Streams give follows no window.
func (v *viewers) followed() *Attach {
	if v.t.exact() {
		return nil
	}
	for _, a := range slices.Backward(v.windows) {
		if a.holdsLocked() && a.cols >= minCols && a.rows+a.below >= minRows {
			return a
		}
	}
	return nil
}

// fit gives the terminal the size of the window of the viewer that it follows, and the colours, if
// they are known. If it follows none it stays as it is. The Term's lock is held.
func (v *viewers) fit() {
	t := v.t
	a := v.followed()
	if a != v.leads {
		v.leads = a
		a.tellFollowedLocked()
	}
	if a == nil {
		return
	}
	screen := t.term.Screen()
	if a.theme != nil {
		report := screen.SetTheme(a.theme[0], a.theme[1], a.theme[2])
		if report != "" {
			_ = t.exec.input([]byte(report), typesNow) // a program that does not read gets none
		}
	}
	screen.SetCellMouse(a.cellMouse)
	if a.clusters != nil {
		t.setClusters(*a.clusters)
	}
	v.fitKeys(a.keys)
	t.giveSize(a.cols, a.rows, a.pixels)
	v.fitMouse()
}

// fitMouse has the viewers see to how their terminals report the mouse, if that has changed without
// output.
func (v *viewers) fitMouse() {
	on := v.t.term.Screen().MousePixels()
	if on == v.mousePixels {
		return
	}
	v.mousePixels = on
	for _, a := range v.open {
		a.sub.Wake()
	}
}

// giveSize gives the terminal a size, if it has another. The Term's lock is held.
func (t *Terminal) giveSize(cols, rows int, px Pixels) {
	size := ahp.TerminalResized{Cols: min(cols, MaxCols), Rows: min(rows, MaxRows)}
	t.viewers.pixels = px.In(cols, rows)
	c, r := t.term.Screen().Size()
	switch {
	case c != size.Cols || r != size.Rows:
		if t.resize(size) == "" {
			t.log.append(size, nil)
		}
	case !t.life.exited && t.viewers.pixels != t.term.Pixels():
		_ = t.exec.resize(c, r) // it fails when the program has ended
	}
}

// scrolled returns how many lines have left the main screen at its top and have not come back: it
// counts up as the history grows, whatever is dropped from that. The Term's lock is held.
func (v *viewers) scrolled() uint64 { return v.t.term.Screen().Scrolled() - v.pulledBack }

// resize gives the program and the screen a size; the caller appends the action. The Term's lock is
// held.
func (t *Terminal) resize(a ahp.TerminalResized) (reason string) {
	if a.Cols < 1 || a.Cols > MaxCols || a.Rows < 1 || a.Rows > MaxRows {
		return reasonSize
	}
	if t.life.exited {
		return reasonExited
	}
	err := t.resizeBy(func() error { return t.exec.resize(a.Cols, a.Rows) })
	if err != nil {
		return err.Error()
	}
	return ""
}

// resizeBy has resize give the screen another size.
func (t *Terminal) resizeBy(resize func() error) error {
	screen := t.term.Screen()
	lines, before := screen.HistoryLines(), screen.Scrolled()
	if err := resize(); err != nil {
		return err
	}
	t.viewers.pulledBack += screen.Scrolled() - before + uint64(lines-screen.HistoryLines())
	t.output.content.resized()
	return nil
}

// resizeTerm resizes the Term, which is its screen and the program's window, if there is one.
func (t *Terminal) resizeTerm(cols, rows int) error {
	if t.term.ResizeTo(cols, rows, t.viewers.pixels) != nil {
		return ErrExited
	}
	t.log.recordPixels(t.term.Pixels())
	t.viewers.fitMouse()
	return nil
}
