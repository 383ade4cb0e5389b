package viewer

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"termhost/ahp/host"
	"termhost/authz"
	"termhost/ptypool/keyboard"
	"termhost/ptypool/vt/width"
	"termhost/sshd/wording"
)

const (
	// maxMissing bounds what is kept of what was lost, in bytes: more than a notice has room for.
	maxMissing = 256
	// shownMissing is how much of it a notice shows, in cells.
	shownMissing = 60
)

// refusalPause ends a burst of refused keys: the next refusal is shown again.
const refusalPause = 2 * time.Second

// refusals are the keys that nobody has taken. What is shown of one depends on those before.
type refusals struct {
	at   time.Time // when a key was refused last
	lost missing
}

// missing is what a person has typed and nobody has taken, from the first lost key on: see
// [host.LostError]. The next key that is taken begins another one.
type missing struct {
	typed  time.Time // when a key was taken last; zero: none was
	text   []byte    // its beginning
	bytes  int       // how many there are
	hidden bool      // some of it may not be shown
	alone  bool      // what is lost is no rest of a line that was being typed
}

// lose says that nobody has taken p, and shows what is lost if it is the rest of something.
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
	if keys, _ := keyboard.HasKeys(p); m.alone || !keys {
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

// isLoss reports whether err means that keys were not taken, and not that there is no program any
// more that could take them.
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
		l.w.say(notice("%s", text))
	}
}

// reason returns why a key was refused, for the person who typed it; "": that is plain to see.
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
		return "observation-only: owned by " + host.Printable(name)
	case errors.As(err, &held):
		return w.s.explain(held)
	case other:
		return fmt.Sprintf("%s; %s holds %s", denied.Rule, host.Printable(name), w.t.Name())
	}
	return denied.Rule
}

// add adds what is lost. shown: it may be shown.
func (m *missing) add(p []byte, shown bool) {
	m.bytes += len(p)
	m.text = append(m.text, p[:min(len(p), maxMissing-len(m.text))]...)
	m.hidden = m.hidden || !shown
}

// String returns what is lost as people may type it again, or how much of it there is.
func (m *missing) String() string {
	if m.hidden {
		return "what followed; type it again"
	}
	return QuoteKeys(m.text, m.bytes, shownMissing)
}

// QuoteKeys returns keys as people may type them again, or how much of them there is beside what
// has room in cells. p is their beginning, and bytes is how many there are.
func QuoteKeys(p []byte, bytes, cells int) string {
	text := strconv.QuoteToGraphic(string(p))
	if width.String(text) > cells || bytes > len(p) {
		text = width.Cut(text, cells, "…") + " (" + wording.Counted(bytes, "byte") + ")"
	}
	return text
}

// tellLost says that nobody will ever take p, which had waited for the program. shown: it may be
// shown. It may be called by any goroutine, while the input loop's lock is held, too.
func (w *viewer) tellLost(p []byte, shown bool, err error) {
	if !isLoss(err) {
		return // the program has ended
	}
	var m missing
	m.add(p, shown)
	w.say(notice("%s; not typed: %s", host.Printable(err.Error()), &m).longer().kept())
}
