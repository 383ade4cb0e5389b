package host

import (
	"errors"
	"strings"
	"syscall"

	"termhost/ptypool/foreground"
)

// recipient is the program that an ask is meant for: the one that would have read it when the agent
// asked.
type recipient struct {
	group int // its process group; 0: nobody knows
	name  string
}

// readerNow returns the process group that reads what is typed; 0: nobody knows. At the prompt of a
// shell that tells of its commands it is the shell's, also while a hook of the prompt runs. The
// Term's lock is held.
func (ap *approvals) readerNow() (group int) {
	t := ap.t
	line, err := t.term.Line()
	switch {
	case err != nil:
		return 0
	case ap.tells && t.commands.running == "":
		return t.term.Pid()
	}
	return line.Foreground
}

// meantFor returns what an agent that asks now means its text for. The Term's lock is held.
func (ap *approvals) meantFor() recipient {
	group := ap.readerNow()
	return recipient{group, Printable(foreground.Name(group))}
}

// warningOf returns what a person has to know about k beside its text. The Term's lock is held.
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

// text returns the program's name for people.
func (r recipient) text() string {
	if r.name == "" {
		return "another program"
	}
	return r.name
}

// joins returns which line k's text becomes a part of, if somebody else has typed half of one; "":
// nobody has. In a full-screen program there are no lines. The Term's lock is held.
func (ap *approvals) joins(k *heldInput) string {
	l, screen := &ap.t.waiting.lookout, ap.t.term.Screen()
	if !l.typed || l.typist == k.by || screen.AltScreen() {
		return ""
	}
	line := Printable(clip(strings.TrimSpace(screen.LineText())))
	if line == "" {
		return ""
	}
	return "it joins what is typed already: " + line
}

// warnsAnew notes what people have to know now about what is held. The Term's lock is held.
func (ap *approvals) warnsAnew() {
	changed := false
	for _, k := range ap.held {
		if now := ap.warningOf(k); k.warning != now {
			k.warning, changed = now, true
		}
	}
	if changed {
		ap.asksChanged()
	}
}
