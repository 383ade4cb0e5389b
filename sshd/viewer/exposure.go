package viewer

import "time"

const (
	// answerDelay is how long the whole of what is to be approved stands on the screen before a key
	// answers: nobody reads faster, so it was meant for something else. Every door keeps to it.
	answerDelay = 700 * time.Millisecond
	// promptly is how long a drawing may be on its way to the person, who may answer before the
	// host has seen it taken. A peer that takes longer does not read.
	promptly = 50 * time.Millisecond
)

// exposure is what of an approval the person could read so far.
type exposure struct {
	next view // what was drawn last
	view view // what is on the screen
	// sent is when next was given to the peer's connection; zero: it has been taken.
	sent time.Time
	// since is when what is on the screen came there, at the present size of the window, and read
	// since when all rows of the text have been in view; zero: they were not.
	since, read time.Time
	seen        []bool // which rows have been
}

// view is one drawing of an approval.
type view struct {
	full, part  Window // the viewer's window, and what of it nothing else covers
	first, last int    // the rows of the text that are in view: from first, up to last
	rows        int    // how many there are
	page        int    // how many fit
	offers      offer
}

// offer is what keys do, as a drawing of an approval says.
type offer int

const (
	offersNothing offer = iota // the window is too small
	offersEarly                // keys do not answer yet; see approval.typesOn
	offersReading              // not all of the text was in view: read on, refuse, or later
	offersAll
)

// arrive records that what was drawn last is on the screen now.
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
		e.seen = make([]bool, is.rows) // the rows are others
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

// outdate records that what is on the screen is not true any more: no key answers that.
func (e *exposure) outdate() {
	e.since, e.read = time.Time{}, time.Time{}
	e.view.offers, e.next.offers = offersNothing, offersNothing
}

// onScreen returns what is on the screen, or comes there now.
func (e *exposure) onScreen(now time.Time) view {
	if !e.sent.IsZero() && e.next.part == e.view.part && now.Sub(e.sent) < promptly {
		return e.next
	}
	return e.view
}

// readIn returns how long it takes until what has been on the screen since then has been there for
// long enough; zero: it is not there.
func readIn(since, now time.Time) time.Duration {
	if since.IsZero() {
		return answerDelay
	}
	return max(answerDelay-now.Sub(since), 0)
}
