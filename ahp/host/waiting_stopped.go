package host

import (
	"bytes"

	"termhost/ahp"
)

// stopped is whether somebody has stopped a terminal's output with ctrl-S (IXON of termios(3)): it
// looks as if the program hung, and what is typed shows nothing. The Term's lock guards it.
type stopped struct {
	may  bool   // the lookout has to find out
	on   bool   // it has found the output stopped
	by   string // who has typed ctrl-S; "": unknown
	told bool   // viewers know, and nobody has typed since
}

// noteStopKeys records that user typed p, which may stop the output.
func (w *waiting) noteStopKeys(user string, p []byte) {
	s := &w.stopped
	s.told = false
	if !bytes.ContainsFunc(p, func(r rune) bool { return r < ' ' }) {
		return
	}
	stop, start := w.t.term.StopKeys()
	if i := bytes.LastIndexByte(p, stop); stop != 0 && i >= 0 &&
		bytes.IndexByte(p[i:], start) < 0 {
		s.may, s.by = true, user
	}
}

// goesOn reports whether p lets stopped output go on. It must not wait until the program reads:
// that waits for it to go on.
func (w *waiting) goesOn(p []byte) bool {
	_, start := w.t.term.StopKeys()
	return w.stopped.on && start != 0 && len(p) == 1 && p[0] == start
}

// noteStopped finds out whether the output is stopped, if somebody may have stopped it, and tells
// everybody. Those who look are told again when somebody has typed meanwhile: it is not shown. The
// Term's lock is held.
func (w *waiting) noteStopped() {
	s, l := &w.stopped, &w.lookout
	if !s.may {
		return
	}
	on := w.t.term.Stopped()
	s.may = on || l.seen != l.signs || l.looks < 2 // the key may not have arrived yet
	w.setStopped(on)
	if on && !s.told {
		s.told = true
		w.t.keyboard.tell(nil, Note{Kind: NoteStopped, Who: s.by})
	}
}

// setStopped sets or removes the mark.
func (w *waiting) setStopped(on bool) {
	s := &w.stopped
	if on == s.on {
		return
	}
	s.on = on
	by := ""
	if on {
		by = s.by
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
	if s := &t.waiting.stopped; s.on {
		return StoppedText(s.by)
	}
	return ""
}
