package viewer

import (
	"fmt"
	"slices"
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

	title   string    // of the viewer's terminal, see viewer.title; "": the program's
	marked  bool      // the mark is in the top right corner
	risen   time.Time // the count has risen: show it until then, even over output
	printed time.Time // time of the last output; zero: none yet

	// What is to be sent beside the output, since when (zero: it was not tried), and when the
	// program was in the middle of a character.
	retitle         bool   // the title, which may be another one than it was given last
	notify          []byte // notifications
	unsaid, refused time.Time
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
		w.stale()
		w.att.retitle = true
		lines := w.greeting()
		w.overlay.greets(lines)
		w.waiting.greets(lines)
	}
	news, after := w.a.News(list)
	if after > 0 {
		w.att.due = time.Now().Add(after)
	}
	if len(news) > 0 {
		w.att.notify = append(w.att.notify, w.notifier.sequence(w.s.newsText(news))...)
	}
	for _, x := range news {
		if x.Why == host.WantKeyboard && w.givesWay() {
			text := w.s.wants(x)
			if w.att.count == 1 { // else the key goes to what has waited longest
				text += w.s.goesThere()
			}
			w.cover(notice("%s", text).longer())
		}
	}
}

// mostUnsaid is how long a title and notifications wait for a pause in the output.
const mostUnsaid = time.Second

// retitle records that the terminal may have another title than it was given last.
func (w *viewer) retitle() {
	w.att.retitle = w.att.retitle || w.att.count > 0 || w.att.title != ""
}

// speak sends notifications and the title, which show nothing on the screen and so go beside the
// program's output. more: there may be output, which comes first.
func (w *viewer) speak(more bool) error {
	a := &w.att
	if !a.retitle && len(a.notify) == 0 {
		a.unsaid = time.Time{}
		return nil
	}
	if now := time.Now(); a.unsaid.IsZero() {
		a.unsaid = now
	} else if w.speakDue().After(now) {
		return nil
	}
	var begun []byte
	if !w.drawn && w.light.back == nil { // else the program's sequences are not on the terminal
		if more && time.Since(a.unsaid) < mostUnsaid {
			return nil
		}
		items, rest, ok := w.a.Beside(w.items[:0])
		w.items = items
		defer clear(items)
		if err := w.print(items); err != nil || !ok || w.lost {
			a.refused = time.Now()
			return err
		}
		begun = rest
	}
	said := append(a.notify, w.title(a.retitle)...)
	a.notify, a.retitle, a.unsaid = nil, false, time.Time{}
	if len(said) == 0 {
		return nil
	}
	if len(begun) > 0 {
		said = slices.Concat([]byte{can}, said, begun)
	}
	_, err := w.out.Write(said)
	return err
}

// can cancels a sequence (CAN).
const can = 0x18

// speakDue returns when speak has something to send; zero: it has not.
func (w *viewer) speakDue() time.Time {
	a := &w.att
	switch {
	case !a.retitle && len(a.notify) == 0:
		return time.Time{}
	case a.refused.IsZero():
		return a.unsaid
	}
	return a.refused.Add(mostUnsaid)
}

// title returns a sequence that puts the count before the title of the viewer's terminal, or once
// it is 0, restores the title (xterm ctlseqs, OSC 2). again: the terminal may have another title
// than it was given last.
func (w *viewer) title(again bool) []byte {
	before := w.att.title
	if w.att.title = ""; w.att.count == 0 && before == "" {
		return nil
	}
	title := host.Printable(w.t.Info(w.s.Conn.Principal()).Title)
	if w.att.count > 0 {
		title = host.WantTitle(w.att.count) + title
		w.att.title = title
	}
	if !again && w.att.title == before {
		return nil
	}
	return fmt.Appendf(nil, "\x1b]2;%s\x1b\\", title)
}

// markRow returns the row of a mark, counted from 0: the first one of [from, to) that is not the
// cursor's. ok is false if there is none.
func markRow(from, to, cursor int) (row int, ok bool) {
	if from == cursor {
		from++
	}
	return from, from < to
}

// appendMark appends a sequence that draws a mark at the right end of a row, counted from 0.
func appendMark(dst []byte, text string, row int, w Window) []byte {
	text = width.Cut(" "+text+" ", lineRoom(w), "")
	x := lineRoom(w) - width.String(text) + 1
	return fmt.Appendf(dst, "\x1b[%d;%dH\x1b[0;7m%s", row+1, x, text)
}
