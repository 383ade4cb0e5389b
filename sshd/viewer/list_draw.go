package viewer

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"termhost/ahp/host"
	"termhost/ptypool/vt/width"
	"termhost/sshd/listing"
	"termhost/sshd/wording"
)

const (
	// wideList is the width from which on the list also shows an agent's session beside its name,
	// as `ls` does.
	wideList = 120
	// leastWithPane is the height from which on there is room below the list for what the current
	// terminal prints, and leastWithTitle for a line that counts the terminals.
	leastWithPane  = 14
	leastWithTitle = 8
)

// draw shows the terminals that match, as many as fit, around the current one, and below them what
// that prints or asks.
func (l *list) draw(full, part Window) overlay {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refresh()
	l.look()
	l.drew = false
	switch {
	case l.help:
		return overlay{lines: l.helpText()}
	case l.wide && l.ask != nil:
		l.drew = true
		l.ask.below(false)
		return l.ask.draw(full, part)
	}
	return l.layOut(full, part)
}

// drawn implements [asking]: the ask below the list can be read.
func (l *list) drawn() {
	l.mu.Lock()
	ask := l.ask
	if !l.drew {
		ask = nil
	}
	l.mu.Unlock()
	if ask != nil {
		ask.drawn()
	}
}

// item is a line of the list: a row, or a heading.
type item struct {
	row     *Row
	heading string // "": it is a row
}

// items returns the lines of the list, and which is the current one.
func (l *list) items(match []*Row) (items []item, current int) {
	several := false
	for _, r := range match {
		several = several || r.part != match[0].part
	}
	at := l.index(match)
	for i, r := range match {
		if l.sort == byGroup && several && (i == 0 || match[i-1].part != r.part) {
			items = append(items, item{heading: r.part})
		}
		if i == at {
			current = len(items)
		}
		items = append(items, item{row: r})
	}
	return items, current
}

// layOut lays the list out in a part of the window.
func (l *list) layOut(full, part Window) overlay {
	height := part.Rows
	if !l.o.whole {
		height = max(height-1, 1) // for a notice
	}
	o := overlay{table: true, strong: map[int]bool{}}
	spare := height - 1 // for the keys
	if l.o.whole && height >= leastWithTitle {
		o.lines = append(o.lines, l.title(lineRoom(part)))
		o.strong[0] = true
		spare--
	}
	room := lineRoom(part)
	l.fitTo(room)
	items, current := l.items(l.matching())
	if spare > 2 && len(items) > 0 {
		o.strong[len(o.lines)] = true
		o.lines = append(o.lines, l.rowLine("HOST", listing.Head(), "  "))
		spare--
	}
	under := 0
	if height >= leastWithPane {
		under = l.paneHeight(height)
		spare -= under + 1
	}
	l.page = max(min(spare, len(items)), 1)
	l.scroll(items, current)
	first := len(o.lines)
	for i, it := range items[l.first:min(l.first+l.page, len(items))] {
		o.lines = append(o.lines, l.itemLine(it))
		if l.first+i == current {
			o.current = len(o.lines)
		}
		o.strong[len(o.lines)-1] = it.heading != ""
	}
	if len(items) == 0 {
		o.lines = append(o.lines, cmp.Or(l.failed, l.none()))
	}
	if l.o.whole {
		o.lines = append(o.lines, make([]string, max(first+spare-len(o.lines), 0))...)
	}
	if under > 0 {
		l.drawPane(&o, full, Window{Cols: part.Cols, Rows: under})
	}
	o.lines = append(o.lines, l.prompt())
	return o
}

// none says why there is no row.
func (l *list) none() string {
	if l.filter == "" && len(l.o.selector) == 0 {
		return "there are no terminals"
	}
	return "no terminal matches"
}

// scroll has the current item in view, with the heading above it.
func (l *list) scroll(items []item, current int) {
	from := current
	if from > 0 && items[from-1].heading != "" && l.page > 1 {
		from--
	}
	l.first = min(max(l.first, current-l.page+1), from)
	l.first = max(min(l.first, len(items)-l.page), 0)
}

