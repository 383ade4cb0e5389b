package host

import (
	"time"

	"termhost/ahp"
	"termhost/ahp/await"
	"termhost/ahp/idle"
	"termhost/ptypool"
	"termhost/ptypool/foreground"
	"termhost/ptypool/shellinit"
)

// Waiting is what a terminal waits for a person to do.
type Waiting = idle.Waiting

// What a terminal waits for: see package idle.
const (
	WaitingNone     = idle.None
	WaitingInput    = idle.Input
	WaitingSecret   = idle.Secret
	WaitingApproval = idle.Approval
)

// waiting looks at a terminal's program, and tells everybody what the terminal waits for. The
// Term's lock guards it.
type waiting struct {
	idle.Program
	t          *Terminal
	looker     foreground.Looker
	timer      *time.Timer // calls look; nil: there was no activity yet
	quietTimer *time.Timer // calls checkQuiet; nil: there was no output yet
	list       *await.List // of the waits that output may end; nil: there are none
}

// active has the program looked at soon, because something was printed or typed. The Term's lock is
// held.
func (w *waiting) active() {
	if w.t.host.cfg().NoLookout {
		return
	}
	if wait, arm := w.Active(time.Now()); arm {
		w.lookIn(wait)
	}
}

func (w *waiting) lookIn(d time.Duration) {
	if w.timer == nil {
		w.timer = time.AfterFunc(d, w.look)
	} else {
		w.timer.Reset(d)
	}
}

// look looks at what the program does, or defers that if there was activity just now.
func (w *waiting) look() {
	t := w.t
	t.term.Lock()
	defer t.term.Unlock()
	if t.life.exited {
		return
	}
	t.kept.loadLocked()
	if wait := w.Due(time.Now()); wait > 0 {
		w.lookIn(wait)
		return
	}
	line, err := t.term.Line()
	if err != nil {
		return // it has no terminal, or is about to end
	}
	w.lookForStop()
	t.endProgress(line)
	// What has not been read yet may wake a program that the look finds waiting.
	at, began, read := w.foregroundLocked(line), w.Begin(line), t.term.InputRead()
	suspect := at.Command && t.commands.integrated && at.Group == at.Leader
	t.term.Unlock() // reading /proc takes time
	replaced := suspect && shellinit.Replaced(at.Leader)
	at.Command = at.Command && !replaced
	state := w.looker.Look(at)
	t.term.Lock()
	saw := idle.Sight{State: state, Text: at.Text, Line: line}
	if !w.Unchanged(began, state) {
		saw.Line, err = t.term.Line()
	}
	if t.life.exited || err != nil {
		return
	}
	saw.Read, saw.Held = read && t.term.InputRead(), t.term.Held() > 0
	if wait, early := w.TooEarly(time.Now(), began, saw); early {
		w.lookIn(wait)
		return
	}
	if replaced && state == foreground.Idle && foreground.RunsShell(at.Group) {
		t.commands.shellReplaced()
	}
	w.tell(w.Found(t.host.now(), began, saw))
	t.approvals.dropForSecret()
	t.approvals.dropStaleAnswers()
	if wait, ok := w.Next(time.Now()); ok {
		w.lookIn(wait)
	}
}

// foregroundLocked returns what [foreground.Look] has to know of the terminal.
func (w *waiting) foregroundLocked(line ptypool.Line) foreground.Terminal {
	t := w.t
	screen := t.term.Screen()
	_, typed := w.Typist()
	return foreground.Terminal{
		Leader: t.term.Pid(), Group: line.Foreground, Canonical: line.Canonical, Echo: line.Echo,
		Text: w.Question(screen.LineText()), Typed: typed, FullScreen: screen.AltScreen(),
		CursorKeys: screen.KeyModes().CursorKeys,
		Command:    t.commands.running != "",
	}
}

// tell tells everybody of a change. The Term's lock is held.
func (w *waiting) tell(c idle.Change) {
	t := w.t
	if c.By != "" {
		t.emit(Event{Kind: EventAnswered, By: c.By, Waiting: c.Was})
	}
	if c.Now != c.Was && c.Now != WaitingNone {
		t.emit(Event{Kind: EventWaits, Waiting: c.Now})
	}
	if !c.Shown {
		return
	}
	if c.Fresh {
		t.host.watchers.tell()
	}
	t.log.recordWaits(w.Journaled())
	now, since, question := w.Shown(), "", w.Asks()
	if now != WaitingNone {
		since = w.Since().UTC().Format(time.RFC3339)
	}
	t.ch.SetMeta(func(m *ahp.TerminalMeta) {
		m.Waiting, m.WaitingSince, m.Question = string(now), since, question
	})
	t.host.list.changed()
}

// end ends the looks, because the program has ended. The Term's lock is held.
func (w *waiting) end() {
	if w.timer != nil {
		w.timer.Stop()
	}
	c, stopped, quiet := w.End(w.t.host.now())
	w.tellStopped(stopped)
	w.tell(c)
	w.stopQuietTimer()
	w.tellQuiet(quiet)
}
