package host

import (
	"errors"
	"strings"
	"syscall"

	"termhost/ptypool/foreground"
)

// readerNow returns the process group that reads input now; 0: unknown. At the prompt of a shell
// that tells of its commands it is the shell's, even while a hook of the prompt runs. The Term's
// lock is held.
func (ap *approvals) readerNow() (group int) {
	t := ap.t
	line, err := t.term.Line()
	switch {
	case err != nil:
		return 0
	case ap.shellTells && t.commands.running == "":
		return t.term.Pid()
	}
	return line.Foreground
}

// meantFor returns the recipient of input that an agent types now. The Term's lock is held.
func (ap *approvals) meantFor() recipient {
	group := ap.readerNow()
	return recipient{group, Printable(foreground.Name(group))}
}

// warningOf returns the present warning about k for people; "": none. The Term's lock is held.
func (ap *approvals) warningOf(k *heldInput) string {
	now := ap.readerNow()
	switch {
	case k.starts != nil, k.question != nil, k.meant.group == 0, now == 0:
		return ""
	case now != k.meant.group && errors.Is(syscall.Kill(-k.meant.group, 0), syscall.ESRCH):
		return "it was meant for " + k.meant.text() + ", which has ended"
	case now != k.meant.group:
		return "it was meant for " + k.meant.text() + ", which does not read it now"
	}
	return ap.joins(k)
}

// text returns the recipient's name for people.
func (r recipient) text() string {
	if r.name == "" {
		return "another program"
	}
	return r.name
}

// joins returns a warning if k's text would continue a line that somebody else has begun; "": it
// would not. A full-screen program has no such lines. The Term's lock is held.
func (ap *approvals) joins(k *heldInput) string {
	screen := ap.t.term.Screen()
	typist, begun := ap.t.waiting.Typist()
	if !begun || typist == k.by || screen.AltScreen() {
		return ""
	}
	line := Printable(clip(strings.TrimSpace(screen.LineText())))
	if line == "" {
		return ""
	}
	return "it continues what is typed already: " + line
}

// updateWarnings brings the warnings about held inputs up to date. The Term's lock is held.
func (ap *approvals) updateWarnings() {
	changed := false
	for _, k := range ap.held {
		if now := ap.warningOf(k); k.warning != now {
			k.warning, changed = now, true
		}
	}
	if changed {
		ap.publishHeld()
	}
}
