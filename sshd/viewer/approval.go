package viewer

import (
	"sync"
	"time"

	"termhost/ahp/host"
)

// approval is the dialog in which a person decides what an agent may type. No key answers that was
// pressed before the person could read what it answers: the whole text must have been in view, at
// this size of the window, and the last drawing must have named the key. Until then keys are
// dropped: one that was meant for the dialog must not act in the program. Only a person who was
// typing when it appeared types on at the program, until the first pause.
type approval struct {
	a      *host.Attach // the viewer that shows it
	s      *Session
	front  stage
	typing *typing
	decide func(host.HeldInput, host.Decision) error
	say    func(overlay)    // shows a notice; not to be called by the loop
	later  func(ask string) // the person puts ask aside; the input loop calls it
	listed bool             // it belongs to a list, which shows no terminal to edit in
	pane   bool             // it is below that, and its keys are the list's
	now    func() time.Time
	window func() Window // the viewer's present window
	// after is time.AfterFunc.
	after func(time.Duration, func()) (stop func() bool)

	mu    sync.Mutex // a leaf
	is    host.HeldInput
	aside bool // the person has put it aside
	exposure
	top int         // the first row of the text to draw
	due *time.Timer // for the next change of the drawing

	// typesOn: the person was typing when the dialog appeared, and has not paused since; dropped is
	// when a key was last dropped.
	typesOn bool
	dropped time.Time
	// stray is when a meaningless key was last typed; press is a key that answers unless another
	// follows; nil: there is none.
	stray time.Time
	press *press
}

// newApproval returns a dialog about is, not shown yet.
func (w *viewer) newApproval(is host.HeldInput) *approval {
	d := newApproval(w.s, w.front, w.s.shownIn, is)
	a := w.a
	d.a, d.typing, d.say = a, &w.typing, w.say
	d.later = func(ask string) { w.typed.aside = ask }
	d.decide = func(is host.HeldInput, d host.Decision) error {
		_, err := w.s.Conn.Decide(a.Terminal(), a, is.Ask, d, "")
		return err
	}
	return d
}

// newApproval returns a dialog about is, in a window, that decides nothing yet.
func newApproval(s *Session, on stage, window func() Window, is host.HeldInput) *approval {
	return &approval{s: s, front: on, typing: &typing{}, now: time.Now, window: window,
		after: func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop },
		is:    is}
}

// stage is where a dialog is shown.
type stage interface {
	repaint()   // has it drawn anew; any goroutine may call it, with any lock held
	end(dialog) // removes it
}

// ask shows the questions for the viewer's person, and removes the decided ones. The loop calls it.
func (w *viewer) ask() {
	if !w.draws {
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
		w.dirty = true
	}
}

// news updates the same input, and reports whether the dialog is to be shown.
func (d *approval) news(is host.HeldInput) (shown bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.is.Does != is.Does || d.is.Warning != is.Warning { // the screen is out of date
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

// takesKeys reports whether the dialog is on the screen and keys do not go to the program.
func (d *approval) takesKeys() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.aside && d.view != view{} && !d.typesOn
}

// below says whether the dialog is below a list, or has the window.
func (d *approval) below(pane bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pane = pane
}

func (d *approval) inPane() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.pane
}
