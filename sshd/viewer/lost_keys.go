package viewer

import (
	"errors"
	"fmt"
	"io"
	"time"

	"termhost/ahp/host"
	"termhost/authz"
	"termhost/ptypool/keyboard"
	"termhost/ptypool/vt/width"
)

const (
	// maxMissing bounds, in bytes, what is kept of lost input: more than a notice has room for.
	maxMissing = 256
	// shownMissing is how much of it a notice shows, in cells.
	shownMissing = 60
)

// refusalPause ends a burst of refused keys: the next refusal is shown again.
const refusalPause = 2 * time.Second

// refusals are the keys that were refused. How one is shown depends on earlier ones.
type refusals struct {
	at   time.Time // time of the last refusal
	lost missing
}

// missing is typed input that was lost, from the first lost key on: see [host.LostError]. The next
// accepted key starts a new one.
type missing struct {
	typed  time.Time // time of the last accepted key; zero: none
	text   []byte    // its beginning
	bytes  int       // its length
	hidden bool      // some of it may not be shown
	alone  bool      // it is not the rest of a line that was being typed
}

// lose handles p, which was lost, and shows it if it is the rest of something.
func (l *inputLoop) lose(p []byte, err error) {
	if !isLoss(err) {
		l.over = true // the connection has ended, or the program
		return
	}
	var lost *host.LostError
	errors.As(err, &lost)
	m := &l.refused.lost
	if m.bytes == 0 {
		m.alone = lost == nil && time.Since(m.typed) > refusalPause
	}
	if keys, _ := keyboard.HasKeys(p); m.alone || !keys || !l.w.draws {
		l.refuse(err)
		return
	}
	m.add(p, l.w.a.ShowsInput())
	l.refused.at = time.Now()
	text := l.reason(err)
	if lost != nil {
		text = lost.Error()
	}
	l.w.say(notice("%s; not typed: %s", text, m).longer().kept())
}

// isLoss reports whether err means that input was lost, not that the program has ended.
func isLoss(err error) bool {
	var denied *authz.Denied
	var lost *host.LostError
	return errors.As(err, &lost) || errors.As(err, &denied)
}

// refuse shows why a key was refused, once for a burst of keys.
func (l *inputLoop) refuse(err error) {
	now := time.Now()
	burst := now.Sub(l.refused.at) < refusalPause
	l.refused.at = now
	if text := l.reason(err); text != "" && !burst {
		l.w.complain(notice("%s", text))
	}
}

// complain shows a notice of refused input. Where nothing is drawn it goes to the error output, as
// for a command under `exec = "shell"`.
func (w *viewer) complain(o overlay) {
	if w.draws {
		w.say(o)
		return
	}
	for _, text := range o.lines {
		_, _ = io.WriteString(w.s.Stderr(), text+"\r\n")
	}
}

// reason returns why a key was refused, for the person who typed it; "": that is obvious.
func (l *inputLoop) reason(err error) string {
	var denied *authz.Denied
	if !errors.As(err, &denied) {
		return ""
	}
	w := l.w
	var held *host.HeldError
	switch name, other := w.a.HeldByOther(); {
	case w.t.Piped(): // the holder cannot type either
	case w.t.Client():
		return "only " + host.Printable(name) + " types here; you can watch"
	case errors.As(err, &held):
		return w.s.explain(held)
	case other:
		return fmt.Sprintf("%s; %s has the keyboard of %s", denied.Rule, host.Printable(name),
			w.s.called(w.t))
	}
	return denied.Rule
}

// add adds lost input. shown: it may be shown.
func (m *missing) add(p []byte, shown bool) {
	m.bytes += len(p)
	m.text = append(m.text, p[:min(len(p), maxMissing-len(m.text))]...)
	m.hidden = m.hidden || !shown
}

// String returns the lost input for people to type again, or its length.
func (m *missing) String() string {
	if m.hidden {
		return "what followed; type it again"
	}
	return width.Quote(m.text, m.bytes, shownMissing)
}

// tellLost shows that p, which had waited for the program, was lost. shown: it may be shown. Any
// goroutine may call it, also with the input loop's lock held.
func (w *viewer) tellLost(p []byte, shown bool, err error) {
	if !isLoss(err) {
		return // the program has ended
	}
	var m missing
	m.add(p, shown)
	w.complain(notice("%s; not typed: %s", host.Printable(err.Error()), &m).longer().kept())
}
