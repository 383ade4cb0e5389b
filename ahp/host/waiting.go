package host

import (
	"termhost/ahp"
)

// Waiting is what a person has to do for a terminal to go on.
type Waiting string

// What a terminal waits for. An approval comes before what the program waits for: it is what has to
// be answered first.
const (
	WaitingNone     Waiting = ""
	WaitingInput    Waiting = "input"    // the program reads what is typed
	WaitingSecret   Waiting = "secret"   // the same, and what is typed is not shown
	WaitingApproval Waiting = "approval" // what an agent wants to type is held back
)

// waiting is what a terminal waits for, and who waits for it. It is guarded by the Term's lock.
type waiting struct {
	t        *Terminal
	needs    needs
	lookout  lookout   // finds out what the program waits for
	quiet    quiet     // that the program prints nothing
	waitlist *waitlist // of those who wait for output; nil: nobody does
}

// needs is what has to be done for a terminal to go on. [waiting.set] changes it.
type needs struct {
	program  Waiting // what the program waits for: input, a secret or nothing
	approval bool    // something that an agent wants to type is held back
	shown    Waiting // what listings have
	unsure   bool    // something was typed since the program was looked at
	// changed is closed, and replaced, with every change of what is above; nil: nobody is
	// interested yet.
	changed chan struct{}
}

// set is the one place where what a terminal waits for changes. by is the name of whoever
// answered; "": nobody did, or it waits for something now. The Term's lock is held.
func (w *waiting) set(change func(*needs), by string) {
	n := &w.needs
	was := *n
	change(n)
	if n.shown = n.program; n.approval {
		n.shown = WaitingApproval
	}
	if n.program != was.program {
		w.tell(was.program, n.program, by)
	}
	if n.shown != was.shown {
		w.publish(n.shown)
	}
	if *n != was && n.changed != nil {
		close(n.changed)
		n.changed = nil
	}
}

// tell tells that the program waits for something else now, whether or not something is
// held back meanwhile. by is the name of whoever answered what it waited for; "": nobody did. The
// Term's lock is held.
func (w *waiting) tell(was, now Waiting, by string) {
	if by != "" && was != WaitingNone {
		w.t.emit(Event{Kind: EventAnswered, By: by, Waiting: was})
	}
	if now != WaitingNone {
		w.t.emit(Event{Kind: EventWaits, Waiting: now})
	}
}

// publish tells all who want to know that the terminal waits for something else now. The
// Term's lock is held.
func (w *waiting) publish(now Waiting) {
	t := w.t
	if now != WaitingNone {
		t.attention.waits = t.host.now()
	}
	t.host.watchers.tell()
	t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Waiting = string(now) })
	t.host.list.changed()
}

// changes returns a channel that is closed with the next change of t.waits. The Term's lock is
// held.
func (w *waiting) changes() <-chan struct{} {
	if w.needs.changed == nil {
		w.needs.changed = make(chan struct{})
	}
	return w.needs.changed
}

// answers are what ends a line, the input or the program: Enter, ctrl-C and ctrl-D.
const answers = "\r\n\x03\x04"
