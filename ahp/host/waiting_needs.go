package host

import (
	"strings"
	"time"

	"termhost/ahp"
	"termhost/ptypool"
	"termhost/ptypool/foreground"
)

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
	if n.shown != was.shown || n.question != was.question {
		w.publish(n.shown, n.shown != was.shown)
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
// it wants. fresh: it has waited for something else until now. The Term's lock is held.
func (w *waiting) publish(now Waiting, fresh bool) {
	t := w.t
	since := ""
	if now != WaitingNone {
		if fresh {
			t.attention.waits = t.host.now()
		}
		since = t.attention.waits.UTC().Format(time.RFC3339)
	}
	if fresh {
		t.host.watchers.tell()
	}
	question := w.needs.question
	if now == WaitingApproval {
		question = ""
	}
	t.ch.SetMeta(func(m *ahp.TerminalMeta) {
		m.Waiting, m.WaitingSince, m.Question = string(now), since, question
	})
	t.host.list.changed()
}

// changes returns a channel that is closed with the next change of needs. The Term's lock is held.
func (w *waiting) changes() <-chan struct{} {
	if w.needs.changed == nil {
		w.needs.changed = make(chan struct{})
	}
	return w.needs.changed
}

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
