package verbs

import (
	"time"

	"termhost/ptypool/vt"
)

// mayAsk reports whether the viewer's terminal is asked for its colours and what it is. A console
// shows questions that it does not know, or has no colours to choose. A command run by `run` may be
// over before the answer comes, which would then be typed at the user's shell.
func (v *invocation) mayAsk() bool {
	term, ok := v.Terminal()
	if !ok || v.verb.name == "run" {
		return false
	}
	switch term {
	case "", "dumb", "linux":
		return false
	}
	return true
}

// takeAnswers returns what there is in p besides answers.
func (l *inputLoop) takeAnswers(p []byte) []byte {
	c := l.answers
	if time.Now().After(c.until) {
		l.answers = nil
		return append(c.release(), p...)
	}
	p, found := c.take(p)
	if found {
		if fg, bg, cursor, ok := c.theme(); ok {
			l.theme = &[3]vt.RGB{fg, bg, cursor}
			l.w.a.SetTheme(fg, bg, cursor)
		}
		if c.notifier != notifyBell {
			l.w.notifier.Store(int32(c.notifier))
		}
	}
	if c.complete() {
		l.answers = nil
		return append(p, c.release()...)
	}
	if len(c.held) > 0 {
		wait := cutTime
		if len(c.held) > 2 {
			wait = time.Until(c.until)
		}
		fed := c.fed
		l.w.v.Go("passing on input", func() { l.typeHeld(fed, wait) })
	}
	return p
}

// typeHeld types what was held back as the beginning of an answer, unless more is read before wait
// is over.
func (l *inputLoop) typeHeld(fed int, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.w.v.ctx.Done():
		return
	}
	l.input.Lock()
	defer l.input.Unlock()
	if c := l.answers; c != nil && c.fed == fed && !l.leaving {
		if held := c.release(); len(held) > 0 {
			l.filter.Feed(held, l)
		}
	}
}

// awaitAnswers waits a little for answers that are on their way. If they came after the end, they
// would be typed at the viewer's own shell.
func (w *viewer) awaitAnswers() {
	if w.answers == nil {
		return
	}
	const most = 250 * time.Millisecond // a slow connection's way there and back
	timer := time.NewTimer(min(most, time.Until(w.answers.until)))
	defer timer.Stop()
	select {
	case <-w.answers.done:
	case <-timer.C:
	case <-w.v.ctx.Done():
	}
}
