package viewer

import (
	"bytes"
	"time"

	"termhost/ahp/host"
)

// canvas is the state of the loop's drawing.
type canvas struct {
	window  Window
	drawn   bool          // the screen was drawn, not the output sent
	dirty   bool          // a drawing is due
	last    time.Time     // of the last drawing
	took    time.Duration // to draw that
	pause   time.Duration // after it, before the next one that nobody's key has caused
	layer   layer         // what lay over it
	resized bool          // the window has changed since
	resize  bool          // and the host has not been told
	fitted  time.Time     // when the host was last told of a change
}

// show brings the viewer up to date. more: there is, or may be, more to show at once.
func (w *viewer) show() (more bool, err error) {
	if w.interactive {
		w.tellWindow()
	}
	if w.draws {
		if due := w.att.due; !due.IsZero() && !time.Now().Before(due) {
			w.attend()
		}
		if on := w.att.marks(time.Now(), w.differs()); on != w.att.marked {
			w.att.marked, w.dirty = on, true
		}
		switch {
		case !w.helpAt.IsZero() && !time.Now().Before(w.helpAt):
			w.helpAt = time.Time{}
			w.cover(prefixHelp(w.s.Prefix, w.has()))
		case w.overlay.expired():
			w.cover(overlay{})
		case w.front.dialog() != nil && time.Since(w.last) >= dialogFrame:
			w.dirty = true
		}
		covered := w.mustDraw()
		w.dirty = w.dirty || covered && !w.drawn
		if covered || w.drawn || w.dirty {
			return false, w.draw(covered)
		}
	}
	w.items = w.a.Pull(w.items[:0], pullBytes)
	defer clear(w.items)
	more = len(w.items) > 0
	if err := w.write(w.items); err != nil || more {
		return more, err
	}
	return false, w.drawPictures()
}

// tellWindow tells the host of the newest window, at most once per frame: each change interrupts
// the program and is shown to all who watch.
func (w *viewer) tellWindow() {
	if !w.resize || time.Since(w.fitted) < frame {
		return
	}
	w.resize, w.fitted = false, time.Now()
	w.window = w.s.Window()
	w.a.ResizeTo(w.window.Cols, w.window.Rows, w.window.Pixels)
	w.dirty, w.resized = w.draws, true
}

// mustDraw reports whether the viewer cannot be sent the program's output as it is: there is an
// overlay, or the window and the terminal differ in size.
func (w *viewer) mustDraw() bool {
	return w.overlay.lines != nil || w.att.marked || w.front.dialog() != nil ||
		w.differs()
}

// differs reports whether the viewer's window is of another size than the terminal.
func (w *viewer) differs() bool {
	cols, rows := w.a.Size()
	return cols != w.window.Cols || rows != w.window.Rows
}

// touched records that there is output.
func (w *viewer) touched() {
	w.att.printed = time.Now()
	if w.drawn {
		w.dirty = true
	}
}

// cover lays o over the screen; a zero o uncovers it.
func (w *viewer) cover(o overlay) {
	if w.draws {
		w.overlay = o
		w.dirty = true
	}
}

// draw draws the screen and what lies over it: at most once per frame, more often if little has
// changed, and the first change after a key at once. covered: the next output will be drawn, too.
func (w *viewer) draw(covered bool) error {
	if !w.dirty || time.Now().Before(w.drawDue()) {
		return nil
	}
	w.dirty = false
	w.last = time.Now()
	above := w.lay()
	over := host.Over{
		Rows: above.rows, Changed: !above.same(&w.layer),
		All: w.resized || above.mark != w.layer.mark,
	}
	first := !w.drawn
	screen, ok, err := w.drawing(covered, over)
	if err != nil || !ok {
		return err
	}
	w.layer, w.resized = above, false
	w.pictures.redrawn()
	w.drawn = covered
	question, asks := above.dialog.(asking)
	if redrawn := over.Changed || over.All || first; redrawn || len(screen) > 0 {
		if asks { // programs must not make it unreadable
			screen = append(screen, w.a.OwnColors()...)
		}
		if redrawn {
			screen = append(screen, above.text...)
		}
		screen = append(screen, above.always...)
	}
	screen = w.appendTitle(screen)
	w.took, w.pause = time.Since(w.last), pauseAfter(len(screen))
	if len(screen) > 0 {
		if _, err = w.out.Write(screen); err != nil {
			return err
		}
	}
	w.front.setDrawn(above.dialog)
	if asks {
		question.drawn()
	}
	return nil
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

// layer is what lies over a viewer's screen.
type layer struct {
	text   []byte // draws what covers the last rows
	always []byte // follows every drawing of the screen
	rows   int    // how many of the last rows it covers
	mark   string // in the first row; "": none
	dialog dialog // nil: none
}

// same reports whether what is seen of it was there before.
func (o *layer) same(was *layer) bool {
	return bytes.Equal(o.text, was.text) && bytes.Equal(o.always, was.always)
}

// lay returns what lies over the screen now.
func (w *viewer) lay() (o layer) {
	d, free := w.front.dialog(), w.window.Rows // free: how many rows are above the dialog
	below := w.overlay
	if o.dialog = d; d != nil {
		var shown overlay
		var above Window
		shown, above, below = w.drawDialog(d)
		n := len(shown.fitted(above))
		free = above.Rows - n
		o.rows += n
		o.text = shown.appendTo(nil, above)
		o.always = append(o.always, hideCursor...)
	}
	if d != nil || below.brackets {
		o.always = append(o.always, bracketPastes...)
	}
	if w.att.marked && free > 0 {
		o.mark = wantYou(w.att.count)
		o.always = appendMark(o.always, o.mark, w.window)
	}
	o.rows += len(below.fitted(w.window))
	o.text = below.appendTo(o.text, w.window)
	return o
}

// drawDialog draws a dialog above the other overlay, so that neither covers the other. Without room
// for both, a question comes before a notice.
func (w *viewer) drawDialog(d dialog) (o overlay, above Window, below overlay) {
	above, below = w.window, w.overlay
	n := len(below.fitted(w.window))
	if _, asks := d.(asking); asks && !below.until.IsZero() {
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

// drawing returns a sequence that draws what is not on the screen yet, or false if the terminal has
// been disposed; its end is the next thing that the loop sees. Before a viewer is covered, it gets
// the output that it still lacks.
func (w *viewer) drawing(covered bool, over host.Over) (screen []byte, ok bool, err error) {
	switch {
	case covered && w.drawn:
		screen, err = w.a.Covered(over)
	case covered:
		w.items, screen, err = w.a.Cover(w.items[:0], over.Rows)
		defer clear(w.items)
		if err := w.write(w.items); err != nil {
			return nil, false, err
		}
		w.dirty = false
	case w.drawn:
		screen, err = w.a.Uncover()
	default:
		screen, err = w.a.Screen()
	}
	return screen, err == nil, nil
}

// enter replaces a drawing for the terminal's size by one for the window, if they differ.
func (w *viewer) enter() {
	w.drawn = w.draws && w.differs()
	w.resized = w.drawn
	w.dirty = w.drawn || w.draws && w.overlay.lines != nil
}
