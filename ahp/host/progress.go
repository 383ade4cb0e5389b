package host

import (
	"termhost/ahp"
	"termhost/ptypool/vt"
)

// progressStates are the names of the kinds of progress in listings and in AHP.
var progressStates = [...]string{
	vt.ProgressNormal: "normal", vt.ProgressError: "error",
	vt.ProgressIndeterminate: "indeterminate", vt.ProgressPaused: "paused",
}

// noteProgress shows in the terminal's state and in listings what the program says of its progress
// now. The Term's lock is held.
func (t *Terminal) noteProgress() {
	p := t.term.Screen().Progress()
	if p == t.progress || t.kept.replay != nil {
		return
	}
	t.progress = p
	now := ahp.Progress{State: progressStates[p.State], Percent: p.Percent}
	t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Progress = now })
	t.host.list.changed()
}
