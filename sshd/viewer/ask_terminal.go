package viewer

import "time"

// mayAsk reports whether the peer's terminal may be sent askColors and askKind. A console prints
// unknown questions, or has no colours to report.
func (s *Session) mayAsk() bool {
	term, _ := s.Terminal()
	return s.Draws() && term != "linux"
}

// noteAnswer takes an answer of the viewer's terminal, which may come at any time. The input loop's
// lock is held.
func (w *viewer) noteAnswer(p []byte) {
	w.s.questions().answered(p)
	c := w.answers
	if c == nil || !c.note(p) {
		return
	}
	w.setTheme()
	if c.pictures != noPictures && w.pictures.form.CompareAndSwap(0, int32(c.pictures)) {
		w.a.DrawsPictures()
	}
	if c.notifier != notifyBell {
		w.notifier.set(c.notifier)
	}
}

// setTheme tells the terminal the colours of the viewer's, if known. The input loop's lock is held.
func (w *viewer) setTheme() {
	if w.answers == nil {
		return
	}
	if fg, bg, cursor, ok := w.answers.theme(); ok {
		w.a.SetTheme(fg, bg, cursor)
	}
}

// awaitAnswers waits a little for late answers: after the end they would be typed at the viewer's
// own shell.
func (w *viewer) awaitAnswers() {
	if w.answers == nil {
		return
	}
	const most = 250 * time.Millisecond // a slow connection's way there and back
	timer := time.NewTimer(min(most, time.Until(w.answers.since.Add(answerTime))))
	defer timer.Stop()
	select {
	case <-w.answers.done:
	case <-timer.C:
	case <-w.ctx.Done():
	}
}

// waits waits, and returns false if the peer's streams end first. Any goroutine may call it.
func (w *viewer) waits(wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-w.ctx.Done():
		return false
	}
}
