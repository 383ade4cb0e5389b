package vt

import "slices"

const (
	// mostScrolled is by how many rows at once a picture is scrolled: a program that prints more
	// between two drawings leaves little that is worth keeping.
	mostScrolled = 8
	// scrollSaves is how many rows more than without scrolling must be right then: fewer are drawn
	// with about as many bytes.
	scrollSaves = 2
)

// scroll has the terminal, which has some rows below the window, scroll the first n rows, if most
// of them are on the screen further up now. It deletes lines below the first row (DL), because at
// the first one some terminals keep what is deleted in their scrollback.
func (p *Picture) scroll(w *writer, n, below int) {
	by, best := 0, p.matches(0, n)
	if n-1-best <= scrollSaves {
		return // nearly all rows are right
	}
	for k := 1; k <= min(mostScrolled, n-2); k++ {
		if right := p.matches(k, n); right > best+scrollSaves {
			by, best = k, right
		}
	}
	if by == 0 {
		return
	}
	part := n < len(p.rows)+below
	if part {
		w.csi("r", 1, n)
	}
	w.csi("H", 2)
	w.csi("M", by)
	if part {
		w.str("\x1b[r")
	}
	left := slices.Clone(p.rows[1 : 1+by])
	copy(p.rows[1:], p.rows[1+by:n])
	for i, r := range left {
		p.rows[n-by+i] = pictureRow{cells: r.cells[:0], known: true, plain: true}
	}
}

// matches returns how many of the first n rows, without the first one, are right if they are
// scrolled by k. Blank ones that move do not count.
func (p *Picture) matches(k, n int) (right int) {
	for y := 1; y < n-k; y++ {
		r := &p.rows[y+k]
		if r.known && (k == 0 || len(r.cells) > 0) && slices.Equal(r.cells, p.shown(y)) {
			right++
		}
	}
	return right
}

// shown returns the cells that row y is to show, without trailing blanks.
func (p *Picture) shown(y int) []cell {
	cells := p.model().part(p.x, p.y+y, p.cols)
	return cells[:(&row{cells: cells}).used()]
}
