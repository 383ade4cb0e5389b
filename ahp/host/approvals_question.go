package host

import (
	"errors"
	"slices"
	"strings"
	"time"

	"termhost/ahp"
	"termhost/ahp/visible"
	"termhost/ptypool/foreground"
)

var (
	errQuestionOver = errors.New("the question that it was to answer is over")
	errActsNow      = errors.New("it would do something else now than you were shown; list anew")
)

// heldLook is the time between two looks at the effects of held inputs: shorter than a person takes
// to answer.
const heldLook = 100 * time.Millisecond

// secretQuestion returns the question for a secret on the screen; nil: there is none. Unlike
// secretAsked, it ignores a question that is over. The Term's lock is held.
func (ap *approvals) secretQuestion() *question {
	t := ap.t
	line, err := t.term.Line()
	if err != nil || line.Echo {
		return nil
	}
	text := t.term.Screen().LineText()
	if !line.Canonical && !t.waiting.AsksSecret(text) {
		return nil
	}
	return &question{line, text}
}

// stillAsked reports whether q has neither been answered nor ended. The Term's lock is held.
func (ap *approvals) stillAsked(q *question) bool {
	line, err := ap.t.term.Line()
	return err == nil && !line.Echo && line.Canonical == q.line.Canonical &&
		line.Foreground == q.line.Foreground &&
		strings.HasPrefix(ap.t.term.Screen().LineText(), q.text)
}

// dropStaleAnswers rejects answers to questions that are over. The Term's lock is held.
func (ap *approvals) dropStaleAnswers() {
	over := func(k *heldInput) bool { return k.question != nil && !ap.stillAsked(k.question) }
	for _, k := range ap.held {
		if over(k) {
			ap.dropHeld(nil, errQuestionOver, over)
			return
		}
	}
}

// does returns the effect of a text that is typed now: see [ahp.TerminalAsk]. keysAct: see
// typingAt.
func does(text string, keysAct bool) string {
	does := visible.Does(text)
	if does == ahp.AskTypes && keysAct {
		return ahp.AskActs
	}
	return does
}

// typingAt has the facts that decide whether a key acts by itself.
type typingAt struct {
	at         foreground.Terminal
	known      bool // there is a terminal
	shellTells bool // see approvals
}

// typingAt returns the present facts. The Term's lock is held.
func (ap *approvals) typingAt() typingAt {
	line, err := ap.t.term.Line()
	if err != nil {
		return typingAt{}
	}
	return typingAt{ap.t.waiting.foregroundLocked(line), true, ap.shellTells}
}

// keysAct reports whether a key may act by itself. It does not where keys only edit a line: the
// kernel's, for a program that reads, or a shell's at its prompt. keysAct reads /proc.
func (a typingAt) keysAct() bool {
	if !a.known || !a.at.Canonical {
		return !a.known || !foreground.AtPrompt(a.at, a.shellTells)
	}
	reads, _, _ := foreground.Readers(a.at)
	return reads != foreground.Somebody
}

// keysActNow returns typingAt.keysAct for the present facts, or true if they change meanwhile. The
// Term's lock is held.
func (ap *approvals) keysActNow() bool {
	at := ap.typingAt()
	acts := at.keysAct()
	return acts || ap.typingAt() != at
}

// updateDoes brings the effects of all held inputs up to date. keysAct: see typingAt. The Term's
// lock is held.
func (ap *approvals) updateDoes(keysAct bool) {
	changed := false
	for _, k := range ap.held {
		if now := does(string(k.text), keysAct); k.starts == nil && k.does != now {
			k.does, changed = now, true
		}
	}
	if changed {
		ap.publishHeld()
	}
}

func (k *heldInput) told() toldOf { return toldOf{k.does, k.warning} }

// stillTrue reports whether was, which somebody was told, still describes k.
func (k *heldInput) stillTrue(was toldOf) bool {
	acts := was.does == ahp.AskTypes && k.does != ahp.AskTypes
	return !acts && (k.warning == was.warning || k.warning == "")
}

// changedUnseen brings the effect of k up to date, and reports whether it is another one than
// people were told so far. The Term's lock is held.
func (ap *approvals) changedUnseen(k *heldInput) bool {
	was := k.told()
	ap.updateWarnings()
	if k.does == ahp.AskTypes {
		ap.updateDoes(ap.keysActNow())
	}
	return !k.stillTrue(was)
}

// recordListed records what c's principal was told about k. The Term's lock is held.
func (k *heldInput) recordListed(c *Conn) {
	if k.listed == nil {
		k.listed = map[string]toldOf{}
	}
	k.listed[c.principal.ID] = k.told()
}

// changedSinceListed reports whether what c's principal was told about k is not true any more. The
// Term's lock is held.
func (k *heldInput) changedSinceListed(c *Conn) bool {
	was, listed := k.listed[c.principal.ID]
	return listed && !k.stillTrue(was)
}

// lookAtHeldLater schedules the next look at what is held, if its effect may change. The Term's
// lock is held.
func (ap *approvals) lookAtHeldLater() {
	if ap.lookPending || !ap.holdsInput() {
		return
	}
	ap.lookPending = true
	time.AfterFunc(heldLook, ap.lookAtHeld)
}

// holdsInput reports whether input is held, rather than only programs to be started: its effect
// depends on who reads it. The Term's lock is held.
func (ap *approvals) holdsInput() bool {
	return slices.ContainsFunc(ap.held, func(k *heldInput) bool { return k.starts == nil })
}

// keysMayAct reports whether input is held whose keys may act by themselves. The Term's lock is
// held.
func (ap *approvals) keysMayAct() bool {
	return slices.ContainsFunc(ap.held, func(k *heldInput) bool {
		return k.starts == nil && (k.does == ahp.AskTypes || k.does == ahp.AskActs)
	})
}

// lookAtHeld brings what is known about held inputs up to date.
func (ap *approvals) lookAtHeld() {
	t := ap.t
	t.term.Lock()
	defer t.term.Unlock()
	ap.lookPending = false
	ap.dropStaleAnswers()
	ap.updateWarnings()
	if ap.keysMayAct() {
		at := ap.typingAt()
		t.term.Unlock() // /proc takes its time
		keysAct := at.keysAct()
		t.term.Lock()
		if ap.typingAt() == at {
			ap.updateDoes(keysAct)
		}
	}
	ap.lookAtHeldLater()
}
