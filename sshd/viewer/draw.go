package viewer

import (
	"bytes"
	"time"

	"termhost/ahp/host"
)

// canvas is the state of the loop's drawing.
type canvas struct {
	window Window        // that shows the program, without the status line
	drawn  bool          // the screen was drawn, not the output sent
	dirty  bool          // a drawing is due
	lost   bool          // the output that was sent does not show the screen any more
	last   time.Time     // of the last drawing
	took   time.Duration // to draw that
	pause  time.Duration // after it, before the next one that nobody's key has caused
	layer  layer         // what lay over it
	// printedAt is when the program printed something that the viewer has got; zero: it has not.
	printedAt time.Time
	resized   bool      // the window has changed since
	resize    bool      // and the host has not been told
	fitted    time.Time // when the host was last told of a change
}

// show brings the viewer up to date. more: there is, or may be, more to show at once.
func (w *viewer) show() (more bool, err error) {
	if w.interactive {
		if err := w.tellWindow(); err != nil {
			return false, err
		}
	}
	if w.draws {
		w.passTime(time.Now())
		covered := w.layered()
		if covered {
			if err := w.darken(); err != nil {
				return false, err
			}
			w.passLayered(time.Now())
		}
		if covered || w.drawn || w.lost {
			if err := w.draw(covered); err != nil {
				return false, err
			}
			return false, w.speak(false)
		}
	}
	w.items = w.a.Pull(w.items[:0], pullBytes)
	defer clear(w.items)
	more = len(w.items) > 0
	if err := w.print(w.items); err != nil {
		return more, err
	}
	if err := w.speak(more); err != nil || more || !w.draws {
		return more, err
	}
	if w.light.back == nil {
		if err := w.drawPictures(); err != nil {
			return false, err
		}
	}
	return w.lighten()
}

// passTime does what is due by itself.
func (w *viewer) passTime(now time.Time) {
	if due := w.att.due; !due.IsZero() && !now.Before(due) {
		w.attend()
	}
	switch {
	case !w.helpAt.IsZero() && !now.Before(w.helpAt):
		w.helpAt = time.Time{}
		w.cover(prefixHelp(w.s.Prefix, w.has()))
	case w.overlay.expired():
		w.cover(overlay{})
	case w.front.dialog() != nil && time.Since(w.last) >= dialogFrame:
		w.dirty = true
	}
	if due := w.historyOverdue(); !due.IsZero() && !now.Before(due) {
		w.sendHistory(unmeasured)
	}
	if due := w.waiting.drops(); !due.IsZero() && !now.Before(due) {
		w.waiting = overlay{}
	}
	if w.lit.Load() && (w.status.shown() || !w.overlay.timed()) {
		w.lit.Store(false)
	}
}

// passLayered is passTime where the screen is drawn with what lies over it.
func (w *viewer) passLayered(now time.Time) {
	w.dirty = w.dirty || !w.drawn
	if on := w.att.marks(now, w.differs() || w.status.shown()); on != w.att.marked {
		w.att.marked, w.dirty = on, true
	}
	if w.waiting.lines != nil && !w.status.shown() {
		w.lit.Store(true) // before the last look at the keys
	}
	if o := w.next(now); o.lines != nil && w.overlay.lines == nil {
		w.begins(o)
		w.dirty = true
	}
	if w.status.turned(&w.overlay, now) {
		w.dirty = true
	}
}

// tellWindow tells the host of the newest window, at most once per frame: each change interrupts
// the program and is shown to all who watch.
func (w *viewer) tellWindow() error {
	if !w.resize || time.Since(w.fitted) < frame {
		return nil
	}
	if w.s.Status.On() && w.draws && !w.drawn {
		// Lines that leave the screen with its last row are known to be the first that are missing.
		w.dirty, w.last = true, time.Time{}
		if err := w.draw(true); err != nil {
			return err
		}
	}
	w.resize, w.fitted = false, time.Now()
	w.fit(w.s.Window())
	w.a.KeepBelow(w.status.rows)
	w.a.ResizeTo(w.window.Cols, w.window.Rows, w.window.Pixels)
	w.lost, w.resized = w.draws, true
	return nil
}

