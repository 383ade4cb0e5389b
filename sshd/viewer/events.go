package viewer

import "time"

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
	dismiss                // what is shown has been read
	interrupted            // an interrupt key was pressed
	switchTo
	leave
	depart      // another host's terminal is ready
	askAgain    // what the person has put aside
	turnStatus  // the status line on or off
	nothingLeft // the terminal has ended, and there is no other to go to
)

// eventBacklog is the capacity for events while the loop is writing.
const eventBacklog = 16

// helpDelay is how long after the prefix key its help is shown, if no other key is pressed: longer
// than people take who know the keys.
const helpDelay = 500 * time.Millisecond

// farBehind is how much output, in bytes, may still follow an interrupt key before the viewer gets
// the screen instead.
const farBehind = 128 << 10

// handle handles an event from the input loop.
func (w *viewer) handle(e event) error {
	switch e.kind {
	case showOverlay:
		w.helpAt = time.Time{}
		w.coverSaid(e.overlay)
	case awaitCommand:
		w.helpAt = time.Now().Add(helpDelay)
	case dismiss:
		w.helpAt = time.Time{}
		w.cover(overlay{})
	case interrupted:
		switch {
		case w.status.shown():
			w.a.DropMissed(farBehind)
		case w.draws && w.a.Lag() > farBehind:
			w.lost = true
		}
	case switchTo:
		return w.swap(e.next)
	case turnStatus:
		w.turnStatus()
	case askAgain:
		if w.approval != nil {
			w.approval.putAside(false)
		}
		w.ask()
	}
	return nil
}

// post sends the loop an event, unless the peer's streams end first. Any goroutine but the loop's
// may call it.
func (w *viewer) post(e event) {
	select {
	case w.events <- e:
	case <-w.ctx.Done():
	}
}

// say has the loop show o. The rules of post apply.
func (w *viewer) say(o overlay) { w.post(event{kind: showOverlay, overlay: o}) }

// pressed tells the loop that a key was typed at the program, which takes a notice away. Any
// goroutine may call it.
func (w *viewer) pressed() {
	select {
	case w.keyed <- struct{}{}:
	default:
	}
}

// hint sends the loop an event that may be lost. Any goroutine may call it.
func (w *viewer) hint(e event) {
	select {
	case w.events <- e:
	default:
	}
}
