package viewer

import (
	"strings"
	"sync/atomic"
	"time"

	"termhost/ptypool/keyboard"
)

const (
	// typingPause is how long the person must have typed nothing at the program before a key
	// answers a question: a person who types does not look for one.
	typingPause = time.Second
	// linePause is the same for a line that is half typed when the question comes: the person may
	// go on with it before they look up.
	linePause = 10 * time.Second
	// lateAnswer is how long after a question is gone its answers are still dropped: they were
	// pressed before the person could see that somebody else had answered, or were pressed twice.
	// At the program they would be typed, and could take the keyboard.
	lateAnswer = time.Second / 2
)

// typing has when the person typed what, for keys that may be meant for a question or for the
// program. Its methods may be called concurrently.
type typing struct {
	// When a key was typed at the program last, when a question that had the keys went last, and
	// when a line came last for the person to edit (Unix time in ns).
	typedAt, answeredAt, editedAt atomic.Int64
	line                          atomic.Int64 // how much of a line was typed, in bytes
}

// typed records that the person has typed p at the program.
func (t *typing) typed(p []byte) {
	t.typedAt.Store(time.Now().UnixNano())
	if k := keyIn(p); k.Code == keyboard.Enter || strings.IndexByte(endLine, p[len(p)-1]) >= 0 {
		t.line.Store(0)
		return
	}
	t.line.Add(int64(len(p)))
}

// last returns when the person typed at the program last; before the year 2000: never.
func (t *typing) last() time.Time { return time.Unix(0, t.typedAt.Load()) }

// endLine are the keys that end a line or throw it away: Enter, ctrl-C, ctrl-D, ctrl-U.
const endLine = "\r\n\x03\x04\x15"

// edits records that a line comes for the person to edit: what they type from now on is for that
// line, but Enter does not run it before they can have seen it.
func (t *typing) edits() { t.editedAt.Store(time.Now().UnixNano()) }

// answered records that a question has gone that had the keys.
func (t *typing) answered() { t.answeredAt.Store(time.Now().UnixNano()) }

// goesOn reports whether the person is typing at the program, and not answering questions. One key
// is no line: it may have been an answer, too.
func (t *typing) goesOn(now time.Time) bool {
	typed, pause := t.typedAt.Load(), typingPause
	if t.line.Load() > 1 {
		pause = linePause
	}
	return typed > t.answeredAt.Load() && now.Sub(time.Unix(0, typed)) < pause
}

// pauseLeft returns how much longer the person must type nothing before keys answer.
func (t *typing) pauseLeft(now time.Time) time.Duration {
	return max(typingPause-now.Sub(time.Unix(0, t.typedAt.Load())), 0)
}

// late reports whether the keys in p, which are not pasted, answer a question that has just gone,
// or one that comes after it and is not on the screen yet. asked reports whether there is one that
// the person has not put aside.
func (t *typing) late(p []byte, asked func() bool) bool {
	answered := t.answeredAt.Load()
	switch {
	case t.editing():
		return false // they are for the line: see withoutEnter
	case !areAnswers(p):
		return false
	case time.Since(time.Unix(0, answered)) < lateAnswer:
		return true
	case answered <= t.typedAt.Load(): // the person types again
		return false
	}
	return asked()
}

// editing reports whether a line has just come for the person to edit, so that they have not seen
// it yet.
func (t *typing) editing() bool {
	return time.Since(time.Unix(0, t.editedAt.Load())) < lateAnswer
}

// withoutEnter returns the keys in p without those that would run a line which the person has not
// seen yet, and whether there were any.
func (t *typing) withoutEnter(p []byte) (rest []byte, early bool) {
	if !t.editing() {
		return p, false
	}
	for len(p) > 0 {
		k, n := keyboard.Read(p)
		n = max(n, 1)
		if k.Code == keyboard.Enter || p[0] == '\n' {
			early = true
		} else {
			rest = append(rest, p[:n]...)
		}
		p = p[n:]
	}
	return rest, early
}

// areAnswers reports whether p is nothing but keys with which people answer questions.
func areAnswers(p []byte) bool {
	for len(p) > 0 {
		k, n := keyboard.Read(p)
		if n == 0 || !isAnswer(k) {
			return false
		}
		p = p[n:]
	}
	return true
}

// isAnswer reports whether people answer questions with k, here or elsewhere.
func isAnswer(k keyboard.Key) bool {
	if k.Mods&^keyboard.Shift != 0 {
		return false
	}
	switch k.Code {
	case 'y', 'n', 'e', 'a', ' ', keyboard.Enter, keyboard.Escape:
		return true
	}
	return false
}
