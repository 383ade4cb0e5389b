package vt

import (
	"slices"
	"strconv"
	"strings"
)

// Terminals jump between prompts, select the output of a command and show how it has ended by the
// marks of OSC 133: A where a prompt begins, B where it ends, C where a command's output begins, D
// where that ends. (FinalTerm; https://gitlab.freedesktop.org/Per_Bothner/specifications, "semantic
// prompts"; kitty's docs/shell-integration.rst.) A viewer whose window has the screen's size gets
// them from [Sink.Mark], and from a redraw those of the rows and of the scrollback, where the rows
// keep them.

// rowMarks are the marks in a row of the main screen or of the scrollback.
type rowMarks struct {
	set    markSet
	code   uint8  // the exit code of markEnd, with markCode
	input  uint16 // the column of markInput
	output uint16 // the column of markOutput
}

type markSet uint8

const (
	markPrompt markSet = 1 << iota // A; drawn at the beginning of the row, as markEnd
	markInput                      // B
	markOutput                     // C
	markEnd                        // D
	markCode                       // and it has an exit code
	markBare                       // before markOutput, what was typed was erased
)

const (
	// maxMark bounds the parameters of a mark, in bytes: the longest is kitty's command line.
	maxMark = 4 << 10
	// noRedraw says that the shell does not print its prompt again after a change of the window's
	// size (kitty's docs/shell-integration.rst). The host draws it, so a terminal must not erase it
	// by itself.
	noRedraw = "redraw=0"
)

// passMark gives viewers the mark of a kind, with its parameters, and keeps it with its row.
func (s *Screen) passMark(kind, params string) {
	m := &s.model
	if m.altShown() || len(kind) != 1 || !strings.Contains("ABCDP", kind) {
		return
	}
	if len(params) > maxMark || s.shell.nonce != "" && strings.Contains(params, s.shell.nonce) {
		params = ""
	}
	params = Printable(params)
	initial := true // not a prompt for more lines of a command, or at the right
	for param := range strings.SplitSeq(params, ";") {
		initial = initial && (!strings.HasPrefix(param, "k=") || param == "k=i")
	}
	if initial || kind != "A" && kind != "P" {
		m.grid.rows[m.cur.y].marks.add(kind, params, m.cur.x)
	}
	if kind == "A" {
		s.passPrompt(params)
		return
	}
	s.output.event().Mark(appendMark(nil, kind, params))
}

// passPrompt gives viewers the mark A. Some terminals begin a new line there unless the cursor is
// in the first column (FinalTerm's "fresh line"), which the screen does not. So they get it in the
// first column.
func (s *Screen) passPrompt(params string) {
	cur := &s.model.cur
	kept := slices.DeleteFunc(strings.Split(params, ";"), func(param string) bool {
		return param == "" || strings.HasPrefix(param, "redraw=")
	})
	w := writer{dst: appendMark(nil, "A", strings.Join(append(kept, noRedraw), ";"))}
	switch {
	case cur.wrap:
		return // moving the cursor would lose the pending wrap
	case cur.x > 0:
		w.dst = append([]byte{'\r'}, w.dst...)
		w.csi("G", cur.x+1)
	}
	s.output.event().Mark(w.dst)
}

// appendMark appends OSC 133.
func appendMark(dst []byte, kind, params string) []byte {
	dst = append(append(dst, "\x1b]133;"...), kind...)
	if params != "" {
		dst = append(append(dst, ';'), params...)
	}
	return append(dst, bel)
}

// add adds a mark in column x.
func (r *rowMarks) add(kind, params string, x int) {
	switch kind {
	case "A", "P":
		r.set |= markPrompt
	case "B":
		r.set |= markInput
		r.input = uint16(x)
	case "C":
		r.set = r.set&^markBare | markOutput
		r.output = uint16(x)
	case "D":
		r.set = r.set&^markCode | markEnd
		if code, known := exitCode(params); known && code >= 0 && code <= 255 {
			r.set |= markCode
			r.code = uint8(code)
		}
	}
}

