package host

import (
	"strings"
	"time"

	"termhost/ahp"
	"termhost/ptypool"
	"termhost/ptypool/foreground"
)

// Waiting is what a terminal waits for a person to do.
type Waiting string

// What a terminal waits for. An approval comes before what the program waits for, because it has to
// be answered first.
const (
	WaitingNone     Waiting = ""
	WaitingInput    Waiting = "input"    // the program reads what is typed
	WaitingSecret   Waiting = "secret"   // the same, and what is typed is not shown
	WaitingApproval Waiting = "approval" // what an agent wants to type is held back
)

// waiting is what a terminal waits for, and who waits for the terminal. The Term's lock guards it.
type waiting struct {
	t        *Terminal
	needs    needs
	lookout  lookout   // finds out what the program waits for
	quiet    quiet     // whether the program prints nothing
	waitlist *waitlist // those who wait for output; nil: nobody does
}

// needs is what somebody has to do before a terminal goes on. Only [waiting.set] changes it.
type needs struct {
	program  Waiting // what the program waits for: input, a secret or nothing
	approval bool    // something that an agent wants to type is held back
	shown    Waiting // in listings
	unsure   bool    // somebody has typed since the lookout looked last
	// changed is closed when one of these changes; nil: nobody waits for a change.
	changed chan struct{}
}

// lookout finds out whether the program of a terminal waits for somebody to type. Its fields are
// guarded by the Term's lock.
type lookout struct {
	timer  *time.Timer // of the next look, if it is armed; nil: there was no activity yet
	armed  bool
	due    time.Time // when the timer fires
	signs  int       // of activity, so far
	seen   int       // of these, at the last look
	last   time.Time // of the last sign
	looks  int       // since then
	atRest bool      // the last look found a shell at its prompt, or a full-screen program
	asked  string    // the text before the cursor when the last look found a question; "": none
	typed  bool      // a line was begun and not ended
	typist string    // who typed last
}

// quiet is whether a program that works has printed nothing for quiet_after. The Term's lock guards
// it.
type quiet struct {
	on      bool
	printed time.Time   // the time of the last output
	timer   *time.Timer // calls checkQuiet; nil: there was no output yet
}

// set changes what the terminal waits for, and tells everybody. by is the name of the user who
// answered; "": nobody did. The Term's lock is held.
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

// tell emits the events of a program that waits for something else now. by is the name of the user
// who answered it; "": nobody did. The Term's lock is held.
func (w *waiting) tell(was, now Waiting, by string) {
	if by != "" && was != WaitingNone {
		w.t.emit(Event{Kind: EventAnswered, By: by, Waiting: was})
	}
	if now != WaitingNone {
		w.t.emit(Event{Kind: EventWaits, Waiting: now})
	}
}

// publish shows what the terminal waits for now in its state and in listings, and calls those whom
// it wants. The Term's lock is held.
func (w *waiting) publish(now Waiting) {
	t := w.t
	if now != WaitingNone {
		t.attention.waits = t.host.now()
	}
	t.host.watchers.tell()
	t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Waiting = string(now) })
	t.host.list.changed()
}

// changes returns a channel that is closed with the next change of needs. The Term's lock is held.
func (w *waiting) changes() <-chan struct{} {
	if w.needs.changed == nil {
		w.needs.changed = make(chan struct{})
	}
	return w.needs.changed
}

// answers are the keys that end a line, the program or the input: Enter, ctrl-C and ctrl-D.
const answers = "\r\n\x03\x04"

// foregroundLocked returns what [foreground.Look] has to know of the terminal.
func (w *waiting) foregroundLocked(line ptypool.Line) foreground.Terminal {
	t := w.t
	screen := t.term.Screen()
	at := foreground.Terminal{
		Leader: t.term.Pid(), Group: line.Foreground, Canonical: line.Canonical, Echo: line.Echo,
		Text: screen.LineText(), Typed: w.lookout.typed, FullScreen: screen.AltScreen(),
		CursorKeys: screen.KeyModes().CursorKeys,
		Command:    t.commands.running != "",
	}
	if asked := w.lookout.asked; asked != "" && strings.HasPrefix(at.Text, asked) {
		at.Text = asked // without the answer so far
	}
	return at
}
