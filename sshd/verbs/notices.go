package verbs

import (
	"errors"
	"fmt"
	"time"

	"termhost/ahp/host"
	"termhost/authz"
)

// noticeTime is how long a notice stays: about as long as it takes to read a line.
const noticeTime = 3 * time.Second

// refusalPause ends a burst of refused keys: the next refusal is shown again.
const refusalPause = 2 * time.Second

// notice returns a line that is shown for a while.
func notice(format string, args ...any) overlay {
	return overlay{
		lines: []string{"termhost: " + fmt.Sprintf(format, args...)},
		until: time.Now().Add(noticeTime),
	}
}

// longer has a notice stay for longer: it comes while its reader does something else.
func (o overlay) longer() overlay {
	o.until = o.until.Add(noticeTime)
	return o
}

// show has the viewer's loop show o.
func (l *inputLoop) show(o overlay) { l.w.post(event{kind: showOverlay, overlay: o}) }

// explain shows why a key was refused, once for a burst of keys.
func (l *inputLoop) explain(err error) {
	var denied *authz.Denied
	if !errors.As(err, &denied) {
		return
	}
	now := time.Now()
	burst := now.Sub(l.refused) < refusalPause
	l.refused = now
	if burst {
		return
	}
	text := denied.Rule
	var held *host.HeldError
	switch name, other := l.w.a.HeldByOther(); {
	case l.w.t.Piped(): // the holder cannot type either
	case l.w.t.Client():
		text = "observation-only: owned by " + host.Printable(name)
	case errors.As(err, &held):
		text = l.w.v.explain(held)
	case other:
		text = fmt.Sprintf("%s; %s holds %s", denied.Rule, host.Printable(name), l.w.t.Name())
	}
	l.show(notice("%s", text))
}

// tellTook says from whom a key has taken the keyboard, if it has.
func (l *inputLoop) tellTook() {
	if name := host.Printable(l.w.a.Took()); name != "" {
		l.show(notice("you took the keyboard from %s%s", name, l.w.v.handsBack()))
	}
}

// handsBack says how a keyboard is handed back.
func (r *Runner) handsBack() string {
	if r.Prefix == 0 {
		return ""
	}
	return "; " + r.key('r') + " hands it back"
}

// entering says what a viewer can do about a keyboard that another holds; "": there is none such.
func (r *Runner) entering(a *host.Attach) string {
	kind, name := a.Keyboard()
	name = host.Printable(name)
	switch {
	case kind == host.KeyboardTakes:
		return fmt.Sprintf("held by %s; your first key takes it", name)
	case kind == host.KeyboardAsks && r.Prefix != 0:
		return fmt.Sprintf("%s holds it; %s asks", name, r.key('a'))
	case kind == host.KeyboardAsks, kind == host.KeyboardWaits:
		return fmt.Sprintf("%s holds it; an admin can take it", name)
	}
	return ""
}

// noted says what became of the keyboard.
func (w *viewer) noted(n host.Note) overlay {
	who, to := host.Printable(n.Who), host.Printable(n.To)
	switch n.Kind {
	case host.NoteAsked:
		return w.asked(who, host.Printable(n.First)).longer()
	case host.NoteUnasked:
		return notice("%s does not ask for the keyboard any more", who)
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

// asked says that who asks for the keyboard, after first if that is another one.
func (w *viewer) asked(who, first string) overlay {
	switch {
	case w.v.Prefix == 0:
		return notice("%s asks for the keyboard", who)
	case who == first:
		return notice("%s asks for the keyboard: %s gives it", who, w.v.key('r'))
	}
	return notice("%s asks for the keyboard, too: %s gives it to %s", who, w.v.key('r'), first)
}