// running reports whether output of a command begins in the row, and does not end there.
func (r rowMarks) running() bool {
	return r.set&markOutput != 0 && (r.set&markEnd == 0 || r.output > 0)
}

// head appends the marks at the beginning of a row.
func (r rowMarks) head(dst []byte) []byte {
	if r.set&markOutput != 0 && r.output == 0 { // of a command whose end is in the same row
		dst = appendMark(dst, "C", "")
	}
	if r.set&markEnd != 0 {
		params := ""
		if r.set&markCode != 0 {
			params = strconv.Itoa(int(r.code))
		}
		dst = appendMark(dst, "D", params)
	}
	if r.set&markPrompt != 0 {
		dst = appendMark(dst, "A", noRedraw)
	}
	return dst
}

// innerMark is a mark that is not at the beginning of a row.
type innerMark struct {
	x    int
	kind string
}

// inner returns these marks, in their order.
func (r rowMarks) inner() (marks []innerMark) {
	if r.set&markInput != 0 {
		marks = append(marks, innerMark{int(r.input), "B"})
	}
	if r.set&markOutput != 0 && r.output > 0 {
		marks = append(marks, innerMark{int(r.output), "C"})
	}
	slices.SortStableFunc(marks, func(a, b innerMark) int { return a.x - b.x })
	return marks
}

// marked draws the cells of row r of the main screen from column x on, with the marks in them. For
// full see cells.
func (w *writer) marked(r *row, cells []cell, x int, full bool) {
	for _, mark := range r.marks.inner() {
		to := clamp(mark.x, x, max(x, len(cells)))
		if to < len(cells) && cells[to]&cellTail != 0 {
			to++
		}
		if x < to {
			w.cells(cells[x:to], x, true)
			x = to
			if x < len(cells) && w.wouldJoin(cells[x-1], cells[x]) {
				w.csi("G", x+1)
			}
		}
		w.dst = appendMark(w.dst, mark.kind, "")
	}
	if x < len(cells) {
		w.cells(cells[x:], x, full)
	}
}

// encodedMarks is how many bytes a line of the scrollback has for its marks, with tokMarks.
const encodedMarks = 7

// encode appends the marks of a line of the scrollback.
func (r rowMarks) encode(dst []byte) []byte {
	return append(dst, tokMarks, byte(r.set), r.code, byte(r.input), byte(r.input>>8),
		byte(r.output), byte(r.output>>8))
}

// readMarks reads them, and returns what follows.
func readMarks(b []byte) (r rowMarks, rest []byte) {
	if len(b) < encodedMarks || b[0] != tokMarks {
		return rowMarks{}, b
	}
	return rowMarks{set: markSet(b[1]), code: b[2], input: uint16(b[3]) | uint16(b[4])<<8,
		output: uint16(b[5]) | uint16(b[6])<<8}, b[encodedMarks:]
}

// lineMarks are the marks of a row, in a line that is wrapped anew: the row began at cell from.
type lineMarks struct {
	from  int
	marks rowMarks
}

// in adds to the marks of a row, which has the cells [from, to) of the line, those that are there.
func (l *lineMarks) in(r *rowMarks, from, to int) {
	within := func(x int) bool { return x >= from && x < to }
	if heads := l.marks.set & (markPrompt | markEnd | markCode); heads != 0 && within(l.from) {
		r.set |= heads
		r.code = l.marks.code
	}
	if x := l.from + int(l.marks.input); l.marks.set&markInput != 0 && within(x) {
		r.set |= markInput
		r.input = uint16(x - from)
	}
	if x := l.from + int(l.marks.output); l.marks.set&markOutput != 0 && within(x) {
		r.set |= l.marks.set & (markOutput | markBare)
		r.output = uint16(x - from)
	}
}
