package verbs

import (
	"io"
	"sync/atomic"
	"time"

	"termhost/ahp/host"
	"termhost/ahp/store"
)

// frame is how often a screen is drawn for a viewer that cannot be sent the program's own output:
// as often as the eye can use.
const frame = 50 * time.Millisecond

// viewer shows one terminal to one peer. Its loop, watch, writes; an input loop reads what is
// typed.
type viewer struct {
	showing
	v     *invocation
	out   io.Writer
	typed *inputLoop
	// interactive: there is a person with a window. Otherwise what is shown is a stream.
	interactive bool
	readOnly    bool

	// Used by the loop only.
	items   []store.Item
	overlay overlay
	window  Window
	drawn   bool      // the viewer was drawn for, not sent the output
	resized bool      // the window has changed since the last drawing
	resize  bool      // the window has changed, and the host has not been told
	fitted  time.Time // when the host was told last
	dirty   bool      // a drawing is due
	last    time.Time // of the last drawing
	helpAt  time.Time // when the help of the prefix key is to be shown; zero: it is not

	answers *answers // nil: the viewer's terminal was not asked

	approval *approval // what the person is to decide about; nil: nothing
	att      attention
	notifier atomic.Int32 // a notifyBy

	front front // what lies over the screen, below the overlay

	// events are what the input loop has for the loop.
	events chan event
	stale  chan struct{} // 1 deep: see repaint
}

// event is something for the loop to show or do.
type event struct {
	kind    eventKind
	overlay overlay
	next    *next
}

type eventKind int

const (
	showOverlay  eventKind = iota
	awaitCommand           // the prefix key was pressed
	dismiss                // whatever is shown has been read
	interrupted            // an interrupt key was pressed
	switchTo
	leave
	askAgain    // for what the person has put aside
	nothingLeft // the terminal has ended, and there is no other to go to
)

// ending is how showing a terminal ended.
type ending int

const (
	exited   ending = iota // the program
	detached               // the viewer, by its own wish
	cutOff                 // the peer's streams
	kicked                 // somebody else has ended it
)

// eventBacklog is how many events wait for a loop that is writing.
const eventBacklog = 16

// watch writes first and then what comes, until the program has exited and all of its output is
// written, the viewer detaches, or the peer's streams end.
func (w *viewer) watch(first []byte) ending {
	if err := w.begin(first); err != nil {
		return cutOff
	}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	resized, signals := w.v.Resized(), w.v.Signals()
	always := make(chan struct{})
	close(always)
	for {
		more, err := w.show()
		switch {
		case err != nil:
			return cutOff
		case !more && w.exited && !w.away:
			return exited
		case !more && w.exited && !w.settled:
			w.settled = true
			w.ended()
		}
		w.arm(timer)
		output := w.a.Signal()
		if more {
			output = always
		}
		select {
		case <-output:
			w.touched()
		case <-w.done():
			w.exited = true
			w.front.clear()
			w.overlay, w.att.mark, w.helpAt = overlay{}, overlay{}, time.Time{}
			w.last = time.Time{}
			w.touched()
		case <-timer.C:
		case <-resized:
			w.resize = true
		case sig := <-signals:
			_ = w.a.SendSignal(sig) // a peer that may not type may not signal; it awaits no answer
		case n := <-w.notes():
			w.cover(w.noted(n))
		case <-w.a.AskingChanged():
			w.ask()
		case <-w.a.Calls():
			w.called()
		case <-w.stale:
			w.dirty = true
			w.ask() // which another dialog was in the way of
		case e := <-w.events:
			switch e.kind {
			case leave:
				return detached
			case nothingLeft:
				return exited
			}
			if err := w.handle(e); err != nil {
				return cutOff
			}
		case <-w.a.Kicked():
			return kicked
		case <-w.v.ctx.Done():
			return cutOff
		}
	}
}

// done is closed when the program has exited; nil: the loop knows.
func (w *viewer) done() <-chan struct{} {
	if w.exited {
		return nil
	}
	return w.t.Done()
}

// notes returns what there is to tell the viewer's person. It waits while something is shown that
// the next key closes: that key would otherwise close what cannot be seen.
func (w *viewer) notes() <-chan host.Note {
	if w.overlay.lines != nil && w.overlay.until.IsZero() || !w.helpAt.IsZero() {
		return nil
	}
	return w.a.Notes()
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
	if w.front.dialog() != nil {
		sooner(w.last.Add(dialogFrame))
	}
	sooner(w.att.due)
	sooner(w.att.mark.until)
	sooner(w.overlay.until)
	sooner(w.helpAt)
	timer.Reset(max(time.Until(next), 0))
}

// helpDelay is how long after the prefix key its help is shown, if no other key is pressed: longer
// than anybody takes who knows the keys.
const helpDelay = 500 * time.Millisecond

// farBehind is how much output, in bytes, may still come after an interrupt key before the viewer
// is shown the screen instead.
const farBehind = 128 << 10

// handle does what the input loop asks for.
func (w *viewer) handle(e event) error {
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
	case switchTo:
		return w.swap(e.next)
	case askAgain:
		if w.approval != nil {
			w.approval.later(false)
		}
		w.ask()
	}
	return nil
}

// post gives the loop an event, unless the peer's streams end first.
func (w *viewer) post(e event) {
	select {
	case w.events <- e:
	case <-w.v.ctx.Done():
	}
}

// hint gives the loop an event that does no harm if it is lost.
func (w *viewer) hint(e event) {
	select {
	case w.events <- e:
	default:
	}
}
