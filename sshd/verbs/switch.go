package verbs

import (
	"fmt"
	"time"

	"termhost/ahp/host"
	"termhost/ptypool/keyboard"
)

// A viewer goes from one terminal to another without a new connection. The input loop attaches to
// the other one, has the viewer's loop show that instead, and waits until it does. So whatever the
// input loop does is about one terminal, and each key goes to the one that was shown when it was
// read. All else is as if the person had detached and attached again: the keyboard that was taken
// goes back, windows count anew, and the person's terminal is left by one program before another
// has it.

// showing is what a viewer has of the terminal that it shows, all of which is replaced when it goes
// to another one. The viewer's loop sets it while the input loop waits.
type showing struct {
	a    *host.Attach
	t    *host.Terminal
	over bool // the program had exited when the viewer came to the terminal
	away bool // the viewer came from another terminal: its end is not that of the connection

	exited  bool // the program has
	settled bool // and what becomes of the viewer has been decided
}

// next is a terminal to go to.
type next struct {
	showing
	first  []byte // what shows it
	window Window // that it was attached with
	notice overlay
	shown  chan struct{} // closed when the viewer shows it
}

// goTo shows t, and reports whether it does. text says so to the person.
func (l *inputLoop) goTo(t *host.Terminal, text string) bool {
	w := l.w
	if t == w.t {
		l.show(notice("this is %s", t.Name()))
		return true
	}
	_, over := t.Exit()
	window := w.v.Window()
	a, first, err := w.v.Conn.Attach(t, host.AttachOptions{ReadOnly: w.readOnly,
		Cols: window.Cols, Rows: window.Rows, History: switchHistory})
	if err != nil {
		l.show(notice("%s: %s", t.Name(), w.v.explain(err)))
		return false
	}
	l.swap(&next{showing: showing{a: a, over: over}, first: first, window: window}, text)
	return true
}

// switchHistory is how many lines of a terminal's history are shown above it when a viewer comes to
// it from another one: what a person scrolls back to see what has happened. It goes over the
// network each time.
const switchHistory = 1000

// another makes a terminal and shows it.
func (l *inputLoop) another() {
	w := l.w
	if w.readOnly {
		l.show(notice("this attach is read-only"))
		return
	}
	window := w.v.Window()
	o := w.v.createOptions()
	o.Transient = true
	a, first, err := w.v.Conn.CreateAttached(o, w.v.attachOptions())
	if err != nil {
		l.show(notice("%s", w.v.explain(err)))
		return
	}
	l.swap(&next{showing: showing{a: a}, first: first, window: window}, a.Terminal().Name())
}

// swap has the viewer's loop show n, and has what is typed go there. text says so to the person.
func (l *inputLoop) swap(n *next, text string) {
	from := l.w.t
	n.t, n.away, n.shown = n.a.Terminal(), n.a.Terminal() != l.home, make(chan struct{})
	n.notice = l.w.arriving(n, text)
	l.w.post(event{kind: switchTo, next: n})
	select {
	case <-n.shown:
	case <-l.w.v.ctx.Done():
		n.a.Close()
		return
	}
	l.last, l.modal, l.cut = from, false, nil
	l.to.end()
	l.to = l.w.v.newDelivery(n.a)
	if l.theme != nil {
		n.a.SetTheme(l.theme[0], l.theme[1], l.theme[2])
	}
}

// arriving says, besides text, what the person can do where the viewer is now.
func (w *viewer) arriving(n *next, text string) overlay {
	if s := w.v.entering(n.a); s != "" && !n.over {
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
	w.showing, w.window = n.showing, n.window
	w.overlay, w.helpAt, w.last = n.notice, time.Time{}, time.Time{}
	w.resize = w.resize || n.window != w.v.Window()
	w.enter()
	w.ask()
	close(n.shown)
	return w.begin(n.first)
}

// back goes to the terminal that was shown before, or else to the connection's own. It reports
// whether there is one.
func (l *inputLoop) back(before string) bool {
	for _, t := range []*host.Terminal{l.last, l.home} {
		if t != nil && t != l.w.t && !hasEnded(t) {
			return l.goTo(t, before+t.Name())
		}
	}
	return false
}

// hasEnded reports whether there is nothing more to do at t.
func hasEnded(t *host.Terminal) bool {
	_, over := t.Exit()
	return over
}

// ended is the viewer's loop's: the program of a terminal that the viewer came to has exited, and
// all of its output is shown. A terminal of the person's own ends like a shell. One that somebody
// has removed cannot be shown any longer. Any other is looked at for as long as the person wants.
func (w *viewer) ended() {
	if w.t.EndedBy() == "" && !w.a.Fleeting() {
		w.open(&epilogue{w: w}) // what is typed goes nowhere else
		return
	}
	text := ""
	if w.t.EndedBy() != "" {
		text = w.howItEnded() + "; "
	}
	w.goBack(text)
}

// goBack leaves a terminal that has ended, or ends the connection if there is no other one. Both
// loops may call it.
func (w *viewer) goBack(before string) {
	from := w.t
	w.v.Go("going back", func() {
		l := w.typed
		l.input.Lock()
		defer l.input.Unlock()
		if w.t != from || l.leaving {
			return // the person was faster
		}
		if !l.back(before) {
			w.post(event{kind: nothingLeft})
		}
	})
}

// epilogue is the dialog at a terminal that has ended.
type epilogue struct{ w *viewer }

func (e *epilogue) draw(Window) overlay {
	return overlay{lines: []string{fmt.Sprintf("termhost: %s. Enter goes back, %s lists all.",
		e.w.howItEnded(), e.w.v.key('l'))}}
}

func (e *epilogue) key(k keyboard.Key) verdict {
	switch k.Code {
	case keyboard.Enter, keyboard.Escape, 'q':
		e.w.goBack("")
	}
	return dialogStays
}
