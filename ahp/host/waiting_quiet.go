package host

import (
	"time"

	"termhost/ahp"
)

// quiet is whether a program that runs has printed nothing for quiet_after. It is guarded by the
// Term's lock.
type quiet struct {
	on      bool
	printed time.Time   // when there was output last
	timer   *time.Timer // of the next look; nil: there was no output yet
}

// noteOutput notes output, or that the program has started. A timer that is set goes off too early
// then, and sets itself for what is left.
func (w *waiting) noteOutput() {
	t := w.t
	q := &w.quiet
	q.printed = t.host.now()
	w.setQuiet(false)
	if after := t.host.cfg().QuietAfter; q.timer == nil && after > 0 && !t.life.exited {
		q.timer = time.AfterFunc(after, w.checkQuiet)
	}
}

// checkQuiet looks whether the program has printed nothing for long.
func (w *waiting) checkQuiet() {
	t := w.t
	t.term.Lock()
	defer t.term.Unlock()
	after := t.host.cfg().QuietAfter // it may have changed
	if t.life.exited || after <= 0 {
		w.endQuiet()
		return
	}
	left := after - t.host.now().Sub(w.quiet.printed)
	w.setQuiet(left <= 0 && w.works())
	if left <= 0 {
		left = after // what waits now may work later, in silence
	}
	w.quiet.timer.Reset(left)
}

// works reports whether a program runs of which output may be expected: no shell at its prompt, and
// none that waits for somebody. The Term's lock is held.
func (w *waiting) works() bool {
	t := w.t
	switch {
	case w.needs.shown != WaitingNone, w.lookout.atRest, t.approvals.unstarted():
		return false
	case t.Client(): // what runs there is known only if its owner tells
		return t.commands.running != ""
	}
	return true
}

// setQuiet is the one place where the mark changes.
func (w *waiting) setQuiet(on bool) {
	t := w.t
	if w.quiet.on == on {
		return
	}
	w.quiet.on = on
	t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Quiet = on })
	if on {
		t.emit(Event{Kind: EventQuiet})
	}
	t.host.list.changed()
}

// endQuiet ends the looks.
func (w *waiting) endQuiet() {
	if w.quiet.timer != nil {
		w.quiet.timer.Stop()
		w.quiet.timer = nil
	}
	w.setQuiet(false)
}
