package host

import (
	"bytes"
	"time"

	"termhost/ahp"
	"termhost/ptypool/foreground"
	"termhost/ptypool/shellinit"
	"termhost/ptypool/ticks"
)

// When the lookout looks, counted from the last activity: output, or something typed. Most programs
// print a question and read the answer at once, so the first look finds them. The second and the
// third find those that take a while before they read. A program may also begin to wait without any
// activity, so the looks continue, less and less often; but not while a shell is at its prompt,
// which it leaves only with activity. So a terminal in which nothing runs costs nothing.
const (
	firstLook  = 50 * time.Millisecond
	secondLook = 200 * time.Millisecond
	thirdLook  = time.Second
	// seldomLook is about the longest time between two looks: with a command running silently in
	// each of 500 terminals there are 10 looks in a second, all at once (see [ticks.Wait]).
	seldomLook = 50 * time.Second
	// heldLooks is how long a program that waits for input counts as about to get what is held
	// until it reads. That takes some milliseconds, but on a very busy machine.
	heldLooks = 2 * time.Second
)

// maxQuestion is how much of what a program asks listings have, in bytes.
const maxQuestion = 120

// noteActivity has the lookout look soon, because something was printed or typed. The Term's lock
// is held.
func (w *waiting) noteActivity() {
	if w.t.host.cfg().NoLookout {
		return
	}
	l := &w.lookout
	l.signs++
	l.last = time.Now()
	if w.needs.rest { // until a look finds it so again
		w.set(func(n *needs) { n.rest = false }, "")
	}
	if !l.armed || l.due.Sub(l.last) > firstLook {
		w.checkIn(firstLook)
	}
}

// typedBy records that user typed p.
func (l *lookout) typedBy(user string, p []byte) {
	if len(p) == 0 {
		return
	}
	l.typist, l.typed = user, bytes.IndexByte([]byte(answers), p[len(p)-1]) < 0
	if bytes.ContainsAny(p, answers) {
		l.asked, l.before = "", nil
	}
}

// checkIn has check called after d. The Term's lock is held.
func (w *waiting) checkIn(d time.Duration) {
	l := &w.lookout
	l.armed, l.due = true, time.Now().Add(d)
	if l.timer == nil {
		l.timer = time.AfterFunc(d, w.check)
	} else {
		l.timer.Reset(d)
	}
}

// check looks at what the program does, or defers that if there was activity just now.
func (w *waiting) check() {
	t := w.t
	t.term.Lock()
	defer t.term.Unlock()
	l := &w.lookout
	l.armed = false
	if t.life.exited {
		return
	}
	t.kept.loadLocked()
	if wait := firstLook - time.Since(l.last); wait > 0 {
		w.checkIn(wait)
		return
	}
	line, err := t.term.Line()
	if err != nil {
		return // it has no terminal, or is about to end
	}
	w.noteStopped()
	t.endProgress(line)
	// What has not been read yet may wake a program that the look finds waiting.
	at, signs, read := w.foregroundLocked(line), l.signs, t.term.InputRead()
	suspect := at.Command && t.commands.integrated && at.Group == at.Leader
	t.term.Unlock() // reading /proc takes time
	replaced := suspect && shellinit.Replaced(at.Leader)
	at.Command = at.Command && !replaced
	state := l.looker.Look(at)
	t.term.Lock()
	after := line
	// What has not changed since the last look has not changed during this one.
	if signs != l.signs || signs != l.seen || line != l.line || state != l.state {
		after, err = t.term.Line()
	}
	switch {
	case t.life.exited, err != nil:
	case signs != l.signs, after != line, // it changed during the look
		after.Unread && state != foreground.Busy && state != foreground.Idle: // more output comes
		w.checkIn(firstLook)
	case (state == foreground.Input || state == foreground.Secret) && !(read && t.term.InputRead()),
		state == foreground.Input && t.term.Held() > 0 && time.Since(l.last) < heldLooks:
		w.checkIn(firstLook) // it is about to read the answer
	default:
		if replaced && state == foreground.Idle && foreground.RunsShell(at.Group) {
			t.commands.shellReplaced()
		}
		l.line, l.state = line, state
		w.found(state, at.Text, read)
	}
}

// found records what a look has found, and schedules the next one. read: what had been typed was
// read before the look. The Term's lock is held.
func (w *waiting) found(state foreground.State, text string, read bool) {
	l := &w.lookout
	if l.seen != l.signs {
		l.seen, l.looks = l.signs, 0
	}
	l.looks++
	program := WaitingNone
	switch state {
	case foreground.Input:
		program = WaitingInput
	case foreground.Secret:
		program = WaitingSecret
	}
	if l.asked = ""; program != WaitingNone {
		l.asked = text
	}
	by := ""
	if w.needs.unsure {
		by = l.typist
	}
	l.atRest = state == foreground.Idle
	rest := l.atRest && read && w.t.term.Held() == 0 && w.t.term.InputRead()
	question := Printable(l.asked[:ahp.WholeRunes(l.asked, maxQuestion)])
	w.set(func(w *needs) {
		if !l.typed || question == "" { // else a part of it is the answer
			w.question = question
		}
		w.program, w.rest, w.unsure = program, rest, false
	}, by)
	w.t.approvals.dropForSecret()
	w.t.approvals.dropStaleAnswers()
	if rest && !w.stopped.on { // nobody is told what ends that
		return
	}
	w.checkIn(ticks.Wait(l.pause()))
}

// pause returns the time until the next look. There was a look since the last activity.
func (l *lookout) pause() time.Duration {
	switch l.looks {
	case 1:
		return secondLook - firstLook
	case 2:
		return thirdLook - secondLook
	}
	return min(thirdLook<<min(l.looks-3, 10), seldomLook)
}

// endLookout ends the looks. The Term's lock is held.
func (w *waiting) endLookout() {
	if w.lookout.timer != nil {
		w.lookout.timer.Stop()
	}
	w.setStopped(false)
	w.set(func(w *needs) {
		w.program, w.question, w.rest, w.unsure = WaitingNone, "", false, false
		w.said = false
	}, "")
}
