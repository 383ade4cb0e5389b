package listing

import (
	"slices"
	"strings"

	"termhost/ahp/host"
	"termhost/ptypool/vt/width"
)

// Gap is the space between two columns, in cells.
const Gap = 2

// dispensable are the columns that a narrow window may do without, the least important first.
var dispensable = [...]int{Executor, Size, Viewers, Labels, Title, Age, Folder, Claim}

// dispensableLive are those of a list that is live, whose title has what a program asks.
var dispensableLive = [...]int{Executor, Size, Viewers, Labels, Age, Folder, Claim, Quiet, Title}

// The least useful widths of columns, in cells.
const (
	leastState = len("running !")
	leastWaits = len("waits: approval. !") // of a list that is live
	leastLast  = len(". failed 137")       // with one character of the command's line
	leastOther = 8                         // of a holder or a title
	leastName  = 10                        // of a list that is live
)

// Fit is how many cells each column of a list gets, in a window.
type Fit struct {
	cols   int // of the window; 0: as many as there is text
	live   bool
	widths []int
	shown  []bool
	names  map[string]string // those that are cut, by the whole ones
}

// NewFit returns what a window of cols cells has room for of a list, which begins with its Head; 0:
// all. Columns are left out until each of the others has a sensible width, and then the widest are
// cut. NAMEs, which people type, are cut last, and stay different. If even that is not enough,
// lines are longer than the window. live: the list is one of `top`, where nobody types NAMEs: they
// are cut first.
func NewFit(table [][]Cell, cols int, live bool) *Fit {
	f := &Fit{cols: cols, live: live, widths: make([]int, len(table[0])),
		shown: make([]bool, len(table[0]))}
	for i := range f.widths {
		for n, row := range table {
			text := host.Printable(row[i].Text) + row[i].End + row[i].Extra
			f.shown[i] = f.shown[i] || n > 0 && text != ""
			f.widths[i] = max(f.widths[i], width.String(text))
		}
	}
	if cols > 0 {
		less := dispensable[:]
		if live {
			less = dispensableLive[:]
			f.clip(table)
		}
		f.leaveOut(less)
		f.shorten(table)
		f.share()
	}
	return f
}

// Row returns what is shown of a row.
func (f *Fit) Row(row []Cell) (texts []string) {
	for i, c := range row {
		if !f.shown[i] {
			continue
		}
		if short, is := f.names[c.Text]; is && i == Name {
			c.Text = short
		}
		c.Text = host.Printable(c.Text)
		texts = append(texts, cut(c, f.widths[i]))
	}
	return texts
}

// Line returns a row as a line in which its columns stand below those of the others.
func (f *Fit) Line(row []Cell) string {
	var b strings.Builder
	column := 0
	for _, text := range f.Row(row) {
		for !f.shown[column] {
			column++
		}
		b.WriteString(text)
		b.WriteString(strings.Repeat(" ", max(f.widths[column]-width.String(text), 0)+Gap))
		column++
	}
	return strings.TrimRight(b.String(), " ")
}

// Fitted returns a list with what a window of cols cells has room for; see NewFit.
func Fitted(table [][]Cell, cols int) [][]string {
	f := NewFit(table, cols, false)
	rows := make([][]string, len(table))
	for n, row := range table {
		rows[n] = f.Row(row)
	}
	return rows
}

// least returns the width to which a column may be cut. In 80 cells there is room for the state
// "waits: secret".
func (f *Fit) least(column int) int {
	whole := f.widths[column]
	switch column {
	case State:
		if f.live {
			return min(whole, max(leastState, min(leastWaits, f.cols/4)))
		}
		return min(whole, max(leastState, f.cols/6))
	case Last:
		if f.live {
			return min(whole, max(leastLast, f.cols/5))
		}
		return min(whole, max(leastLast, f.cols/4))
	case Title:
		if f.live { // it may be a question
			return min(whole, max(leastOther, f.cols/5))
		}
		return min(whole, leastOther)
	case Folder:
		return min(whole, max(leastOther, f.cols/6))
	case Claim, Labels:
		return min(whole, leastOther)
	}
	return whole
}

// needs returns the width of a line whose columns have the widths that size returns.
func (f *Fit) needs(size func(column int) int) int {
	total := -Gap
	for i, shown := range f.shown {
		if shown {
			total += size(i) + Gap
		}
	}
	return total
}

// leaveOut leaves out columns for which there is no room.
func (f *Fit) leaveOut(less []int) {
	for _, i := range less {
		if f.needs(f.least) <= f.cols {
			return
		}
		f.shown[i] = false
	}
}

// clip cuts the NAMEs of a list that is live if there is no room for all columns otherwise: a long
// one must not take the columns of all others.
func (f *Fit) clip(table [][]Cell) {
	room := max(f.cols-(f.needs(f.least)-f.widths[Name]), leastName)
	if room < f.widths[Name] {
		f.cutNames(distinct(namesOf(table), room))
	}
}

func namesOf(table [][]Cell) (names []string) {
	for _, row := range table[1:] {
		names = append(names, row[Name].Text)
	}
	return names
}

// cutNames has the NAMEs be these.
func (f *Fit) cutNames(short map[string]string, most int) {
	f.names, f.widths[Name] = short, most
}

// shorten cuts the NAMEs if there is no room for them, and leaves out the last commands if the
// NAMEs do not differ otherwise.
func (f *Fit) shorten(table [][]Cell) {
	for f.needs(f.least) > f.cols {
		room := f.cols - (f.needs(f.least) - f.widths[Name])
		short, most := distinct(namesOf(table), max(room, len("NAME")))
		if most > room && f.shown[Last] {
			f.shown[Last] = false
			continue
		}
		f.cutNames(short, most)
		return
	}
}

// share takes the excess width of the line from the widest columns.
func (f *Fit) share() {
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
func cut(c Cell, most int) string {
	if width.String(c.String()) <= most {
		return c.String()
	}
	c.Extra = ""
	end := width.String(c.End)
	if width.String(c.Text)+end <= most || end >= most {
		return width.Cut(c.String(), most, "…")
	}
	return width.Cut(c.Text, most-end, "…") + c.End
}

// distinct returns names cut to room cells each, or to as few more as keep them different, by the
// whole ones, and that width. It cuts their ends if they differ then, else their middles.
func distinct(names []string, room int) (short map[string]string, most int) {
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
	return cutAll(slices.Compact(slices.Sorted(slices.Values(names))), longest, 0), longest
}

// cutAll returns names cut to room cells each, of which tail are their ends; nil: two become equal.
func cutAll(names []string, room, tail int) (short map[string]string) {
	seen := map[string]bool{}
	short = make(map[string]string, len(names))
	for _, whole := range names {
		name := whole
		if len(name) > room {
			name = name[:room-tail-1] + "…" + name[len(name)-tail:]
		}
		if seen[name] {
			return nil
		}
		seen[name], short[whole] = true, name
	}
	return short
}
