package host

import (
	"errors"
	"slices"
	"strings"
	"time"

	"termhost/ahp"
	"termhost/ahp/visible"
	"termhost/ptypool"
	"termhost/ptypool/foreground"
)

// question is a program's question for a secret. What an agent wants to answer is shown to nobody,
// so a yes to it is for this question only: nothing else may read it.
type question struct {
	line ptypool.Line
	text string // before the cursor
}

var (
	errQuestionOver = errors.New("the question that it was to answer is over")
	errActsNow      = errors.New("it would do something else now than you were shown; list anew")
)

// heldLook is the time between two looks at what may change about what is held: shorter than a
// person's answer takes to count.
const heldLook = 100 * time.Millisecond

// asksNow returns the question for a secret that stands on the screen; nil: there is none. Other
// than asksSecret it is never about one that is over. The Term's lock is held.
func (ap *approvals) asksNow() *question {
	t := ap.t
	line, err := t.term.Line()
	if err != nil || line.Echo {
		return nil
	}
	text, asked := t.term.Screen().LineText(), t.waiting.lookout.asked
	found := t.waiting.needs.program == WaitingSecret && strings.HasPrefix(text, asked) &&
		(line.Canonical || asked != "")
	if !found && !(line.Canonical && foreground.Asks(text)) {
		return nil
	}
	return &question{line, text}
}

// stands reports whether a question has not been answered, and is not over. The Term's lock is
// held.
func (ap *approvals) stands(q *question) bool {
	line, err := ap.t.term.Line()
	return err == nil && !line.Echo && line.Canonical == q.line.Canonical &&
		line.Foreground == q.line.Foreground &&
		strings.HasPrefix(ap.t.term.Screen().LineText(), q.text)
}

// dropUnasked refuses what was to answer questions that are over. The Term's lock is held.
func (ap *approvals) dropUnasked() {
	over := func(k *heldInput) bool { return k.question != nil && !ap.stands(k.question) }
	for _, k := range ap.held {
		if over(k) {
			ap.last = "refused by itself: " + errQuestionOver.Error()
			ap.dropHeld(nil, errQuestionOver, over)
			return
		}
	}
}

// does returns what comes of a text that is typed now. keysAct: see typingAt.
func does(text string, keysAct bool) string {
	does := visible.Does(text)
	if does == ahp.AskTypes && keysAct {
		return ahp.AskActs
	}
	return does
}

// typingAt is what decides whether a key acts by itself.
type typingAt struct {
	at    foreground.Terminal
	known bool // there is a terminal
	tells bool // the shell tells of its commands
}

// typingAt returns what keysAct looks at. The Term's lock is held.
func (ap *approvals) typingAt() typingAt {
	line, err := ap.t.term.Line()
	if err != nil {
		return typingAt{}
	}
	return typingAt{ap.t.waiting.foregroundLocked(line), true, ap.tells}
}

// keysAct reports whether a key may act by itself: unless the kernel edits the line that a program
// reads, or a shell does at its prompt. It reads /proc.
func (a typingAt) keysAct() bool {
	if !a.known || !a.at.Canonical {
		return !a.known || !foreground.AtPrompt(a.at, a.tells)
	}
	reads, _, _ := foreground.Readers(a.at)
	return reads != foreground.Somebody
}

// keysActNow is typingAt.keysAct for what is there now, and still is when that is known. The Term's
// lock is held.
func (ap *approvals) keysActNow() bool {
	at := ap.typingAt()
	acts := at.keysAct()
	return acts || ap.typingAt() != at
}

// seesAnew notes whether keys act, for all that is held. The Term's lock is held.
func (ap *approvals) seesAnew(keysAct bool) {
	changed := false
	for _, k := range ap.held {
		if now := does(string(k.text), keysAct); k.starts == nil && k.does != now {
			k.does, changed = now, true
		}
	}
	if changed {
		ap.asksChanged()
	}
}

// toldOf is what somebody was told of an ask beside its text.
type toldOf struct{ does, warning string }

func (k *heldInput) told() toldOf { return toldOf{k.does, k.warning} }

// staysTrue reports whether somebody who was told was, and no more, knows what k does now.
func (k *heldInput) staysTrue(was toldOf) bool {
	acts := was.does == ahp.AskTypes && k.does != ahp.AskTypes
	return !acts && (k.warning == was.warning || k.warning == "")
}

// actsUnseen reports whether a yes to k would now do something else than people were told, and
// tells them. The Term's lock is held.
func (ap *approvals) actsUnseen(k *heldInput) bool {
	was := k.told()
	ap.warnsAnew()
	if k.does == ahp.AskTypes {
		ap.seesAnew(ap.keysActNow())
	}
	return !k.staysTrue(was)
}

// listedFor notes what c's principal was told of k. The Term's lock is held.
func (k *heldInput) listedFor(c *Conn) {
	if k.listed == nil {
		k.listed = map[string]toldOf{}
	}
	k.listed[c.principal.ID] = k.told()
}

// listedOtherwise reports whether c's principal was told something about k that is true no more.
// The Term's lock is held.
func (k *heldInput) listedOtherwise(c *Conn) bool {
	was, listed := k.listed[c.principal.ID]
	return listed && !k.staysTrue(was)
}

// lookAtHeldLater has what is held looked at, for as long as there is something that may change.
// The Term's lock is held.
func (ap *approvals) lookAtHeldLater() {
	if ap.looks || !ap.mayChange() {
		return
	}
	ap.looks = true
	time.AfterFunc(heldLook, ap.lookAtHeld)
}

// mayChange reports whether input is held: about that more than its text counts. The Term's lock is
// held.
func (ap *approvals) mayChange() bool {
	return slices.ContainsFunc(ap.held, func(k *heldInput) bool { return k.starts == nil })
}

// mayAct reports whether something is held whose keys may act by themselves. The Term's lock is
// held.
func (ap *approvals) mayAct() bool {
	return slices.ContainsFunc(ap.held, func(k *heldInput) bool {
		return k.starts == nil && (k.does == ahp.AskTypes || k.does == ahp.AskActs)
	})
}

// lookAtHeld looks at what is held.
func (ap *approvals) lookAtHeld() {
	t := ap.t
	t.term.Lock()
	defer t.term.Unlock()
	ap.looks = false
	ap.dropUnasked()
	ap.warnsAnew()
	if ap.mayAct() {
		at := ap.typingAt()
		t.term.Unlock() // /proc takes its time
		keysAct := at.keysAct()
		t.term.Lock()
		if ap.typingAt() == at {
			ap.seesAnew(keysAct)
		}
	}
	ap.lookAtHeldLater()
}
