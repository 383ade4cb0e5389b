package viewer

import (
	"sync"
	"time"

	"termhost/ahp/host"
)

// approval is the dialog in which a person decides about what an agent wants to type. No key
// answers that was pressed before the person could read all that it answers: the whole text has
// been in view, at this size of the window, and the last drawing has the key. Until then keys are
// dropped: one that was meant for the dialog must not act in the program. Only a person who was
// typing when it appeared goes on typing at the program, until the first pause.
type approval struct {
	a      *host.Attach
	s      *Session
	front  *front
	typing *typing
	say    func(overlay)    // shows a notice; the loop does not call it
	later  func(ask string) // the person decides about ask later; the input loop calls it
	now    func() time.Time
	window func() Window // what the viewer's window is now
	// after calls a function after a while, unless it is stopped before.
	after func(time.Duration, func()) (stop func() bool)

	mu    sync.Mutex // a leaf
	is    host.HeldInput
	aside bool // the person wants to decide later
	exposure
	top int         // the row of the text that is to be drawn first
	due *time.Timer // draws what changes with the time

	// typesOn: the person was typing when the dialog appeared, and has not paused since; dropped is
	// when a key was dropped last.
	typesOn bool
	dropped time.Time
	// stray is when a key was typed last that means nothing here; press is one that answers if no
	// other follows; nil: there is none.
	stray time.Time
	press *press
}

// newApproval returns the dialog about is, which is not shown yet.
func (w *viewer) newApproval(is host.HeldInput) *approval {
	return &approval{a: w.a, s: w.s, front: w.front, typing: &w.typing, say: w.say,
		later: func(ask string) { w.typed.aside = ask }, now: time.Now, window: w.s.Window,
		after: func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop },
		is:    is}
}

// ask shows what the viewer's person is to decide about, and takes away what is decided.
func (w *viewer) ask() {
	if !w.interactive {
		return
	}
	is, ok := w.a.Asking()
	if d := w.approval; d != nil && (!ok || d.is.Ask != is.Ask || d.a != w.a) {
		if d.a == w.a && d.takesKeys() {
			w.typing.answered()
		}
		w.front.end(d)
		w.approval = nil
	}
	switch d := w.approval; {
	case !ok:
	case d == nil:
		w.approval = w.newApproval(is)
		w.front.raise(w.approval)
	case !d.news(is):
	case w.front.raise(d): // another dialog was in the way
		d.leaves()
	default:
		w.front.repaint()
	}
}

// news keeps what is known now of the same input, and reports whether it is to be shown.
func (d *approval) news(is host.HeldInput) (shown bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.is.Does != is.Does || d.is.Warning != is.Warning { // what was on the screen is not true
		d.outdate()
	}
	d.is = is
	return !d.aside
}

// putAside puts the dialog aside until something else is asked, or takes it back.
func (d *approval) putAside(aside bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.aside = aside
}

// leaves records that the dialog is not on the screen.
func (d *approval) leaves() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.exposure = exposure{next: d.next, seen: d.seen}
	d.typesOn, d.press = false, nil
}

// takesKeys reports whether the dialog is on the screen and what is typed does not go to the
// program.
func (d *approval) takesKeys() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.aside && d.view != view{} && !d.typesOn
}
