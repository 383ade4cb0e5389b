package host

import (
	"strings"
	"time"

	"termhost/ahp"
	"termhost/ahp/journal"
	"termhost/ptypool"
	"termhost/ptypool/foreground"
)

// set changes what the terminal waits for, and tells everybody. by is the name of the user who
// answered; "": nobody did. The Term's lock is held.
func (w *waiting) set(change func(*needs), by string) {
	n := &w.needs
	was := *n
	change(n)
	if n.shown = n.blocks(); n.approval {
		n.shown = WaitingApproval
	}
	if n.blocks() != was.blocks() {
		w.tell(was.blocks(), n.blocks(), by)
	}
	if n.shown != was.shown || n.asks() != was.asks() {
		w.publish(n.shown, n.shown != was.shown)
	}
	if *n != was && n.changed != nil {
		close(n.changed)
		n.changed = nil
	}
}

// blocks returns what the program waits for: as it says if nothing else is known, which is so of
// programs that fill the screen.
func (n *needs) blocks() Waiting {
	if n.program == WaitingNone && n.said {
		return WaitingInput
	}
	return n.program
}

// asks returns what the program asks for, for people; "": nothing, or an approval comes first.
func (n *needs) asks() string {
	switch {
	case n.approval:
		return ""
	case n.said && (n.program == WaitingNone || n.question == ""):
		return n.words
	}
	return n.question
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
			t.attention.waits = w.begins(now)
		}
		since = t.attention.waits.UTC().Format(time.RFC3339)
	}
	if fresh {
		t.host.watchers.tell()
	}
	question := w.needs.asks()
	w.record(now, question)
	t.ch.SetMeta(func(m *ahp.TerminalMeta) {
		m.Waiting, m.WaitingSince, m.Question = string(now), since, question
	})
	t.host.list.changed()
}

// asksAnew records that the program says once more that it waits. The Term's lock is held.
func (w *waiting) asksAnew() {
	if n := &w.needs; n.shown == WaitingInput && n.program == WaitingNone {
		w.publish(n.shown, true)
	}
}

// begins returns since when the terminal has waited for what it begins to wait for now: what it
// waited for with the last host it may have waited for all the time.
func (w *waiting) begins(now Waiting) time.Time {
	before := w.lookout.before
	w.lookout.before = nil
	if before != nil && before.For == string(now) &&
		strings.HasPrefix(w.needs.asks(), before.Question) {
		return before.Since
	}
	return w.t.host.now()
}

// record logs what the terminal waits for, for the next host. An approval, which is first, does not
// outlive this one.
func (w *waiting) record(now Waiting, question string) {
	log, since := &w.t.log, w.t.attention.waits.UTC()
	was := log.outline.Waits
	switch {
	case now != WaitingNone && now != WaitingApproval:
		if was == nil || was.For != string(now) || was.Question != question ||
			!was.Since.Equal(since) {
			log.recordWaits(&journal.Waits{For: string(now), Question: question, Since: since})
		}
	case was != nil:
		log.recordWaits(nil)
	}
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