// layered reports whether the viewer cannot be sent the program's output as it is: there is
// something over it that stays, the window and the terminal differ in size, there is a status line
// below, or the lines above the screen come later.
func (w *viewer) layered() bool {
	return w.lines.due || w.overlay.firm() || w.front.dialog() != nil || w.differs() ||
		w.status.shown()
}

// differs reports whether the viewer's window is of another size than the terminal.
func (w *viewer) differs() bool {
	cols, rows := w.a.Size()
	return cols != w.window.Cols || rows != w.window.Rows
}

// touched records that there is output.
func (w *viewer) touched() {
	if w.drawn {
		w.dirty, w.att.printed = true, time.Now()
	}
}

// cover lays o over the screen; a zero o uncovers it. A notice waits until it may be shown, and
// takes the place of the one before.
func (w *viewer) cover(o overlay) {
	if !w.draws {
		return
	}
	if o.timed() {
		o.since = time.Now()
		w.waiting = o
		if w.overlay.timed() {
			w.overlay = overlay{}
		}
	} else {
		w.overlay = o
	}
	w.stale()
}

// stale has what lies over the screen drawn anew.
func (w *viewer) stale() { w.dirty = w.dirty || w.drawn || w.layered() }

// draw draws the screen and what lies over it: at most once per frame, more often if little has
// changed, and the first change after a key at once. covered: the next output will be drawn, too.
func (w *viewer) draw(covered bool) error {
	if !w.dirty && !w.lost || time.Now().Before(w.drawDue()) {
		return nil
	}
	if err := w.darken(); err != nil {
		return err
	}
	w.dirty = false
	w.last = time.Now()
	above := w.lay(covered)
	over := above.over(&w.layer, w.resized)
	anew := over.Changed || over.All || !w.drawn
	screen, turned, ok, err := w.drawing(covered, over)
	if err != nil || !ok {
		return err
	}
	if !anew && !turned && len(screen) > 0 {
		w.outdo()
	}
	w.layer, w.resized, w.lost = above, false, false
	w.pictures.redrawn()
	w.drawn = covered
	screen = appendCopied(w.appendLayer(screen, &above, anew || turned), above.dialog)
	if !covered || w.status.shown() {
		w.place.printed(w.last)
	}
	if !covered {
		w.retitle() // behind what may be the middle of a sequence
	} else {
		screen = append(screen, w.title(w.att.retitle || len(screen) > 0)...)
		w.att.retitle = false
	}
	w.took, w.pause = time.Since(w.last), pauseAfter(len(screen))
	if len(screen) > 0 {
		if _, err = w.out.Write(screen); err != nil {
			return err
		}
	}
	w.front.setDrawn(above.dialog)
	if question, asks := above.dialog.(asking); asks {
		question.drawn()
	}
	return nil
}

// outdo records that the program has printed something under what is drawn over it, and ends a
// notice.
func (w *viewer) outdo() {
	w.printedAt = time.Now()
	if w.overlay.timed() && !w.status.shown() {
		w.cover(overlay{})
	}
}

// appendLayer appends what draws a layer over a drawing of the screen. anew: it is not there, or
// may not be.
func (w *viewer) appendLayer(screen []byte, above *layer, anew bool) []byte {
	if !anew && len(screen) == 0 {
		return screen
	}
	if _, asks := above.dialog.(asking); asks { // programs must not make it unreadable
		screen = append(screen, w.a.OwnColors()...)
	}
	if anew {
		screen = append(screen, above.text...)
	}
	return append(screen, above.always...)
}

// drawDue returns when the screen may be drawn next: after a key of anybody's at once, but no
// more than half of the time is spent on drawing, however fast keys come.
func (w *viewer) drawDue() time.Time {
	if w.a.TypedAt().After(w.last) {
		return w.last.Add(2 * w.took)
	}
	return w.last.Add(w.pause)
}

// pauseAfter returns how long to wait after a drawing of n bytes before the next one. A row that
// somebody types in is drawn as they type, and a screen that changes altogether once per frame.
func pauseAfter(n int) time.Duration {
	const least, perByte = time.Millisecond, 10 * time.Microsecond // 100 kB/s
	return min(max(time.Duration(n)*perByte, least), frame)
}

// layer is what lies over a viewer's screen and is drawn with it.
type layer struct {
	text        []byte // draws what covers the first and last rows
	always      []byte // follows every drawing of the screen
	first, rows int    // how many of the first and of the last rows it covers
	mark        string // "": none
	markRow     int    // the row of the mark, counted from 0
	dialog      dialog // nil: none
}

