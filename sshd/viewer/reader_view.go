package viewer

import (
	"strings"

	"termhost/ptypool/vt"
)

// readerView is the part of the lines that is before the person, and the lines that are marked
// there. A line takes as many rows as it needs. The reader's goroutine has it.
type readerView struct {
	printed
	err error // of the last reading

	cols, rows int
	top, skip  int               // the first row is that of line top behind the first skip ones
	at         int               // the current line
	mark       int               // the other end of the marked lines; -1: only at is marked
	wrapped    map[int][]lineRow // the lines that were looked at
}

// lineRow is a row of a line.
type lineRow struct {
	styled string // as text with styles
	plain  string
}

// fit has the lines take rows of so many cells, with the current one in view.
func (v *readerView) fit(cols, rows int) {
	if cols == v.cols && rows == v.rows {
		return
	}
	v.cols, v.rows, v.wrapped = cols, rows, map[int][]lineRow{}
	v.skip = 0
	v.reveal()
}

// settle renumbers after lines at the beginning have gone.
func (v *readerView) settle() (gone bool) {
	if v.gone == 0 {
		return false
	}
	if v.mark >= 0 {
		v.mark = max(v.mark-v.gone, 0)
	}
	v.at, v.top, v.skip = max(v.at-v.gone, 0), max(v.top-v.gone, 0), 0
	v.gone, v.wrapped = 0, map[int][]lineRow{}
	v.at = v.clampLine(v.at)
	return true
}

// rowsOf returns the rows of a line: at least one.
func (v *readerView) rowsOf(i int) []lineRow {
	if rows := v.wrapped[i]; rows != nil {
		return rows
	}
	line, err := v.line(i)
	if err != nil {
		v.err = err
	}
	rows := wrapStyled(line, v.cols)
	if len(v.wrapped) > 4*linesAround {
		clear(v.wrapped)
	}
	v.wrapped[i] = rows
	return rows
}

// wrapStyled breaks a line with styles as a terminal does.
func wrapStyled(line string, cols int) []lineRow {
	cols = min(max(cols, 1), vt.MaxCols)
	if len(line) <= cols { // a cell has at least a byte
		var strip vt.Stripper
		return []lineRow{{line, string(strip.Append(nil, []byte(line)))}}
	}
	line = line[:min(len(line), cols*vt.MaxRows)]
	s := vt.New(cols, min(len(line)/cols+1, vt.MaxRows), vt.Options{})
	s.Feed([]byte(line), nil)
	_, last, _ := s.Cursor()
	styled := strings.Split(string(s.AppendText(nil, true)), "\n")
	plain := strings.Split(string(s.AppendText(nil, false)), "\n")
	rows := make([]lineRow, last+1)
	for i := range rows {
		rows[i] = lineRow{styled[i], plain[i]}
	}
	return rows
}

// scroll moves the view by n rows, down if n is positive, as far as there are lines. It reports
// whether it has moved.
func (v *readerView) scroll(n int) (moved bool) {
	top, skip := v.top, v.skip
	for ; n > 0; n-- {
		switch {
		case v.skip+1 < len(v.rowsOf(v.top)):
			v.skip++
		case v.top+1 < v.total:
			v.top, v.skip = v.top+1, 0
		}
	}
	for ; n < 0; n++ {
		v.rowUp()
	}
	v.fill()
	return v.top != top || v.skip != skip
}

// rowUp moves the view up by a row, and reports whether there was one.
func (v *readerView) rowUp() bool {
	switch {
	case v.skip > 0:
		v.skip--
	case v.top > 0:
		v.top--
		v.skip = len(v.rowsOf(v.top)) - 1
	default:
		return false
	}
	return true
}

// fill moves the view up if there are too few lines below it.
func (v *readerView) fill() {
	_, _, used := v.last()
	for ; used < v.rows && v.rowUp(); used++ {
	}
}

// last returns the last line in view, how many of its rows are not, and how many rows are used.
func (v *readerView) last() (line, below, used int) {
	used = -v.skip
	for line = v.top; line < v.total; line++ {
		if used += len(v.rowsOf(line)); used >= v.rows {
			return line, used - v.rows, v.rows
		}
	}
	return max(v.total-1, 0), 0, max(used, 0)
}

// goTo makes a line the current one, and has it in view.
func (v *readerView) goTo(line int) {
	v.at = v.clampLine(line)
	v.reveal()
}

func (v *readerView) clampLine(i int) int { return max(min(i, v.total-1), 0) }

// reveal has the current line in view: a near one is scrolled to, one that is far away comes into
// the upper part.
func (v *readerView) reveal() {
	v.top = v.clampLine(v.top)
	switch last, below, _ := v.last(); {
	case v.at < v.top-v.rows, v.at > last+v.rows:
		v.top, v.skip = v.at, 0
		v.scroll(-v.rows / 3)
	case v.at < v.top, v.at == v.top && v.skip > 0:
		v.top, v.skip = v.at, 0
	case v.at == last && below > 0, v.at > last:
		for (v.at > last || below > 0 && v.top < v.at) && v.scroll(1) {
			last, below, _ = v.last()
		}
	}
	v.fill()
}

// down and up go to the next line and to the one before. At the edge of the view they scroll by a
// row, so that each row of a long line is seen.
func (v *readerView) down() {
	last, below, _ := v.last()
	if v.at < last || below == 0 {
		v.at = v.clampLine(v.at + 1)
	}
	if last < v.at || below > 0 && v.at == last {
		v.scroll(1)
	}
}

func (v *readerView) up() {
	if v.at == v.top {
		v.scroll(-1)
		v.at = v.top
		return
	}
	v.at--
}

// page scrolls by n rows, and has the current line in view; where nothing is left to scroll, that
// is the first or the last one.
func (v *readerView) page(n int) {
	if !v.scroll(n) {
		v.at = 0
		if n > 0 {
			v.at = v.clampLine(v.total)
		}
		return
	}
	last, _, _ := v.last()
	v.at = min(max(v.at, v.top), last)
}

// marked returns the lines that are marked, from the first to the last one.
func (v *readerView) marked() (from, to int) {
	if v.mark < 0 {
		return v.at, v.at
	}
	return min(v.mark, v.at), max(v.mark, v.at)
}
