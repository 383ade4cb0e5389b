package viewer

import (
	"cmp"
	"fmt"
	"time"

	"termhost/ahp/host"
	"termhost/sshd/wording"
)

// noticeTime is how long a notice is shown: about the time to read a line.
const noticeTime = 3 * time.Second

// noticeOf begins a notice, so that no program's text is taken for one.
const noticeOf = "termhost: "

// notice returns a line to be shown for noticeTime.
func notice(format string, args ...any) overlay {
	return overlay{
		lines: []string{noticeOf + fmt.Sprintf(format, args...)},
		lasts: noticeTime,
	}
}

// longer has a notice shown for longer: its reader is busy with something else.
func (o overlay) longer() overlay {
	o.lasts += noticeTime
	return o
}

// kept has a notice shown for its whole time, whatever happens to the keyboard: it will not be
// repeated.
func (o overlay) kept() overlay {
	o.keeps = true
	return o
}

// welcome shows the first notice, and the terminals that need attention.
func (w *viewer) welcome() {
	if lines := w.greeting(); lines != nil {
		w.cover(overlay{lines: lines, lasts: 2 * noticeTime, greeting: true, fresh: !w.o.Came})
	}
}

// greeting returns the lines of a welcome; nil: there is nothing to say.
func (w *viewer) greeting() (lines []string) {
	for _, text := range w.o.Unheeded {
		lines = append(lines, noticeOf+text)
	}
	if !w.o.Greet {
		return lines
	}
	text := w.o.Greeting
	if text == "" && w.o.Came && !w.over {
		text = cmp.Or(awayText(w.a), w.s.entering(w.a))
	}
	if w.o.First {
		lines = append(lines, noticeOf+w.s.inside())
	}
	for _, s := range []string{text, w.t.Stopped(), w.s.wantedText()} {
		if s != "" {
			lines = append(lines, noticeOf+s)
		}
	}
	return lines
}

// inside tells a person where they are.
func (s *Session) inside() string {
	const where = "you are inside a termhost terminal; "
	if s.Prefix == 0 {
		return where + "`exit` ends it"
	}
	return where + s.key('?') + " helps"
}

// tellTook says from whom a key has taken the keyboard, if from anybody.
func (l *inputLoop) tellTook() {
	if name := host.Printable(l.w.a.Took()); name != "" {
		o := notice("you took the keyboard from %s%s", name, l.w.s.handsBack())
		o.took = true
		l.w.say(o)
	}
}

// coverNoted shows the notice of a note, unless it is that another has the keyboard, whom this
// viewer has taken it from since: what it says of its own keys comes another way, and may be shown.
func (w *viewer) coverNoted(n host.Note) {
	if n.Kind == host.NoteHas && !n.Yours {
		if _, other := w.a.HeldByOther(); !other {
			return
		}
	}
	w.cover(w.noted(n))
}

// coverSaid shows o, unless it is that this viewer has taken the keyboard, which another has taken
// since: the note of that may be shown.
func (w *viewer) coverSaid(o overlay) {
	if o.took {
		if _, other := w.a.HeldByOther(); other {
			return
		}
	}
	w.cover(o)
}

// handsBack says how to hand the keyboard back.
func (s *Session) handsBack() string {
	if s.Prefix == 0 {
		return ""
	}
	return "; " + s.key('r') + " hands it back"
}

// entering says what a viewer can do if another holds the keyboard; "": nobody does.
func (s *Session) entering(a *host.Attach) string {
	kind, name := a.Keyboard()
	name = host.Printable(name)
	switch {
	case kind == host.KeyboardTakes:
		return fmt.Sprintf("%s has the keyboard; your first key takes it", name)
	case kind == host.KeyboardAsks && s.Prefix != 0:
		return fmt.Sprintf("%s has the keyboard; %s asks for it", name, s.key('a'))
	case kind == host.KeyboardAsks, kind == host.KeyboardWaits:
		return fmt.Sprintf("%s has the keyboard; an admin can take it", name)
	}
	return ""
}

// noted returns the notice of a change of the keyboard, or of an ask.
func (w *viewer) noted(n host.Note) overlay {
	who, to := host.Printable(n.Who), host.Printable(n.To)
	switch n.Kind {
	case host.NoteAsked:
		return w.asked(who, host.Printable(n.First)).longer()
	case host.NoteUnasked:
		return notice("%s no longer asks for the keyboard", who)
	case host.NoteAway:
		return notice("%s", awayText(w.a)).longer()
	case host.NoteControlMode:
		return notice("tmux -CC is for iTerm2 alone: Enter ends it; " +
			"start tmux without -CC").longer()
	case host.NoteStopped:
		return notice("%s: Ctrl-Q goes on", host.StoppedText(n.Who)).longer()
	case host.NoteZmodem:
		return notice("Zmodem does not work here: " +
			"copy files with scp, sftp or termhost's drop").longer()
	case host.NoteBack:
		return notice("%s, whose program this is, is back", who)
	}
	if n.Agent != "" {
		return approvalNote(n)
	}
	has := to + " has the keyboard"
	if n.Yours {
		has = "you have the keyboard"
	}
	switch n.Kind {
	case host.NoteHas:
		return notice("%s", has)
	case host.NoteHandedBack:
		if !n.Yours {
			return notice("handed back to %s", to)
		}
	}
	has += " again"
	switch {
	case n.Kind == host.NoteLeft:
		return notice("%s has left: %s", who, has)
	case n.Kind == host.NoteIdle && n.Mine:
		return notice("you typed nothing for a while: %s", has)
	case n.Kind == host.NoteIdle:
		return notice("%s typed nothing for a while: %s", who, has)
	case n.Yours:
		return notice("%s gave you the keyboard", who)
	case n.Mine:
		return notice("you gave %s the keyboard", to)
	}
	return notice("%s gave %s the keyboard", who, to)
}

// approvalNote returns the notice of a decision about an ask.
func approvalNote(n host.Note) overlay {
	who, agent := host.Printable(n.Who), host.Printable(n.Agent)
	switch n.Kind {
	case host.NoteApproved:
		return notice("%s let %s type", who, agent)
	case host.NoteRefused:
		return notice("%s refused what %s wanted to type", who, agent)
	case host.NoteEdited:
		return notice("%s edits what %s wanted to type", who, agent)
	case host.NoteUntyped:
		return notice("what %s had typed was not read and is dropped: %s", agent,
			host.Printable(n.Why)).longer()
	case host.NoteTrustOver:
		return notice("the yes to all of %s is over: %s", agent, host.Printable(n.Why)).longer()
	}
	return notice("%s no longer asks: %s", agent, host.Printable(n.Why))
}

// awayText says since when the owner of a terminal is away; "": it is not.
func awayText(a *host.Attach) string {
	since := a.Terminal().AwaySince()
	if since.IsZero() {
		return ""
	}
	owner, _ := a.Holder()
	return fmt.Sprintf("%s, whose program this is, is away since %s", owner,
		wording.Clock(since))
}

// asked returns the notice that who, queued behind first, asks for the keyboard.
func (w *viewer) asked(who, first string) overlay {
	switch {
	case w.s.Prefix == 0:
		return notice("%s asks for the keyboard", who)
	case who == first:
		return notice("%s asks for the keyboard: %s gives it", who, w.s.key('r'))
	}
	return notice("%s asks for the keyboard, too: %s gives it to %s", who, w.s.key('r'), first)
}
