package sshd

import (
	"io"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/store"
)

const (
	// pullBytes is how much output is taken from the log at a time: enough for
	// large writes, little enough that keys and notices come between.
	pullBytes = 256 << 10
	// gatherBytes is how much output goes into one write: two full packets.
	gatherBytes = 64 << 10
	// frame is how often a screen is drawn for a viewer that cannot be sent the
	// program's own output: as often as the eye asks for.
	frame = 50 * time.Millisecond
	// farBehind is how much output may still come after an interrupt key before
	// the viewer is shown where things stand instead, in bytes.
	farBehind = 128 << 10
)

// viewer shows one terminal to one SSH session. Its loop writes; a typist reads
// what is typed.
type viewer struct {
	s   *sshSession
	a   *host.Attach
	t   *host.Terminal
	out io.Writer
	// interactive: there is a person with a window. Otherwise what is shown is
	// a stream.
	interactive bool

	// Used by the loop only.
	items   []store.Item
	overlay overlay
	window  window
	drawn   bool      // the viewer was drawn for, not sent the output
	resized bool      // since the last drawing the window has changed
	resize  bool      // the window has changed, and the host has not been told
	fitted  time.Time // when it was told last
	dirty   bool      // a drawing is due
	last    time.Time // of the last drawing
	helpAt  time.Time // when the prefix alone shows its keys; zero: not

	colors *colorAnswers // nil: the viewer's terminal was not asked

	// events are what the typist has for the loop.
	events chan event
}

// event is something for the loop to show or do.
type event struct {
	kind    eventKind
	overlay overlay
}

type eventKind int

const (
	showOverlay  eventKind = iota
	awaitCommand           // the prefix was pressed
	dismiss                // whatever is shown has been read
	interrupted            // an interrupt key was pressed
	leave
)

// ending is how showing a terminal ended.
type ending int

const (
	exited   ending = iota // the program
	detached               // the viewer, by its own wish
	cutOff                 // the SSH session
)

// eventBacklog is how many events wait for a loop that is writing.
const eventBacklog = 16

// watch writes first and then what comes, until the program has exited and all
// of its output is written, the viewer detaches, or the SSH session ends.
func (w *viewer) watch(first []byte) ending {
	if err := w.greet(first); err != nil {
		return cutOff
	}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	done := w.t.Done()
	over := false
	always := make(chan struct{})
	close(always)
	for {
		more, err := w.show()
		switch {
		case err != nil:
			return cutOff
		case !more && over:
			return exited
		}
		w.arm(timer)
		idle := w.a.Signal()
		if more {
			idle = always
		}
		select {
		case <-idle:
			w.touched()
		case <-done:
			done, over = nil, true
			w.overlay, w.helpAt, w.last = overlay{}, time.Time{}, time.Time{}
			w.touched()
		case <-timer.C:
		case <-w.s.resized:
			w.resize = true
		case sig := <-w.s.signals:
			_ = w.a.SendSignal(sig) // who may not type may not signal; nobody waits for an answer
		case e := <-w.events:
			if w.handle(e) {
				return detached
			}
		case <-w.s.ctx.Done():
			return cutOff
		}
	}
}

// show brings the viewer up to date. more says that there is, or may be, more to
// show at once.
func (w *viewer) show() (more bool, err error) {
	if w.interactive {
		w.fit()
		switch {
		case !w.helpAt.IsZero() && !time.Now().Before(w.helpAt):
			w.helpAt = time.Time{}
			w.cover(w.prefixHelp())
		case w.overlay.expired():
			w.cover(overlay{})
		}
		covered := w.mustDraw()
		w.dirty = w.dirty || covered && !w.drawn
		if covered || w.drawn || w.dirty {
			return false, w.draw(covered)
		}
	}
	w.items = w.a.Pull(w.items[:0], pullBytes)
	defer clear(w.items)
	return len(w.items) > 0, w.write(w.items)
}

// write sends output as it is. What is in one place of memory is written from
// there; the rest is gathered, so that each write is large.
func (w *viewer) write(items []store.Item) error {
	g := w.s.c.srv.gather(w.out)
	defer g.release()
	for i := range items {
		it := &items[i]
		switch {
		case it.Lagged != nil:
			if err := g.flush(); err != nil {
				return err
			}
			return w.catchUp()
		case it.Entry == nil:
			continue
		}
		switch act := it.Entry.Action().(type) {
		case ahp.TerminalData:
			if err := g.add(act.Data); err != nil {
				return err
			}
		case store.Clipboard:
			if err := g.add(act.Sequence); err != nil {
				return err
			}
		case ahp.TerminalResized:
			if w.interactive { // its lines are wrapped anew
				w.dirty = true
				return g.flush()
			}
		case ahp.TerminalCleared:
			w.dirty = w.interactive
		}
	}
	return g.flush()
}

