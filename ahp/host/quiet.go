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

// stirQuiet notes output, or that the program has started. A timer that is set goes off too early
// then, and sets itself for what is left.
func (t *Terminal) stirQuiet() {
	q := &t.quiet
	q.printed = t.host.now()
	t.setQuiet(false)
	if after := t.host.cfg().QuietAfter; q.timer == nil && after > 0 && !t.exited {
		q.timer = time.AfterFunc(after, t.lookQuiet)
	}
}

// lookQuiet looks whether the program has printed nothing for long.
func (t *Terminal) lookQuiet() {
	t.term.Lock()
	defer t.term.Unlock()
	after := t.host.cfg().QuietAfter // it may have changed
	if t.exited || after <= 0 {
		t.endQuiet()
		return
	}
	left := after - t.host.now().Sub(t.quiet.printed)
	t.setQuiet(left <= 0 && t.works())
	if left <= 0 {
		left = after // what waits now may work later, in silence
	}
	t.quiet.timer.Reset(left)
}

// works reports whether a program runs of which output may be expected: no shell at its prompt, and
// none that waits for somebody. The Term's lock is held.
func (t *Terminal) works() bool {
	switch {
	case t.waits.shown != WaitingNone, t.lookout.atRest, t.unstarted():
		return false
	case t.Client(): // what runs there is known only if its owner tells
		return t.running != ""
	}
	return true
}

// setQuiet is the one place where the mark changes.
func (t *Terminal) setQuiet(on bool) {
	if t.quiet.on == on {
		return
	}
	t.quiet.on = on
	t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Quiet = on })
	if on {
		t.emit(Event{Kind: EventQuiet})
	}
	t.host.list.changed()
}

// endQuiet ends the looks.
func (t *Terminal) endQuiet() {
	if t.quiet.timer != nil {
		t.quiet.timer.Stop()
		t.quiet.timer = nil
	}
	t.setQuiet(false)
}
