package viewer

import "time"

const (
	// answerDelay is how long an approval must be on the screen in full before a key answers:
	// nobody reads faster, so an earlier key was meant for something else. Every door keeps to it.
	answerDelay = 700 * time.Millisecond
	// promptly is how long a drawing may be under way: the person may answer before the host knows
	// that the peer has read it. A peer that takes longer does not read.
	promptly = 50 * time.Millisecond
)

// exposure is what the person could have read of an approval.
type exposure struct {
	next view // what was drawn last
	view view // what is on the screen
	// sent is when next was written to the peer's connection; zero: the peer has read it.
	sent time.Time
	// since is since when the present view is on the screen, at the present size of the window, and
	// read since when all rows of the text have been in view; zero: they were not.
	since, read time.Time
	seen        []bool // the rows that have been in view
}

// view is one drawing of an approval.
type view struct {
	full, part  Window // the viewer's window, and its part that nothing else covers
	first, last int    // the rows of the text that are in view: from first, up to last
	rows        int    // rows of the text
	page        int    // rows that fit
	offers      offer
}

// offer is what keys do, according to a drawing of an approval.
type offer int

const (
	offersNothing offer = iota // the window is too small
	offersEarly                // keys do not answer yet; see approval.typesOn
	offersReading              // not all of the text was in view: read on, refuse, or later
	offersAll
)

// arrive records that the last drawing is on the screen.
func (e *exposure) arrive(now time.Time) {
	was, is := e.view, e.next
	e.view, e.sent = is, time.Time{}
	if is.offers == offersNothing {
		e.since, e.read = time.Time{}, time.Time{}
		return
	}
	if e.since.IsZero() || was.full != is.full || was.part != is.part {
		e.since, e.read = now, time.Time{}
	}
	if len(e.seen) != is.rows || was.part.Cols != is.part.Cols {
		e.seen = make([]bool, is.rows) // other rows
	}
	all := true
	for i := range e.seen {
		e.seen[i] = e.seen[i] || is.first <= i && i < is.last
		all = all && e.seen[i]
	}
	if all && e.read.IsZero() {
		e.read = now
	}
}

// outdate records that the screen is out of date: no key answers it.
func (e *exposure) outdate() {
	e.since, e.read = time.Time{}, time.Time{}
	e.view.offers, e.next.offers = offersNothing, offersNothing
}

// onScreen returns the view that is on the screen, or has just arrived.
func (e *exposure) onScreen(now time.Time) view {
	if !e.sent.IsZero() && e.next.part == e.view.part && now.Sub(e.sent) < promptly {
		return e.next
	}
	return e.view
}

// readIn returns how long a view that is on the screen since since must still stay; zero: it is not
// there.
func readIn(since, now time.Time) time.Duration {
	if since.IsZero() {
		return answerDelay
	}
	return max(answerDelay-now.Sub(since), 0)
}