// catchUp shows a viewer that fell behind how things stand. A stream is told so,
// because what it gets then it may have had before.
func (w *viewer) catchUp() error {
	var state []byte
	var err error
	if w.interactive {
		state, err = w.a.Screen()
	} else {
		_, _ = io.WriteString(w.s.stderr, "termhost: the output came faster than it was taken; what is retained of it follows\n")
		state, err = w.a.Redraw()
	}
	if err != nil {
		return nil // disposed meanwhile: there is nothing to show
	}
	_, err = w.out.Write(state)
	return err
}

// mustDraw reports whether the viewer cannot be sent the program's output as it
// is: because something lies over it, or because its window is of another size.
func (w *viewer) mustDraw() bool {
	return w.overlay.lines != nil || w.differs()
}

// differs reports whether the viewer's window is of another size than the
// terminal.
func (w *viewer) differs() bool {
	cols, rows := w.a.Size()
	return cols != w.window.cols || rows != w.window.rows
}

// draw draws the screen and what lies over it, at most once per frame. covered
// says that the viewer will be drawn for again.
func (w *viewer) draw(covered bool) error {
	if !w.dirty || time.Since(w.last) < frame {
		return nil
	}
	w.dirty = false
	w.last = time.Now()
	screen, err := w.drawing(covered)
	if err != nil || screen == nil {
		return err
	}
	w.resized = false
	w.drawn = covered
	_, err = w.out.Write(w.overlay.appendTo(screen, w.window))
	return err
}

// drawing returns what draws the screen; nil if there is none any more, and the
// end comes next. Output that has still to go to a viewer that is about to be
// covered is written.
func (w *viewer) drawing(covered bool) (screen []byte, err error) {
	switch {
	case covered && w.drawn:
		screen, err = w.a.Covered(!w.resized)
	case covered:
		w.items, screen, err = w.a.Cover(w.items[:0])
		defer clear(w.items)
		if err := w.write(w.items); err != nil {
			return nil, err
		}
		w.dirty = false
	case w.drawn:
		screen, err = w.a.Uncover()
	default:
		screen, err = w.a.Screen()
	}
	if err != nil {
		return nil, nil
	}
	return screen, nil
}

// touched notes that there is output.
func (w *viewer) touched() {
	if w.drawn {
		w.dirty = true
	}
}

// arm sets the timer to when something is due by itself.
func (w *viewer) arm(timer *time.Timer) {
	next := time.Now().Add(time.Hour)
	sooner := func(t time.Time) {
		if !t.IsZero() && t.Before(next) {
			next = t
		}
	}
	if w.dirty {
		sooner(w.last.Add(frame))
	}
	if w.resize {
		sooner(w.fitted.Add(frame))
	}
	sooner(w.overlay.until)
	sooner(w.helpAt)
	timer.Reset(max(time.Until(next), 0))
}

func (w *viewer) cover(o overlay) {
	if w.interactive {
		w.overlay = o
		w.dirty = true
	}
}

// fit tells the host of the newest window, at most once per frame: each change
// interrupts the program and is told to everybody who watches.
func (w *viewer) fit() {
	if !w.resize || time.Since(w.fitted) < frame {
		return
	}
	w.resize, w.fitted = false, time.Now()
	w.window = w.s.size()
	w.a.Resize(w.window.cols, w.window.rows)
	w.dirty, w.resized = true, true
}

// handle does what the typist asks for; true: the viewer detaches.
func (w *viewer) handle(e event) (detach bool) {
	switch e.kind {
	case showOverlay:
		w.helpAt = time.Time{}
		w.cover(e.overlay)
	case awaitCommand:
		w.helpAt = time.Now().Add(helpDelay)
	case dismiss:
		w.helpAt = time.Time{}
		if w.overlay.lines != nil {
			w.cover(overlay{})
		}
	case interrupted:
		if w.interactive && w.a.Lag() > farBehind {
			w.dirty = true
		}
	case leave:
		return true
	}
	return false
}

// helpDelay is how long the prefix alone waits before it shows its keys: longer
// than anybody takes who knows them.
const helpDelay = 500 * time.Millisecond

// post gives the loop an event, unless the SSH session ends first.
func (w *viewer) post(e event) {
	select {
	case w.events <- e:
	case <-w.s.ctx.Done():
	}
}

// hint gives the loop an event that may as well be lost.
func (w *viewer) hint(e event) {
	select {
	case w.events <- e:
	default:
	}
}
