package vt

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"termhost/ptypool/vt/width"
)

// lineText is the current line of [Lines]. While it only grows at its end it is text; once the
// cursor moves in it, it is cells.
type lineText struct {
	head  []byte // lines to which the cursor cannot return, each with a line feed
	text  []byte
	cells []string // the text of each; "": the second half of a wide character
	moved bool     // the line is cells, not text
	x     int      // the cursor's column
	// returned: a carriage return has come, which has an effect unless a line feed follows.
	returned bool
}

// empty reports whether the line is like a new one.
func (l *lineText) empty() bool { return l.x == 0 && len(l.text) == 0 && !l.moved }

// shows reports whether there is something on the line, even if only blanks.
func (l *lineText) shows() bool { return len(l.text) > 0 || len(l.cells) > 0 }

// end appends the line, and begins a new one.
func (l *lineText) end(dst []byte) []byte {
	dst = l.takeHead(dst)
	at := len(dst)
	if l.moved {
		for _, c := range l.cells {
			dst = append(dst, c...)
		}
	} else {
		dst = append(dst, l.text...)
	}
	dst = append(dst[:at], bytes.TrimRight(dst[at:], " ")...)
	if cap(l.text) > maxLine/16 {
		l.text = nil
	}
	*l = lineText{text: l.text[:0], cells: l.cells[:0]}
	return append(dst, '\n')
}

// ascii writes printable ASCII characters.
func (l *lineText) ascii(dst, p []byte) []byte {
	l.settle()
	for ; l.moved && len(p) > 0; p = p[1:] {
		dst = l.char(dst, rune(p[0]))
	}
	for len(p) > 0 {
		n := min(len(p), maxLine-len(l.text))
		l.text = append(l.text, p[:n]...)
		l.x += n
		if p = p[n:]; len(p) > 0 {
			dst = l.end(dst)
		}
	}
	return dst
}

// char writes a character. One without a width joins the one before it.
func (l *lineText) char(dst []byte, r rune) []byte {
	l.settle()
	cells := width.Of(r).Cells()
	if len(l.text) >= maxLine && cells > 0 {
		dst = l.end(dst)
	}
	if !l.moved {
		if len(l.text) < maxLine+maxJoined {
			l.text = utf8.AppendRune(l.text, r)
			l.x += cells
		}
		return dst
	}
	if cells == 0 {
		if i := l.x - 1; i >= 0 && i < len(l.cells) && len(l.cells[i]) < maxJoined {
			if l.cells[i] == "" {
				i--
			}
			l.cells[i] += string(r)
		}
		return dst
	}
	if l.x >= max(MaxCols, len(l.cells)) { // from now on it only grows
		l.join()
		return l.char(dst, r)
	}
	l.reach(l.x + cells)
	l.blank(l.x, l.x+cells)
	l.cells[l.x] = string(r)
	if cells > 1 {
		l.cells[l.x+1] = ""
	}
	l.x += cells
	return dst
}

// join makes text of the cells again. The cursor must be at their end.
func (l *lineText) join() {
	l.reach(l.x)
	for _, c := range l.cells {
		l.text = append(l.text, c...)
	}
	l.cells, l.moved = l.cells[:0], false
}

// takeHead appends the lines before this one.
func (l *lineText) takeHead(dst []byte) []byte {
	dst = append(dst, l.head...)
	l.head = nil
	return dst
}

// maxJoined bounds a cell, in bytes.
const maxJoined = 64

// again writes the last character n times more.
func (l *lineText) again(dst []byte, n int) []byte {
	l.settle()
	last, _ := utf8.DecodeLastRune(l.text)
	if l.moved {
		last = utf8.RuneError
		if l.x > 0 && l.x <= len(l.cells) {
			last, _ = utf8.DecodeRuneInString(l.cells[l.x-1])
		}
	}
	for range min(n, MaxCols) {
		if last != utf8.RuneError {
			dst = l.char(dst, last)
		}
	}
	return dst
}

