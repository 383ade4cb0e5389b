package viewer

import (
	"fmt"
	"regexp"
	"strings"

	"termhost/ahp/host"
	"termhost/ptypool/vt/width"
)

// readerPage is what a reader has read for a window.
type readerPage struct {
	part  Window   // zero: nothing was read
	rows  []string // with styles
	where string   // which lines they are
	note  string   // shown instead, until the next key; "": nothing is
	marks bool     // lines are marked
}

// draw shows the last page that was read, and asks for another if the window has changed.
func (r *reader) draw(_, part Window) overlay {
	r.mu.Lock()
	defer r.mu.Unlock()
	if part != r.part {
		r.part = part
		r.wakes()
	}
	if r.help {
		return overlay{lines: r.helpText()}
	}
	o := overlay{table: true, styled: max(part.Rows-1, 0)}
	if r.page.part.Cols == part.Cols {
		o.lines = append(o.lines, r.page.rows[:min(len(r.page.rows), o.styled)]...)
	}
	o.lines = append(fill(o.lines, o.styled), r.lastLine(lineRoom(part)))
	if r.o.whole {
		o.current = len(o.lines)
	}
	return o
}

// lastLine is the last line: the question for a text, a note, or where the person is.
func (r *reader) lastLine(room int) string {
	switch {
	case r.asking:
		return typedInto("Look for: ", r.text, "  (Enter goes, Esc returns)", room)
	case r.page.note != "":
		return noticeOf + r.page.note
	case r.page.part == Window{}:
		return "reading what " + r.o.name + " has printed ..."
	}
	where, keys := r.page.where, "? helps, q leaves"
	if r.o.asks != nil && r.o.asks() {
		where, keys = "an agent asks: q shows it", ""
	}
	if left := room - width.String(where) - len(keys); left > 1 {
		where += strings.Repeat(" ", left) + keys
	}
	return width.Cut(where, room, "…")
}

// read reads what is in view, for a part of the window.
func (r *reader) read(part Window, note string) readerPage {
	v := &r.view
	page := readerPage{part: part, note: note, marks: v.mark >= 0}
	page.rows = r.rows()
	if v.settle() { // while it was read
		r.look = search{}
		v.fill()
		page.rows = r.rows()
	}
	if v.err != nil {
		page.note = r.s.explain(v.err)
		v.err = nil
	}
	last, _, _ := v.last()
	page.where = host.Printable(r.o.name) + ": no lines to look back at"
	if v.total > 0 {
		page.where = fmt.Sprintf("%s: lines %d to %d of %d", host.Printable(r.o.name),
			v.top+1, min(last+1, v.total), v.total)
	}
	if v.cut && v.top == 0 {
		page.where += ", older ones are gone"
	}
	if v.mark >= 0 {
		page.where += "; y copies what is marked"
	}
	return page
}

// rows returns the rows that are in view.
func (r *reader) rows() (rows []string) {
	v, found := &r.view, r.look.pattern()
	from, to := v.marked()
	skip := v.skip
	for line := v.top; line < v.total && len(rows) < v.rows; line++ {
		for _, row := range v.rowsOf(line)[skip:] {
			rows = append(rows, row.draw(line >= from && line <= to, found, v.cols))
		}
		skip = 0
	}
	return rows[:min(len(rows), v.rows)]
}

// pattern finds what was looked for; nil: nothing was.
func (s *search) pattern() *regexp.Regexp {
	if s.text == "" {
		return nil
	}
	expr := regexp.QuoteMeta(s.text)
	if s.fold {
		expr = "(?i)" + expr
	}
	return regexp.MustCompile(expr)
}

// draw draws a row, with what was looked for. marked: it is of a line that y copies. The cursor is
// behind the row then.
func (row lineRow) draw(marked bool, found *regexp.Regexp, cols int) string {
	text, style := row.styled, "\x1b[0;7m"
	if marked {
		text, style = "\x1b[0;7m"+padded(row.plain, cols)+"\x1b[0m", "\x1b[0;1;4m"
	}
	if found == nil {
		return text
	}
	at := found.FindAllStringIndex(row.plain, -1)
	for _, m := range at {
		text += "\r"
		if x := width.String(row.plain[:m[0]]); x > 0 {
			text += fmt.Sprintf("\x1b[%dC", x)
		}
		text += style + row.plain[m[0]:m[1]] + "\x1b[0m"
	}
	if len(at) > 0 {
		text += fmt.Sprintf("\r\x1b[%dC", cols)
	}
	return text
}

// helpText explains the keys. In 11 rows and 60 columns there is room for all of it.
func (r *reader) helpText() []string {
	leave := "q, Esc  return to the terminal"
	if r.o.whole {
		leave = "q  leaves"
	}
	return []string{
		"The lines that " + host.Printable(r.o.name) + " has printed. Keys:",
		"  j, k, arrows, space, b, PgUp, PgDn, Home, End  move",
		"  [, ]  go to the command before, and to the next one",
		"  /  looks for a text upwards; n  goes on, N  downwards",
		"  v  marks from this line on; o  marks a command's output",
		"  y  copies the marked lines, or this one",
		"  r  reads what was printed since",
		"  " + leave,
		"Any key closes this.",
	}
}
