package viewer

import (
	"time"

	"termhost/ahp/host"
)

// A viewer switches terminals without a new connection. The input loop attaches to the other one,
// has the viewer's loop show that instead, and waits until it does. So all that the input loop does
// is about one terminal, and each key goes to the one that was shown when it was read. All else is
// as if the person had detached and attached again: the keyboard is handed back, the windows' sizes
// count anew, and the first program's terminal modes are reset before the second one's are set.

// showing is the state of the terminal that a viewer shows, all of which is replaced by a switch.
// The viewer's loop sets it while the input loop waits.
type showing struct {
	a    *host.Attach
	t    *host.Terminal
	over bool // the program had exited before the viewer attached
	away bool // after a switch: the terminal's end does not end the connection at once

	exited  bool // the program has
	settled bool // and what becomes of the viewer has been decided
}

// next is a terminal to switch to.
type next struct {
	showing
	first  []byte // draws it
	window Window // with which it was attached
	notice overlay
	shown  chan struct{} // closed when the viewer shows it
}

// goTo switches to t, and reports whether it has. text tells the person.
func (l *inputLoop) goTo(t *host.Terminal, text string) bool {
	w := l.w
	if t == w.t {
		w.say(notice("this is %s", w.s.called(t)))
		return true
	}
	_, over := t.Exit()
	o := host.AttachOptions{ReadOnly: w.readOnly, History: SwitchHistory,
		Keys: w.keys(), Later: w.s.Carries != nil && w.draws}
	window := w.s.Fit(&o)
	a, first, err := w.s.Conn.Attach(t, o)
	if err != nil {
		w.say(notice("%s: %s", w.s.called(t), w.s.explain(err)))
		return false
	}
	l.swap(&next{showing: showing{a: a, over: over}, first: first, window: window}, text)
	return true
}

// SwitchHistory is how many lines of a terminal's history a switch shows above it, for the person
// to scroll back to. They go over the network each time.
const SwitchHistory = 1000

// another makes a terminal and shows it.
func (l *inputLoop) another() {
	w := l.w
	if w.readOnly {
		w.say(notice("this attach is read-only"))
		return
	}
	o := w.s.CreateOptions()
	o.Transient = true
	o.Attach = &host.AttachOptions{Keys: w.keys()}
	window := w.s.Fit(o.Attach)
	if o.Attach.Below > 0 {
		o.Rows, o.Pixels = o.Attach.Rows, o.Attach.Pixels
	}
	made, err := w.s.Conn.Create(o)
	if err != nil {
		w.say(notice("%s", w.s.explain(err)))
		return
	}
	l.swap(&next{showing: showing{a: made.Attach}, first: made.First, window: window},
		w.s.called(made.Terminal))
}

// swap has the viewer's loop show n, and has what is typed go there. text says so to the person.
func (l *inputLoop) swap(n *next, text string) {
	from := l.w.t
	n.t, n.shown = n.a.Terminal(), make(chan struct{})
	n.away = l.w.o.Away || n.t != l.trail.home
	n.notice = l.arriving(n, text)
	l.w.post(event{kind: switchTo, next: n})
	select {
	case <-n.shown:
	case <-l.w.ctx.Done():
		n.a.Close()
		return
	}
	l.trail.last, l.modal, l.cut = from, false, nil
	l.to.end()
	l.giveTo(n.a)
	l.over = false
	l.w.setTheme()
	l.w.setAbilities()
}

// arriving says, besides text, what the person can do where the viewer is now.
func (l *inputLoop) arriving(n *next, text string) overlay {
	return l.w.s.arriving(n.a, n.over, text)
}

func (s *Session) arriving(a *host.Attach, over bool, text string) overlay {
	if s := s.entering(a); s != "" && !over {
		text += ": " + s
	}
	return notice("%s", text)
}

// swap shows n instead of what was shown before. It is the viewer's loop's part of a switch.
func (w *viewer) swap(n *next) error {
	if _, err := w.out.Write(w.leaving()); err != nil {
		return err
	}
	w.a.Close()
	w.mouse.pixels, w.noProgress = false, false
	w.showing = n.showing
	w.fit(n.window)
	w.overlay, w.waiting, w.helpAt, w.last = overlay{}, overlay{}, time.Time{}, time.Time{}
	w.printedAt = time.Time{}
	w.lines, w.place = laterLines{}, newPlacing(w.place.on)
	w.cover(n.notice)
	w.resize = w.resize || n.window != w.s.Window()
	w.enter()
	w.shows()
	w.ask()
	close(n.shown)
	return w.begin(n.first)
}

// goBack goes to the terminal that was shown before, or else to the connection's own, and reports
// whether there is one. text says why, before its NAME.
func (l *inputLoop) goBack(text string) bool {
	t := l.trail.back(l.w.t)
	return t != nil && l.goTo(t, text+l.w.s.called(t))
}
