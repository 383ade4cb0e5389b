package verbs

import (
	"fmt"
	"time"

	"termhost/ahp/host"
	"termhost/ptypool/vt/width"
)

// attention is what a viewer's loop knows of the terminals that want its person.
type attention struct {
	due   time.Time // when they are to be looked at; zero: nothing has changed
	known time.Time // what they have wanted up to then is no news
	mark  overlay   // one line in the top right corner
}

// attentionPause is how often a viewer looks at all terminals, at most.
const attentionPause = 250 * time.Millisecond

// called has the viewer look at what wants its person.
func (w *viewer) called() {
	if w.att.due.IsZero() && w.interactive {
		w.att.due = time.Now().Add(attentionPause)
	}
}

// attend marks that the number of terminals that want the viewer's person has risen, and notifies
// that one.
func (w *viewer) attend() {
	w.att.due = time.Time{}
	list, err := w.v.Host.Wanting(w.v.principal())
	if err != nil || w.v.Quiet != nil && w.v.Quiet() {
		return
	}
	latest := w.att.known
	for _, x := range list {
		if x.At.After(latest) {
			latest = x.At
		}
	}
	if latest.After(w.att.known) {
		w.att.known = latest
		w.att.mark = overlay{lines: []string{wantYou(len(list))}, until: time.Now().Add(noticeTime)}
		w.dirty = true
	}
	news, after := w.a.News(list)
	if after > 0 {
		w.att.due = time.Now().Add(after)
	}
	if len(news) > 0 {
		_, _ = w.out.Write(w.notifying(newsText(news)))
		w.dirty = true // it may have cut a sequence of the program's
	}
}

// wantYou says how many terminals want somebody.
func wantYou(n int) string {
	if n == 1 {
		return "1 wants you"
	}
	return fmt.Sprintf("%d want you", n)
}

// wants says what a terminal wants.
func wants(x host.Wanted) string {
	name := x.Terminal.Name()
	switch x.Why {
	case host.Want(host.WaitingInput):
		return name + " waits for input"
	case host.Want(host.WaitingSecret):
		return name + " waits for a secret"
	case host.Want(host.WaitingApproval):
		return name + " waits for an approval"
	case host.WantBell:
		return name + " rang the bell"
	case host.WantCommand:
		return "a command in " + name + " has ended"
	}
	return name + " has exited"
}

// newsText says what is new, in a line.
func newsText(news []host.Wanted) string {
	text := wants(news[0])
	if n := len(news) - 1; n > 0 {
		text += fmt.Sprintf(", and %d more", n)
	}
	return text
}

// wanted goes to the terminal that has wanted the person longest.
func (l *inputLoop) wanted() {
	list, err := l.w.v.Host.Wanting(l.w.v.principal())
	switch {
	case err != nil:
		l.show(notice("%s", l.w.v.explain(err)))
	case len(list) == 0 && l.held():
		l.w.post(event{kind: askAgain})
	case len(list) == 0:
		l.show(notice("no other terminal wants you"))
	default:
		l.goTo(list[0].Terminal, wants(list[0]))
	}
}

// held reports whether the person is to decide about something where the viewer is.
func (l *inputLoop) held() bool {
	_, ok := l.w.a.Asking()
	return ok
}

// appendMark appends what draws a mark in the top right corner, over a screen that was just drawn.
func appendMark(dst []byte, text string, w Window) []byte {
	text = width.Cut(" "+text+" ", lineRoom(w), "")
	x := lineRoom(w) - width.String(text) + 1
	return fmt.Appendf(dst, "\x1b7\x1b[?6l\x0f\x1b(B\x1b[1;%dH\x1b[0;7m%s\x1b[m\x1b8", x, text)
}
