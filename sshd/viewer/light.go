package viewer

import (
	"fmt"
	"slices"
	"time"

	"termhost/ahp"
	"termhost/ahp/store"
)

// A notice, and the mark of what wants the person, are drawn once, over the screen to which the
// program's own output is written. The next output takes them away and goes on as it is. So nothing
// that the host says for a while turns output into drawings. What stays until a key is pressed, a
// dialog, and all that lies over a window of another size are drawn with the screen instead: see
// draw.

const (
	// outputPause is for how long a program prints nothing before a notice appears, so that it does
	// not blink between two pieces of output.
	outputPause = 100 * time.Millisecond
	// keyPause is for how long the person types nothing at the program before that.
	keyPause = 300 * time.Millisecond
	// firstOutput is how long a new program has to print something before the greeting appears.
	firstOutput = time.Second
	// mostWaiting is how long a notice may wait for all that: it would be no news later.
	mostWaiting = 30 * time.Second
)

// light is what is drawn over the program's own screen.
type light struct {
	back    []byte // takes it away; nil: nothing is drawn
	lines   []string
	mark    string
	refused time.Time // when it could not be drawn
}

// shows reports whether these are what is drawn.
func (l *light) shows(lines []string, mark string) bool {
	return slices.Equal(l.lines, lines) && l.mark == mark
}

// drop forgets what is drawn: the screen is about to be drawn anew.
func (l *light) drop() { *l = light{refused: l.refused} }

// calm returns when the program and the person have paused for long enough.
func (w *viewer) calm() time.Time {
	calm := w.printedAt.Add(outputPause)
	typed, refused := w.typing.last().Add(keyPause), w.light.refused.Add(outputPause)
	for _, t := range [...]time.Time{typed, refused} {
		if t.After(calm) {
			calm = t
		}
	}
	return calm
}

// waitingDue returns when the notice that waits may be shown; zero: there is none, or something is
// shown that a key has to close first.
func (w *viewer) waitingDue() time.Time {
	o := &w.waiting
	if o.lines == nil || w.overlay.lines != nil || !w.helpAt.IsZero() {
		return time.Time{}
	}
	if w.status.shown() { // nothing is below it
		return o.since
	}
	due := w.calm()
	if first := o.since.Add(firstOutput); o.fresh && w.printedAt.IsZero() && first.After(due) {
		due = first
	}
	return due
}

// next returns the overlay to be shown now: what is, or a notice whose time has come.
func (w *viewer) next(now time.Time) overlay {
	if due := w.waitingDue(); due.IsZero() || now.Before(due) {
		return w.overlay
	}
	o := w.waiting
	o.until = now.Add(o.lasts)
	if w.status.shown() {
		o.until = now.Add(w.statusTime(&o))
	}
	return o
}

// begins shows o, which next has returned, from now on.
func (w *viewer) begins(o overlay) {
	if w.overlay.lines == nil && o.lines != nil {
		w.overlay, w.waiting = o, overlay{}
	}
}

// lightDue returns when something is to be drawn that waits for a pause; zero: nothing is.
func (w *viewer) lightDue() time.Time {
	mark := w.att.marks(time.Now(), false) && w.light.mark == ""
	if (mark || w.overlay.lines != nil && w.light.lines == nil) && !w.layered() {
		return w.calm()
	}
	return w.waitingDue()
}

// lighten draws the notice and the mark that are to be shown, and takes away what was drawn before.
// more: there was output to show instead.
func (w *viewer) lighten() (more bool, err error) {
	now := time.Now()
	o, mark := w.next(now), ""
	if w.att.marks(now, false) {
		mark = wantYou(w.att.count)
	}
	if now.Before(w.calm()) && w.light.back == nil || w.light.shows(o.lines, mark) {
		return false, nil
	}
	if err := w.darken(); err != nil || o.lines == nil && mark == "" {
		return false, err
	}
	w.lit.Store(o.lines != nil) // before the last look at the keys
	if now.Before(w.calm()) {
		return false, nil
	}
	var drawn []byte
	full := false // there is no row but the cursor's
	items, back := w.a.Pause(w.items[:0], func(x, y int) (rows []int) {
		drawn, rows = appendLight(nil, o, mark, w.window, x, y)
		full = len(rows) == 0
		return rows
	})
	w.items = items
	defer clear(items)
	switch {
	case len(items) > 0:
		return true, w.print(items)
	case full:
		drawn, back = nil, []byte{}
	case back == nil:
		w.light.refused = now
		return false, nil
	}
	w.begins(o)
	w.light.back, w.light.lines, w.light.mark = back, o.lines, mark
	w.att.marked = mark != ""
	_, err = w.out.Write(drawn)
	return false, err
}

// darken takes away what is drawn over the program's screen.
func (w *viewer) darken() error {
	back := w.light.back
	if back == nil {
		return nil
	}
	w.light.drop()
	w.att.marked = false
	if len(w.pictures.placed) > 0 {
		w.pictures.redrawn()
	}
	_, err := w.out.Write(back)
	return err
}

// print writes what the program has printed. That ends a notice and the mark that lie over it.
func (w *viewer) print(items []store.Item) error {
	if slices.ContainsFunc(items, prints) {
		w.printedAt = time.Now()
		w.att.printed = w.printedAt
		w.place.printed(w.printedAt)
		if w.light.lines != nil {
			w.overlay = overlay{}
		}
		if w.light.mark != "" {
			w.att.unmark()
		}
		if err := w.darken(); err != nil {
			return err
		}
	}
	return w.write(items)
}

// prints reports whether an item changes what a viewer's terminal shows.
func prints(it store.Item) bool {
	if it.Entry == nil {
		return it.Lagged != nil
	}
	data, ok := it.Entry.Action().(ahp.TerminalData)
	return ok && len(data.Data) > 0
}

// lightBegin ends what would change how a notice looks, and shows it at once when it is drawn.
const (
	lightBegin = "\x18\x1b[?2026h\x1b[4l" + plainText
	lightEnd   = "\x1b[m\x1b[%d;%dH\x1b[?2026l"
)

// appendLight appends what draws a notice and a mark over the screen of a program whose cursor is
// at x, y, and returns the rows that they cover. See [host.Attach.Pause].
func appendLight(dst []byte, o overlay, mark string, w Window, x, y int) (
	drawn []byte, rows []int,
) {
	dst = append(dst, lightBegin...)
	from, lines := o.place(w, y)
	dst = o.appendLines(dst, lines, from, w)
	for i := range lines {
		rows = append(rows, from+i)
	}
	first, last := 0, w.Rows
	switch {
	case len(lines) == 0:
	case from == 0:
		first = len(lines)
	default:
		last = from
	}
	if at, ok := markRow(first, last, y); ok && mark != "" {
		dst = appendMark(dst, mark, at, w)
		rows = append(rows, at)
	}
	return fmt.Appendf(dst, lightEnd, y+1, x+1), rows
}
