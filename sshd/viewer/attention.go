package viewer

import (
	"fmt"
	"time"

	"termhost/ahp/host"
	"termhost/ptypool/vt/width"
)

// attention is the loop's knowledge of the terminals that need the person's attention.
type attention struct {
	due   time.Time // when to look at them; zero: nothing has changed
	known time.Time // what they needed before is no news
	// count is how many need attention, as shown by the mark and the title of the viewer's
	// terminal, and elsewhere how many of these are on other hosts.
	count, elsewhere int

	title   string    // of the viewer's terminal, see appendTitle; "": the program's
	marked  bool      // the mark is in the top right corner
	risen   time.Time // the count has risen: show it until then, even over output
	printed time.Time // time of the last output; zero: none yet
}

const (
	// attentionPause is the least time between two looks at all terminals.
	attentionPause = 250 * time.Millisecond
	// markPause is how long nothing is printed before the mark comes again. Showing and removing it
	// costs a drawing each, so it does not appear between two keys, nor between the updates of top
	// every three seconds.
	markPause = 5 * time.Second
)

// marks reports whether to show the mark now. always: every output is drawn anyway, so it stays.
func (a *attention) marks(now time.Time, always bool) bool {
	return a.count > 0 && (now.Before(a.risen) || now.Sub(a.printed) >= markPause || always)
}

// markDue returns when the mark appears or disappears by itself; zero: never. Output removes it.
func (a *attention) markDue(now time.Time) time.Time {
	switch {
	case a.count > 0 && !a.marked:
		return a.printed.Add(markPause)
	case a.count > 0 && now.Before(a.risen):
		return a.risen
	}
	return time.Time{}
}

// unmark removes the mark until nothing has been printed for a while.
func (a *attention) unmark() {
	a.marked, a.risen, a.printed = false, time.Time{}, time.Now()
}

// called has the loop look soon at what needs attention.
func (a *attention) called(now time.Time) {
	if soon := now.Add(attentionPause); a.due.IsZero() || soon.Before(a.due) {
		a.due = soon
	}
}

// update counts what needs attention, here and elsewhere, and reports whether the count has
// changed.
func (a *attention) update(list []host.Wanted, elsewhere int, now time.Time) (changed bool) {
	count := len(list) + elsewhere
	changed = count != a.count
	a.due, a.count = time.Time{}, count
	if elsewhere > a.elsewhere {
		a.risen = now.Add(noticeTime)
	}
	a.elsewhere = elsewhere
	latest := a.known
	for _, x := range list {
		if x.At.After(latest) {
			latest = x.At
		}
	}
	if latest.After(a.known) {
		a.known, a.risen = latest, now.Add(noticeTime)
	}
	return changed
}

// attend counts the terminals that need the person's attention, and notifies the person of new
// ones.
func (w *viewer) attend() {
	list, elsewhere := w.s.wanting()
	if w.att.update(list, elsewhere, time.Now()) {
		w.dirty = true
		w.overlay.greets(w.greeting())
	}
	news, after := w.a.News(list)
	if after > 0 {
		w.att.due = time.Now().Add(after)
	}
	if len(news) > 0 {
		_, _ = w.out.Write(w.notifier.sequence(w.s.newsText(news)))
		w.dirty = true // it may have cut a sequence of the program's
	}
	for _, x := range news {
		if x.Why == host.WantKeyboard && w.overlay.givesWay() && w.helpAt.IsZero() {
			text := w.s.wants(x)
			if w.att.count == 1 { // else the key goes to what has waited longest
				text += w.s.goesThere()
			}
			w.cover(notice("%s", text).longer())
		}
	}
}

// appendTitle appends to a drawing of the screen a sequence that puts the count before the title of
// the viewer's terminal, or once it is 0, restores the title (xterm ctlseqs, OSC 2).
func (w *viewer) appendTitle(dst []byte) []byte {
	before := w.att.title
	if w.att.title = ""; w.att.count == 0 && before == "" {
		return dst
	}
	title := host.Printable(w.t.Info(w.s.Conn.Principal()).Title)
	if w.att.count > 0 {
		title = host.WantTitle(w.att.count) + title
		w.att.title = title
	}
	if len(dst) == 0 && w.att.title == before {
		return dst
	}
	return fmt.Appendf(dst, "\x1b]2;%s\x1b\\", title)
}

// appendMark appends a sequence that draws a mark in the top right corner, over a screen just
// drawn.
func appendMark(dst []byte, text string, w Window) []byte {
	text = width.Cut(" "+text+" ", lineRoom(w), "")
	x := lineRoom(w) - width.String(text) + 1
	return fmt.Appendf(dst, "\x1b7\x1b[?6l\x0f\x1b(B\x1b[1;%dH\x1b[0;7m%s\x1b[m\x1b8", x, text)
}
