package host

import (
	"bytes"

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

// waits is what a terminal waits for. [Terminal.setWaits] changes it.
type waits struct {
	program  Waiting // what the program waits for: input, a secret or nothing
	approval bool    // something that an agent wants to type is held back
	shown    Waiting // what listings have
	unsure   bool    // something was typed since the program was looked at
	// changed is closed, and replaced, with every change of what is above; nil: nobody is
	// interested yet.
	changed chan struct{}
}

// setWaits is the one place where what a terminal waits for changes. by is the name of whoever
// answered; "": nobody did, or it waits for something now. The Term's lock is held.
func (t *Terminal) setWaits(change func(*waits), by string) {
	w := &t.waits
	was := *w
	change(w)
	if w.shown = w.program; w.approval {
		w.shown = WaitingApproval
	}
	if w.program != was.program {
		t.programWaits(was.program, w.program, by)
	}
	if w.shown != was.shown {
		t.waitingChanged(w.shown)
	}
	if *w != was && w.changed != nil {
		close(w.changed)
		w.changed = nil
	}
}

// programWaits tells that the program waits for something else now, whether or not something is
// held back meanwhile. by is the name of whoever answered what it waited for; "": nobody did. The
// Term's lock is held.
func (t *Terminal) programWaits(was, now Waiting, by string) {
	if by != "" && was != WaitingNone {
		t.emit(Event{Kind: EventAnswered, By: by, Waiting: was})
	}
	if now != WaitingNone {
		t.emit(Event{Kind: EventWaits, Waiting: now})
	}
}

// waitingChanged tells all who want to know that the terminal waits for something else now. The
// Term's lock is held.
func (t *Terminal) waitingChanged(now Waiting) {
	if now != WaitingNone {
		t.sights.waits = t.host.now()
	}
	t.host.people.tell()
	t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Waiting = string(now) })
	t.host.list.changed()
}

// waitsChange returns a channel that is closed with the next change of t.waits. The Term's lock is
// held.
func (t *Terminal) waitsChange() <-chan struct{} {
	if t.waits.changed == nil {
		t.waits.changed = make(chan struct{})
	}
	return t.waits.changed
}

// typeIn is the one way by which what somebody types reaches the program. Enter, and the end of
// input or of the program, answer what it waits for. It fails as [executor].input does, and
// with errSecret. The Term's lock is held.
func (t *Terminal) typeIn(s step, p []byte) error {
	if err := t.refusesSecret(s, p); err != nil {
		return err
	}
	who, how := s.name(), typesNow
	if t.holds(s) {
		how = typesShown
		if breaksOff(p) {
			t.dropForSecret() // it must not wait for what is not to be typed
		}
	}
	if t.binds(s, p) {
		how = typesBound
		t.bind(s)
	}
	if err := t.exec.input(p, how); err != nil {
		return err
	}
	if how != typesNow {
		t.typesAhead(who)
	}
	t.typist.typed(who, p, t.running != "")
	t.lookout.typedBy(who, p)
	t.stir()
	t.setWaits(func(w *waits) {
		w.unsure = true
		if bytes.ContainsAny(p, answers) {
			w.program = WaitingNone
		}
	}, who)
	return nil
}

// answers are what ends a line, the input or the program: Enter, ctrl-C and ctrl-D.
const answers = "\r\n\x03\x04"
