package viewer

import "time"

// The lines above the screen follow it: see [host.AttachOptions.Later]. Until it is known how many
// of them the line carries, the screen is drawn as under something that lies over it.

// historyTime is for how long the lines above the screen may keep a slow line busy. The rest of
// them a person gets with `attach --history all`.
const historyTime = 2 * time.Second

// laterLines is the state of the lines above the screen. The loop uses it.
type laterLines struct {
	due      bool // the viewer gets them later
	begun    time.Time
	measured chan int // 1 deep: how many bytes the line carries
}

// unansweredLine is how long the lines above the screen wait for a peer that does not answer.
const unansweredLine = 5 * time.Second

// unmeasured, in bytes, is how much of them it gets then.
const unmeasured = 16 << 10

// awaitHistory has the lines above the screen follow when it is known what the line carries. The
// screen has been written.
func (w *viewer) awaitHistory() {
	size := w.a.HistoryDue()
	if size == 0 {
		w.tellKnown()
		return
	}
	w.lines.due, w.lines.begun = true, time.Now()
	w.drawn = true // by the first drawing, so that the next one is of what differs
	measured := make(chan int, 1)
	w.lines.measured = measured
	m := lineMeter{carries: w.s.Carries}
	w.s.Go("measuring the line", func() { measured <- m.within(historyTime, size) })
}

// historyOverdue returns when the lines above the screen are sent without an answer; zero: they are
// not due.
func (w *viewer) historyOverdue() time.Time {
	if !w.lines.due {
		return time.Time{}
	}
	return w.lines.begun.Add(unansweredLine)
}

// sendHistory has the next drawing bring as many lines above the screen as take so many bytes.
func (w *viewer) sendHistory(bytes int) {
	w.lines = laterLines{}
	lines, of := w.a.SendHistory(bytes)
	w.dirty, w.last = true, time.Time{}
	w.tellKnown()
	if lines < of {
		w.tellBeside("the last %d of %d lines above are here; `attach --history all` shows all",
			lines, of)
	}
}

// tellKnown says that the window has not got the lines again that it has.
func (w *viewer) tellKnown() {
	if n := w.a.KnownHistory(); n > 0 {
		w.tellBeside("this window should have the %d lines above; "+
			"`attach --history all` shows them again", n)
	}
}

// tellBeside shows a notice together with the one that is shown or waits.
func (w *viewer) tellBeside(format string, args ...any) {
	o := notice(format, args...).longer().kept()
	for _, with := range []overlay{w.waiting, w.overlay} {
		if with.timed() {
			o.lines = append(with.lines[:len(with.lines):len(with.lines)], o.lines...)
		}
	}
	w.cover(o)
}