// settle moves the cursor to the beginning of the line if a carriage return has come.
func (l *lineText) settle() {
	if l.returned {
		l.returned = false
		l.at(0)
	}
}

// at moves the cursor to column x, if a terminal may have that column or the line has it.
func (l *lineText) at(x int) {
	if x = min(max(x, 0), max(MaxCols, l.x, len(l.cells))); x == l.x {
		return
	}
	long := l.x > MaxCols && !l.moved
	if l.split(); !long {
		l.x = x
	}
}

// split makes cells of the text. A long text is moved to head, and leaves an empty line.
func (l *lineText) split() {
	if l.moved {
		return
	}
	l.moved = true
	if l.x > MaxCols {
		l.head = append(append(l.head, bytes.TrimRight(l.text, " ")...), '\n')
		l.text, l.x = l.text[:0], 0
		return
	}
	for p := l.text; len(p) > 0; {
		n, cells := 0, 0
		for n < len(p) { // a character, and those without width behind it
			r, size := utf8.DecodeRune(p[n:])
			if own := width.Of(r).Cells(); n > 0 && own > 0 {
				break
			} else {
				cells += own
			}
			n += size
		}
		l.cells = append(l.cells, string(p[:n]))
		if cells > 1 {
			l.cells = append(l.cells, "")
		}
		p = p[n:]
	}
	l.text = l.text[:0]
}

// move moves the cursor by n columns.
func (l *lineText) move(n int) {
	l.settle()
	l.at(l.x + n)
}

// tab moves the cursor to the next tab stop; at the end of the line it adds blanks up to that.
func (l *lineText) tab() {
	l.settle()
	n := 8 - l.x%8
	if l.moved {
		l.at(l.x + n)
	} else if len(l.text)+n <= maxLine {
		l.text = append(l.text, "        "[:n]...)
		l.x += n
	}
}

// reach makes the line at least n cells long.
func (l *lineText) reach(n int) {
	for len(l.cells) < n {
		l.cells = append(l.cells, " ")
	}
}

// blank replaces cells by blanks, and also the other halves of wide characters that it cuts.
func (l *lineText) blank(from, to int) {
	if to = min(to, len(l.cells)); from >= to {
		return
	}
	for from > 0 && l.cells[from] == "" {
		from--
	}
	for to < len(l.cells) && l.cells[to] == "" {
		to++
	}
	for i := from; i < to; i++ {
		l.cells[i] = " "
	}
}

// erase is EL: mode 0 erases from the cursor on, 1 up to it, 2 all.
func (l *lineText) erase(mode int) {
	l.settle()
	switch mode {
	case 0:
		if l.x < len(l.cells) { // else there is nothing to erase
			l.blank(l.x, len(l.cells))
			l.cells = l.cells[:l.x]
		}
	case 1:
		l.split()
		l.blank(0, l.x+1)
	case 2:
		l.split()
		l.cells = l.cells[:0]
	}
}

// edit applies other control sequences that act within the line.
func (l *lineText) edit(c *csiSeq) {
	n := c.count()
	switch c.final {
	case 'C', 'a':
		l.move(n)
	case 'D':
		l.move(-n)
	case 'G', '`':
		l.settle()
		l.at(n - 1)
	case 'K':
		l.erase(c.arg(0, 0))
	case 'X':
		l.settle()
		l.blank(l.x, l.x+n)
	case 'P':
		l.settle()
		if to := min(l.x+n, len(l.cells)); l.x < to {
			l.blank(l.x, to)
			l.cells = slices.Delete(l.cells, l.x, to)
		}
	case '@':
		l.settle()
		if n = min(n, MaxCols-len(l.cells)); l.x < len(l.cells) && n > 0 {
			l.cells = slices.Insert(l.cells, l.x, strings.Split(strings.Repeat(" ", n), "")...)
		}
	}
}
