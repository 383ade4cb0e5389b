package viewer

import "time"

// placing keeps up what the viewer's window is known to have got, so that it does not get that
// again if it comes back.
type placing struct {
	on      bool        // the peer can be asked
	due     time.Time   // when the peer is to be asked; zero: it has got all
	asked   time.Time   // when it was asked last
	reached chan uint64 // 1 deep: its answers
	at      uint64      // the place that the peer has confirmed
	known   bool
}

const (
	// placePause is how long after output the peer is asked whether it has got that.
	placePause = 250 * time.Millisecond
	// placeEvery is how often it is asked.
	placeEvery = 2 * time.Second
)

func newPlacing(on bool) placing { return placing{on: on, reached: make(chan uint64, 1)} }

// printed records that the viewer was written something.
func (p *placing) printed(now time.Time) {
	if p.on && p.due.IsZero() {
		p.due = now.Add(placePause)
		if next := p.asked.Add(placeEvery); next.After(p.due) {
			p.due = next
		}
	}
}

// confirm asks the peer whether it has got what was written, if that is due.
func (w *viewer) confirm(now time.Time) {
	p := &w.place
	if p.due.IsZero() || now.Before(p.due) {
		return
	}
	p.due, p.asked = time.Time{}, now
	if w.drawn && !w.status.shown() {
		return
	}
	at, ok := w.a.Place()
	if !ok {
		return
	}
	reached := p.reached
	w.s.Go("asking what has arrived", func() {
		if w.s.Carries(0) {
			select {
			case reached <- at:
			default:
			}
		}
	})
}

// confirmed takes an answer.
func (p *placing) confirmed(at uint64) { p.at, p.known = at, true }

// leaves remembers what the window has got when the view ends.
func (w *viewer) leaves(end Ending) {
	p := &w.place
	select {
	case at := <-p.reached:
		p.confirmed(at)
	default:
	}
	switch {
	case !p.on || w.lines.due:
	case end == Detached && (!w.drawn || w.status.shown()):
		if at, ok := w.a.Place(); ok {
			w.a.Leaves(at, true)
		}
	case end == Lost && p.known:
		w.a.Leaves(p.at, false)
	}
}
