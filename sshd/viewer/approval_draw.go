package viewer

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"termhost/ptypool/vt/width"
)

// The parts of an approval are all visible, or none is: nothing is cut. In a narrow window they are
// terser, and a long text is read in pages.

const (
	// narrowest is the least width in cells in which keys can be named.
	narrowest = 10
	// leastPage is how many rows of a long text must be in view; for less the words around it
	// become terse.
	leastPage = 4
)

// tooSmall is shown instead of an approval: the first of these that there is room for.
var tooSmall = [...]string{"window too small: enlarge it, or `ssh host asks`",
	"window too small: enlarge it", "window too small", "too small", "ask", "?"}

// These are shown while keys do not answer: the first two to a person who types on.
const (
	early        = "what you type still goes to the program; pause to answer"
	earlyTerse   = "pause to answer"
	waiting      = "keys answer in a moment, and are dropped until then"
	waitingTerse = "wait a moment"
)

// setting is the layout of an approval in a window.
type setting struct {
	head, keys []string
	height     int // of the keys, for any offer: the text must not move
	where      int // lines that say which rows are in view; 0: all are
	page       int // rows of the text that fit
}

// draw shows the text with line numbers, so that no text can imitate another line.
func (d *approval) draw(full, part Window) overlay {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sent = d.now()
	switch resized := d.view.full != full; {
	case d.view == view{}: // it appears now
		d.typesOn = d.typing.goesOn(d.now())
	case resized && d.pauseLeft() == 0:
		d.typesOn = false
	}
	rows := numbered(heldLines(d.is), lineRoom(part))
	d.next = view{full: full, part: part, rows: len(rows)}
	if len(d.seen) != len(rows) || d.view.part.Cols != part.Cols {
		d.top = 0
	}
	d.next.offers = d.offersIn(full, part)
	set, fits := d.set(part, rows)
	if !fits {
		d.next = view{full: full, part: part}
		return overlay{lines: saidTooSmall(part), table: true}
	}
	d.next.page = set.page
	d.next.first = max(min(d.top, len(rows)-set.page), 0)
	d.next.last = min(d.next.first+set.page, len(rows))
	o := overlay{table: true, lines: set.head, signs: make([][]span, len(set.head))}
	for _, row := range rows[d.next.first:d.next.last] {
		o.lines, o.signs = append(o.lines, row.text), append(o.signs, row.signs)
	}
	if set.where > 0 {
		v := d.next
		more := where(v.first+1, v.last, v.rows, v.rows-v.last, lineRoom(part))
		o.lines = append(o.lines, fill(more, set.where)...)
	}
	o.lines = append(o.lines, fill(set.keys, set.height)...)
	return o
}

// drawn records that the last drawing is on the screen.
func (d *approval) drawn() {
	d.mu.Lock()
	defer d.mu.Unlock()
	appears := d.view == view{}
	d.arrive(d.now())
	switch {
	case appears && !d.typesOn && d.typing.goesOn(d.now()): // since it was drawn
		d.typesOn = true
		d.front.repaint()
	case d.view.offers != offersEarly && d.pauseLeft() == 0:
		d.typesOn = false
	}
	if d.view.offers != offersNothing {
		d.drawAgain()
	}
}

// drawAgain schedules a drawing for when keys mean something else. d.mu is held.
func (d *approval) drawAgain() {
	wait := d.early()
	if !d.read.IsZero() {
		wait = max(wait, readIn(d.read, d.now()))
	}
	switch {
	case d.view.offers == offersAll, d.view.offers == offersReading && d.read.IsZero():
	case d.due == nil:
		d.due = time.AfterFunc(wait, d.front.repaint)
	default:
		d.due.Reset(wait)
	}
}

// saidTooSmall says that the window is too small, in as many words as fit.
func saidTooSmall(w Window) (lines []string) {
	room := lineRoom(w)
	for _, text := range tooSmall {
		lines = wrap(nil, text, room)
		broken := slices.ContainsFunc(strings.Fields(text), func(word string) bool {
			return width.String(word) > room
		})
		if len(lines) <= w.Rows && !broken {
			break
		}
	}
	return lines
}

// fill adds empty lines up to a height.
func fill(lines []string, height int) []string {
	return append(lines, make([]string, max(height-len(lines), 0))...)
}

// offersIn returns what keys will do once the dialog is drawn in this window. d.mu is held.
func (d *approval) offersIn(full, part Window) offer {
	switch {
	case d.view.full != full, d.view.part != part, d.early() > 0:
		return offersEarly
	case d.read.IsZero(), readIn(d.read, d.now()) > 0:
		return offersReading
	}
	return offersAll
}

// set lays the dialog out for a window, or returns that it does not fit.
func (d *approval) set(w Window, rows []row) (s setting, fits bool) {
	room := lineRoom(w)
	if room < narrowest || room < gutter(len(d.is.Lines))+2 {
		return s, false
	}
	for _, scrolled := range []bool{false, true} {
		for _, terse := range []bool{false, true} {
			s = d.setIn(room, terse)
			least := len(rows)
			if scrolled {
				n := len(rows)
				s.where = len(where(n, n, n, n, room)) // nothing is longer
				if least = min(leastPage, n); terse {
					least = 1
				}
			}
			s.page = min(w.Rows-len(s.head)-s.where-s.height, len(rows))
			if s.page >= least {
				return s, true
			}
		}
	}
	return s, false
}

// setIn lays out the words around the text for a width.
func (d *approval) setIn(room int, terse bool) (s setting) {
	head, on, wait := "termhost: "+d.is.By+" wants to "+d.nature(), early, waiting
	if terse {
		head, on, wait = d.is.By+" "+d.natureTersely(), earlyTerse, waitingTerse
	}
	s.head = wrap(nil, head, room)
	if d.is.Warning != "" {
		s.head = wrap(s.head, d.is.Warning, room)
	}
	typesOn, waits := wrap(nil, on, room), wrap(nil, wait, room)
	said := map[offer][]string{
		offersEarly:   waits,
		offersReading: wrap(nil, d.keys(offersReading, terse), room),
		offersAll:     wrap(nil, d.keys(offersAll, terse), room),
	}
	for _, lines := range said {
		s.height = max(s.height, len(lines))
	}
	s.height = max(s.height, len(typesOn))
	if s.keys = said[d.next.offers]; d.next.offers == offersEarly && d.typesOn {
		s.keys = typesOn
	}
	return s
}

// where says which rows are in view, counted from 1, and how many come after them.
func where(first, last, of, more, room int) []string {
	text := fmt.Sprintf("rows %d to %d of %d", first, last, of)
	if more > 0 {
		text += fmt.Sprintf("; %d more, read on", more)
	}
	return wrap(nil, text, room)
}
