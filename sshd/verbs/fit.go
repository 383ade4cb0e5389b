package verbs

import (
	"termhost/ahp/host"
	"termhost/ptypool/vt/width"
)

// dispensable are the columns of the list of terminals that a narrow window may do without, the
// least important first.
var dispensable = [...]int{columnExecutor, columnSize, columnViewers,
	columnTitle, columnAge, columnClaim}

// The least useful widths of columns, in cells.
const (
	leastState = len("running !")
	leastLast  = len(". failed 137") // with one character of the command's line
	leastOther = 8                   // of a holder or a title
)

// fit is how many cells each column of a list gets.
type fit struct {
	cols   int // of the window
	widths []int
	shown  []bool
}

// fitted returns the list of terminals with what a window of cols cells has room for; 0: all.
// Columns are left out until each of the others has a sensible width, and then the widest are cut.
// NAMEs, which people type, are cut last, and stay different. If even that is not enough, lines are
// longer than the window.
func fitted(table [][]cell, cols int) [][]string {
	f := fit{cols: cols, widths: make([]int, len(table[0])), shown: make([]bool, len(table[0]))}
	for i := range f.widths {
		f.shown[i] = true
		for _, row := range table {
			row[i].text = host.Printable(row[i].text)
			f.widths[i] = max(f.widths[i], width.String(row[i].String()))
		}
	}
	if cols > 0 {
		f.leaveOut()
		f.shorten(table)
		f.share()
	}
	rows := make([][]string, len(table))
	for n, row := range table {
		for i, c := range row {
			if f.shown[i] {
				rows[n] = append(rows[n], cut(c, f.widths[i]))
			}
		}
	}
	return rows
}

// least returns the width to which a column may be cut. In 80 cells there is room for the state
// "waits: secret".
func (f *fit) least(column int) int {
	whole := f.widths[column]
	switch column {
	case columnState:
		return min(whole, max(leastState, f.cols/6))
	case columnLast:
		return min(whole, max(leastLast, f.cols/4))
	case columnClaim, columnTitle:
		return min(whole, leastOther)
	}
	return whole
}

// needs returns the width of a line whose columns have the widths that size returns.
func (f *fit) needs(size func(column int) int) int {
	total := -columnGap
	for i, shown := range f.shown {
		if shown {
			total += size(i) + columnGap
		}
	}
	return total
}

// leaveOut leaves out columns for which there is no room.
func (f *fit) leaveOut() {
	for _, i := range dispensable {
		if f.needs(f.least) <= f.cols {
			return
		}
		f.shown[i] = false
	}
}

// shorten cuts the NAMEs if there is no room for them, and leaves out the last commands if the
// NAMEs do not differ otherwise.
func (f *fit) shorten(table [][]cell) {
	var names []string
	for _, row := range table[1:] {
		names = append(names, row[columnName].text)
	}
	for f.needs(f.least) > f.cols {
		room := f.cols - (f.needs(f.least) - f.widths[columnName])
		short, most := distinct(names, max(room, len("NAME")))
		if most > room && f.shown[columnLast] {
			f.shown[columnLast] = false
			continue
		}
		for i, name := range short {
			table[1+i][columnName].text = name
		}
		f.widths[columnName] = most
		return
	}
}

// share takes the excess width of the line from the widest columns.
func (f *fit) share() {
	width := func(column int) int { return f.widths[column] }
	for over := f.needs(width) - f.cols; over > 0; over-- {
		widest := -1
		for i, shown := range f.shown {
			if shown && f.widths[i] > f.least(i) &&
				(widest < 0 || f.widths[i] >= f.widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		f.widths[widest]--
	}
}

// cut returns what fits of a cell into most cells.
func cut(c cell, most int) string {
	end := width.String(c.end)
	if width.String(c.text)+end <= most || end >= most {
		return width.Cut(c.String(), most, "…")
	}
	return width.Cut(c.text, most-end, "…") + c.end
}

// distinct returns names cut to room cells each, or to as few more as keep them different, and that
// width. It cuts their ends if they differ then, else their middles.
func distinct(names []string, room int) (short []string, most int) {
	longest := 0
	for _, name := range names {
		longest = max(longest, len(name)) // a NAME is ASCII
	}
	for ; room < longest; room++ {
		for tail := range room {
			if short = cutAll(names, room, tail); short != nil {
				return short, room
			}
		}
	}
	return names, longest
}

// cutAll returns names cut to room cells each, of which tail are their ends; nil: two become equal.
func cutAll(names []string, room, tail int) (short []string) {
	seen := map[string]bool{}
	for _, name := range names {
		if len(name) > room {
			name = name[:room-tail-1] + "…" + name[len(name)-tail:]
		}
		if seen[name] {
			return nil
		}
		seen[name] = true
		short = append(short, name)
	}
	return short
}