// same reports whether what is seen of it was there before.
func (o *layer) same(was *layer) bool {
	return bytes.Equal(o.text, was.text) && bytes.Equal(o.always, was.always)
}

// over says what is drawn over the screen, where was lay before. all: all is drawn anew.
func (o *layer) over(was *layer, all bool) host.Over {
	over := host.Over{First: o.first, Rows: o.rows, Changed: !o.same(was), All: all}
	if was.mark != "" && (o.mark != was.mark || o.markRow != was.markRow) {
		over.Uncovers = []int{was.markRow}
	}
	return over
}

// lay returns what lies over the screen now. covered: something does.
func (w *viewer) lay(covered bool) (o layer) {
	if !covered {
		return o
	}
	d, below := w.front.dialog(), w.overScreen()
	cursor, rows := w.a.CursorRow(), w.window.Rows
	if o.dialog = d; d != nil {
		var shown overlay
		var above Window
		shown, above, below = w.drawDialog(d)
		n := len(shown.fitted(above))
		rows, cursor = above.Rows-n, -1
		o.rows += n
		o.text = shown.appendTo(nil, above)
		o.always = append(o.always, hideCursor...)
	}
	if d != nil || below.brackets {
		o.always = append(o.always, bracketPastes...)
	}
	switch from, lines := below.place(w.window, cursor); {
	case d != nil || below.firm():
		o.rows += len(below.fitted(w.window))
		o.text = below.appendTo(o.text, w.window)
	case len(lines) > 0:
		o.text = append(o.text, overBegin...)
		o.text = below.appendLines(o.text, lines, from, w.window)
		o.text = append(o.text, overEnd...)
		if from == 0 {
			o.first = len(lines)
		} else {
			o.rows, rows = len(lines), from
		}
	}
	if w.status.shown() {
		o.text = w.appendStatus(o.text)
	} else if row, ok := markRow(o.first, rows, cursor); ok && w.att.marked {
		o.mark, o.markRow = wantYou(w.att.count), row
		o.always = append(o.always, "\x1b7"+plainText...)
		o.always = appendMark(o.always, o.mark, row, w.window)
		o.always = append(o.always, overEnd...)
	}
	return o
}

// drawDialog draws a dialog above the other overlay, so that neither covers the other. Without room
// for both, a question comes before a notice.
func (w *viewer) drawDialog(d dialog) (o overlay, above Window, below overlay) {
	above, below = w.window, w.overScreen()
	n := len(below.fitted(w.window))
	if _, asks := d.(asking); asks && below.timed() {
		if o = d.draw(w.window, w.window); len(o.fitted(w.window))+n > w.window.Rows {
			return o, w.window, overlay{}
		}
	}
	above.Rows = max(above.Rows-n, 1)
	return d.draw(w.window, above), above, below
}

const (
	// hideCursor hides the program's cursor until the screen is drawn again (DECTCEM).
	hideCursor = "\x1b[?25l"
	// bracketPastes turns on bracketed paste (xterm ctlseqs, mode 2004).
	bracketPastes = "\x1b[?2004h"
)

// drawing returns a sequence that draws what is not on the screen yet, and whether the viewer's
// terminal turns to its other screen by that. It is not ok if the terminal has been disposed; its
// end is the next thing that the loop sees. Before a viewer is covered, it gets the output that it
// still lacks.
func (w *viewer) drawing(covered bool, over host.Over) (
	screen []byte, turned, ok bool, err error,
) {
	switch {
	case covered && w.drawn:
		screen, turned, err = w.a.Covered(over)
	case covered:
		w.items, screen, err = w.a.Cover(w.items[:0], over, w.lost)
		defer clear(w.items)
		if err := w.write(w.items); err != nil {
			return nil, false, false, err
		}
	case w.drawn:
		screen, err = w.a.Uncover()
	default:
		screen, err = w.a.Screen()
	}
	return screen, turned, err == nil, nil
}

// enter replaces a drawing for the terminal's size by one for the window, if they differ.
func (w *viewer) enter() {
	w.drawn = w.draws && (w.differs() || w.status.shown())
	w.resized = w.drawn
	w.dirty, w.lost = w.drawn, false
	w.light.drop()
}
