package viewer

import (
	"fmt"
	"strings"

	"termhost/ahp"
	"termhost/ptypool/vt/width"
)

// row is a row of a text, with its signs.
type row struct {
	text  string
	signs []span
}

// span is a piece of a text, in bytes.
type span struct{ from, to int }

// gutter is the width of the line numbers, if there are so many lines.
func gutter(lines int) int { return len(fmt.Sprint(lines)) + 1 }

// numbered breaks lines into rows of at most room cells, at any character but, if possible, not
// within a sign. The first row of each line begins with its number, and the others with as many
// blanks: text never does.
func numbered(lines [][]ahp.AskPart, room int) (rows []row) {
	digits := gutter(len(lines)) - 1
	room = max(room-digits-1, 2)
	for i, line := range lines {
		r, left := row{text: fmt.Sprintf("%*d ", digits, i+1)}, room
		another := func() {
			rows = append(rows, r)
			r, left = row{text: strings.Repeat(" ", digits+1)}, room
		}
		for _, part := range line {
			text := part.Text + part.Sign // one of them is empty
			if cells := width.String(text); part.Sign != "" && cells > left && cells <= room {
				another()
			}
			for text != "" {
				piece := width.Cut(text, left, "")
				if piece == "" {
					another()
					continue
				}
				if part.Sign != "" {
					r.signs = append(r.signs, span{len(r.text), len(r.text) + len(piece)})
				}
				r.text += piece
				left -= width.String(piece)
				text = text[len(piece):]
			}
		}
		rows = append(rows, r)
	}
	return rows
}
