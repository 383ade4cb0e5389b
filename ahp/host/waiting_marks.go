package host

import (
	"time"

	"termhost/ahp"
)

// output records that there was output, or that the program has started. A running timer is left
// alone: checkQuiet sets it for the time that is left. The Term's lock is held.
func (w *waiting) output() {
	w.tellQuiet(w.Printed(w.t.host.now()))
	w.checkQuietIn(w.t.host.cfg().QuietAfter)
}

// settled is how long after the host's start the lookout has looked at a program.
const settled = 10 * time.Second

// resumeQuiet begins to watch a program that runs since before the host, which may have been quiet
// for long. The Term's lock is held.
func (w *waiting) resumeQuiet() {
	printed := w.LastPrinted()
	if printed.IsZero() {
		w.output()
		return
	}
	w.checkQuietIn(max(w.t.host.cfg().QuietAfter-w.t.host.now().Sub(printed), settled))
}

// checkQuietIn has checkQuiet called after d, unless it will be called anyway. The Term's lock is
// held.
func (w *waiting) checkQuietIn(d time.Duration) {
	if w.quietTimer == nil && w.t.host.cfg().QuietAfter > 0 && !w.t.life.exited {
		w.quietTimer = time.AfterFunc(d, w.checkQuiet)
	}
}

// checkQuiet sets the mark if the program has printed nothing for long. Only its owner can tell
// what runs in a client-executed terminal.
func (w *waiting) checkQuiet() {
	t := w.t
	t.term.Lock()
	defer t.term.Unlock()
	after := t.host.cfg().QuietAfter // it may have changed
	if t.life.exited || after <= 0 {
		w.stopQuietTimer()
		w.tellQuiet(w.EndQuiet())
		return
	}
	works := w.Works() && !t.approvals.unstarted() && (!t.Client() || t.commands.running != "")
	changed, next := w.CheckQuiet(t.host.now(), after, works)
	w.tellQuiet(changed)
	w.quietTimer.Reset(next)
}

func (w *waiting) stopQuietTimer() {
	if w.quietTimer != nil {
		w.quietTimer.Stop()
		w.quietTimer = nil
	}
}

// tellQuiet tells everybody whether the program is quiet, if that has changed.
func (w *waiting) tellQuiet(changed bool) {
	if !changed {
		return
	}
	t := w.t
	_, on := w.Quiet()
	t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Quiet = on })
	if on {
		t.emit(Event{Kind: EventQuiet})
		t.host.watchers.tell()
	}
	t.host.list.changed()
}

// lookForStop finds out whether the output is stopped, if somebody may have stopped it, and tells
// everybody. The Term's lock is held.
func (w *waiting) lookForStop() {
	if !w.MayBeStopped() {
		return
	}
	changed, tell := w.SeeStopped(w.t.term.Stopped())
	w.tellStopped(changed)
	if tell {
		by, _ := w.Stopped()
		w.t.keyboard.tell(nil, Note{Kind: NoteStopped, Who: by})
	}
}

// tellStopped shows whether the output is stopped, if that has changed.
func (w *waiting) tellStopped(changed bool) {
	if !changed {
		return
	}
	by, on := w.Stopped()
	if !on {
		by = ""
	}
	w.t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Stopped, m.StoppedBy = on, by })
	w.t.host.list.changed()
}

// StoppedText says that a terminal's output was stopped, by a user of that name; "": it is unknown
// by whom.
func StoppedText(by string) string {
	if by == "" {
		return "stopped by Ctrl-S"
	}
	return "stopped by Ctrl-S (" + Printable(by) + ")"
}

// Stopped says by whom the terminal's output was stopped; "": it was not.
func (t *Terminal) Stopped() string {
	t.term.Lock()
	defer t.term.Unlock()
	if by, on := t.waiting.Stopped(); on {
		return StoppedText(by)
	}
	return ""
}
