package host

import (
	"time"

	"termhost/ahp"
)

// noteOutput records that there was output, or that the program has started. A running timer is
// left alone: checkQuiet sets it for the time that is left.
func (w *waiting) noteOutput() {
	t := w.t
	q := &w.quiet
	q.printed = t.host.now()
	w.setQuiet(false)
	if after := t.host.cfg().QuietAfter; q.timer == nil && after > 0 && !t.life.exited {
		q.timer = time.AfterFunc(after, w.checkQuiet)
	}
}

// settled is how long after the host's start the lookout has looked at a program.
const settled = 10 * time.Second

// resumeQuiet begins to watch a program that runs since before the host, which may have been quiet
// for long.
func (w *waiting) resumeQuiet() {
	t := w.t
	q := &w.quiet
	if q.printed.IsZero() {
		w.noteOutput()
		return
	}
	if after := t.host.cfg().QuietAfter; q.timer == nil && after > 0 && !t.life.exited {
		q.timer = time.AfterFunc(max(after-t.host.now().Sub(q.printed), settled), w.checkQuiet)
	}
}

// checkQuiet sets the mark if the program has printed nothing for long.
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
		left = after // a program that waits now may work later
	}
	w.quiet.timer.Reset(left)
}

// works reports whether output may be expected: the program is no shell at its prompt, and waits
// for nobody. The Term's lock is held.
func (w *waiting) works() bool {
	t := w.t
	switch {
	case w.needs.shown != WaitingNone, w.lookout.atRest, t.approvals.unstarted():
		return false
	case t.Client(): // only its owner can tell what runs there
		return t.commands.running != ""
	}
	return true
}

// setQuiet sets or removes the mark, and tells everybody.
func (w *waiting) setQuiet(on bool) {
	t := w.t
	if w.quiet.on == on {
		return
	}
	w.quiet.on = on
	t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Quiet = on })
	if on {
		w.quiet.since = w.quiet.printed.Add(t.host.cfg().QuietAfter)
		t.emit(Event{Kind: EventQuiet})
		t.host.watchers.tell()
	}
	t.host.list.changed()
}

// endQuiet removes the mark and stops the timer.
func (w *waiting) endQuiet() {
	if w.quiet.timer != nil {
		w.quiet.timer.Stop()
		w.quiet.timer = nil
	}
	w.setQuiet(false)
}
