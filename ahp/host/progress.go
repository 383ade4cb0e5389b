package host

import (
	"termhost/ahp"
	"termhost/ptypool"
	"termhost/ptypool/vt"
)

// progress is what the terminal's program says of its progress, as listings have it. The Term's
// lock guards it.
type progress struct {
	is vt.Progress
	// by is the process group that was in the foreground when it was first said; 0: unknown.
	by int
}

// progressStates are the names of the kinds of progress in listings and in AHP.
var progressStates = [...]string{
	vt.ProgressNormal: "normal", vt.ProgressError: "error",
	vt.ProgressIndeterminate: "indeterminate", vt.ProgressPaused: "paused",
}

// noteProgress shows in the terminal's state and in listings what the program says of its progress
// now. The Term's lock is held.
func (t *Terminal) noteProgress() {
	p := t.term.Screen().Progress()
	was := t.progress.is
	if p == was || t.kept.replay != nil {
		return
	}
	if t.progress.is = p; was.State == vt.ProgressNone {
		line, _ := t.term.Line() // without a terminal: none
		t.progress.by = line.Foreground
	}
	now := ahp.Progress{State: progressStates[p.State], Percent: p.Percent}
	t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Progress = now })
	t.host.list.changed()
}

// endProgress ends the progress of a job that is not in the foreground any more: a shell that
// reports no commands does not say that the job has ended. The shell itself may go on with what it
// has said while jobs come and go. Nothing is put into the output, which the log would not have:
// viewers are told. The Term's lock is held.
func (t *Terminal) endProgress(line ptypool.Line) {
	switch p := &t.progress; {
	case p.is.State == vt.ProgressNone, p.by == 0, p.by == t.term.Pid(),
		line.Foreground == 0, line.Foreground == p.by:
		return
	}
	t.term.Screen().EndProgress(nil)
	t.noteProgress()
	for _, a := range t.viewers.open {
		a.progressOver = true
		a.sub.Wake()
	}
}

// ProgressOver reports, once, whether the progress that the viewer's terminal may show has ended
// without output that says so.
func (a *Attach) ProgressOver() (over bool) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	over = a.progressOver && a.t.term.Screen().Progress() == (vt.Progress{})
	a.progressOver = false
	return over
}