// title counts the terminals.
func (l *list) title(room int) string {
	n, want := 0, 0
	for _, r := range l.all {
		if !r.gone {
			n++
		}
		want += 1 - wantsFirst(r)
	}
	text := wording.Counted(n, "terminal")
	if want > 0 {
		text += ", " + wantYou(want)
	}
	if len(l.marked) > 0 {
		text += fmt.Sprintf(", %d marked", len(l.marked))
	}
	text += ", " + l.sort.String()
	for _, note := range l.places {
		text += "; " + note
	}
	return width.Cut(host.Printable(text), room, "…")
}

// cells returns a row's cells.
func (l *list) cells(r *Row, wide bool) []listing.Cell {
	row := listing.Row(r.Info, wide)
	if r.gone || !r.Away.IsZero() {
		row[listing.State].Text = stateOf(r)
	}
	row[listing.Age].Text = coarse(time.Since(r.CreatedAt))
	if r.State == host.StateRunning && !r.PrintedAt.IsZero() {
		row[listing.Quiet].Text = "-"
		if quiet := time.Since(r.PrintedAt); quiet >= ageStep {
			row[listing.Quiet].Text = coarse(quiet)
		}
	}
	if r.asks != "" {
		row[listing.Title].Text = r.asks
	}
	return row
}

// ageStep is how exactly ages are told below a minute: each step is a drawing.
const ageStep = 10 * time.Second

func coarse(age time.Duration) string {
	if age < time.Minute {
		age = age.Truncate(ageStep)
	}
	return wording.Age(age)
}

// fitTo finds what there is room for in lines of room cells.
func (l *list) fitTo(room int) {
	if l.fit != nil && l.fitted == room {
		return
	}
	l.hostWidth = 0
	if l.hosts {
		l.hostWidth = len("HOST")
	}
	table := make([][]listing.Cell, 1, 1+len(l.all))
	table[0] = listing.Head()
	for _, r := range l.all {
		if l.hosts {
			l.hostWidth = max(l.hostWidth, width.String(r.Host))
		}
		table = append(table, l.cells(r, room >= wideList))
	}
	if l.hosts {
		l.hostWidth += listing.Gap
	}
	l.fit = listing.NewFit(table, max(room-l.hostWidth-len("  "), 1), true)
	l.fitted = room
}

// itemLine returns the line of an item.
func (l *list) itemLine(it item) string {
	if it.heading != "" {
		return "── " + it.heading
	}
	mark := "  "
	switch {
	case l.marked[it.row.id()]:
		mark = "+ "
	case it.row.id() == l.o.here:
		mark = "* "
	}
	return l.rowLine(it.row.Host, l.cells(it.row, l.fitted >= wideList), mark)
}

func (l *list) rowLine(on string, cells []listing.Cell, mark string) string {
	if l.hosts {
		on = width.Cut(host.Printable(on), l.hostWidth-listing.Gap, "…")
		mark += on + strings.Repeat(" ", l.hostWidth-width.String(on))
	}
	return mark + l.fit.Line(cells)
}

// helpText explains the keys. In 60 columns and 11 rows, above a status line, there is room for all
// of it.
func (l *list) helpText() []string {
	enter, leave := "goes there", "Esc, q  returns to the terminal"
	if l.o.whole && !l.o.picks {
		enter = "attaches"
		if l.s.Prefix != 0 {
			enter += "; " + l.s.key('d') + " comes back here"
		}
		leave = "q  leaves; Esc ends the filter, or else the marks"
	}
	return []string{
		"The keys of the list:",
		"  Enter  " + enter,
		"  j, k, arrows, PgUp, PgDn, Home, End  move",
		"  y, n  answer what an agent asks; v  shows all of that",
		"  s  types a line there",
		"  g  guards: agents type after your yes only, or no longer",
		"  x  ends it and its programs; r  gives a NAME, t  a title",
		"  space  marks it: s, g and x act on all that are marked",
		"  /  filters; o  sorts: by group, name, age, latest output",
		"  " + leave,
		"Any key closes this.",
	}
}
