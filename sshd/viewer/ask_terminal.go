package viewer

import (
	"bytes"
	"slices"
	"time"
)

// A viewer's terminal is asked for its colours when the viewer comes and may type; again when the
// terminal begins to follow the viewer's window, because its holder has changed; when the focus
// comes back, if it reports that for the program; and when it says that it has turned dark or
// light. That it is told to do for the rest of the attach. The focus it is not told to report: if
// the connection broke off, each change of it would be typed at the person's own shell.

// mayAsk reports whether the peer's terminal may be sent askColors and askKind. A console prints
// unknown questions, or has no colours to report.
func mayAsk(io IO) bool {
	term, _ := io.Terminal()
	return io.Draws() && term != "linux"
}

// inquiry is what a viewer asks its terminal. All but asks is the loop's.
type inquiry struct {
	asks  bool // it may be asked: the terminal and the Options let it. It does not change.
	begun bool // it was asked what it is
	stale bool // it is to be asked for its colours
	named bool // and about its modes, having said its name
	// themed: it was asked for them before, and tells when it turns dark or light.
	themed bool
}

// firstQuestions returns what to ask when the viewer begins.
func (w *viewer) firstQuestions() (text string) {
	q := &w.inquiry
	if !q.asks || q.begun {
		return ""
	}
	q.begun = true
	w.s.questions().ask()
	if w.a.Holds() {
		select {
		case <-w.a.Followed(): // these are the colours
		default:
		}
		text = w.colorQuestions()
	}
	return text + askKind + askKeys + askLast
}

func (w *viewer) colorQuestions() string {
	q := &w.inquiry
	q.stale = false
	if q.themed {
		return askColors
	}
	q.themed = true
	w.s.questions().setReports(true)
	return themeReports + askColors
}

// recolor has the loop ask for the colours again. Any goroutine may call it.
func (w *viewer) recolor() {
	select {
	case w.recolored <- struct{}{}:
	default:
	}
}

// moreQuestions returns what asks for the colours if they may have changed, and about modes.
func (w *viewer) moreQuestions() (text string) {
	q := &w.inquiry
	if q.stale {
		text = w.colorQuestions()
	}
	if q.named {
		q.named = false
		text += askModes
	}
	if text != "" {
		w.s.questions().ask()
		text += askLast
	}
	return text
}

// endReports returns what has the terminal report its theme no more.
func (w *viewer) endReports() string {
	if !w.inquiry.themed {
		return ""
	}
	w.s.questions().setReports(false)
	return noThemeReports
}

// noteAnswer takes an answer of the viewer's terminal, which may come at any time. The input loop's
// lock is held.
func (w *viewer) noteAnswer(p []byte) {
	w.s.questions().answered(p)
	if !w.inquiry.asks {
		return
	}
	if slices.Contains(lightOrDark[:], string(p)) {
		w.recolor()
		return
	}
	c := &w.answers
	if !c.note(p) {
		return
	}
	w.setTheme()
	w.setAbilities()
	if c.keys == able {
		select {
		case w.keyable <- struct{}{}:
		default:
		}
	}
	if bytes.HasPrefix(p, []byte("\x1bP>|")) {
		select {
		case w.named <- struct{}{}:
		default:
		}
	}
	if c.pictures != noPictures && w.pictures.form.CompareAndSwap(0, int32(c.pictures)) {
		w.a.DrawsPictures()
	}
	if c.notifier != notifyBell {
		w.notifier.set(c.notifier)
	}
}

// focused takes a report of the focus. A terminal may send one without a change, when it is asked
// for reports. The input loop's lock is held.
func (l *inputLoop) focused(in bool) {
	if in && !l.inFocus {
		l.w.recolor()
	}
	l.inFocus = in
}

// setTheme tells the terminal the colours of the viewer's, if known. The input loop's lock is held.
func (w *viewer) setTheme() {
	if fg, bg, cursor, ok := w.answers.theme(); ok {
		w.a.SetTheme(fg, bg, cursor)
	}
}

// setAbilities tells the terminal what the viewer's can do: it is believed to report the mouse in
// pixels until it is known. The input loop's lock is held.
func (w *viewer) setAbilities() {
	w.a.SetCellMouse(w.answers.pixelMouse == unable)
	if known := w.answers.clusters; known != unknown {
		w.a.SetClusters(known == able)
	}
	if known := w.answers.keys; known != unknown {
		w.a.SetKittyKeys(known == able)
	}
}

// awaitAnswers waits a little for late answers: after the end they would be typed at the viewer's
// own shell.
func (w *viewer) awaitAnswers() {
	done, since := w.s.questions().pending()
	if done == nil {
		return
	}
	const most = 250 * time.Millisecond // a slow connection's way there and back
	timer := time.NewTimer(min(most, time.Until(since.Add(answerTime))))
	defer timer.Stop()
	select {
	case <-done:
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
