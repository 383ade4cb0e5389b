package viewer

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/visible"
	"termhost/sshd/wording"
)

// pane is the part below a list: the current terminal's last output, or an agent's question there.
// The list's lock guards it.
type pane struct {
	page, first int // how many items the list shows, and from which on
	hostWidth   int // of the column of hosts, with the gap behind it; 0: there is none

	of      rowID     // the terminal
	since   time.Time // when it became the current one
	seen    time.Time // when it was looked at last; zero: it was not
	then    uint64    // the host's changes then
	lines   []string  // its last lines
	ask     *approval // nil: it has nothing to decide about
	asking  bool      // another host is being asked
	printed time.Time // what was asked there was about output of this time
	decided string    // the ask that the person has decided about
}

const (
	// lookRest is how long a row is the current one before its terminal is looked at: not each on
	// the way to another.
	lookRest = 50 * time.Millisecond
	// lookElsewhere is the least time between two looks at a terminal of another host.
	lookElsewhere = 2 * time.Second
	// lookAgain is how old that may become where nothing is known to have changed.
	lookAgain = 30 * time.Second
)

// paneHeight returns how many lines there are below the list. A question may have half of them.
func (l *list) paneHeight(height int) int {
	if l.ask != nil {
		return height / 2
	}
	return min(max(height/3, 5), 12)
}

// look brings what is known of the current terminal up to date.
func (l *list) look() {
	now := time.Now()
	r, ok := l.row()
	if l.of != l.current || !ok {
		l.of, l.since, l.seen, l.lines = l.current, now, time.Time{}, nil
		l.setAsk(r, host.HeldInput{}, false)
		time.AfterFunc(lookRest, l.stage.repaint)
	}
	switch {
	case !ok || r.gone || now.Sub(l.since) < lookRest:
		return
	case r.Elsewhere:
		l.lookElsewhere(r, now)
		return
	}
	changes := l.s.Conn.Changes()
	if now.Sub(l.seen) < listAge || l.then == changes && !l.listed.After(l.seen) {
		return
	}
	t, err := l.find(r)
	if err != nil {
		return
	}
	l.seen, l.then = now, changes
	screen, err := l.s.Conn.Peek(t, false)
	if err != nil {
		screen = []byte(l.s.explain(err))
	}
	l.lines = lastLines(screen)
	is, held := host.HeldInput{}, false
	if r.Waiting == host.WaitingApproval {
		is, held = l.s.Conn.Asking(t)
	}
	l.setAsk(r, is, held)
}

// maxPane bounds the lines that are kept of a screen.
const maxPane = 64

// lastLines returns the last lines of a text, without empty ones at its end.
func lastLines(text []byte) []string {
	lines := strings.Split(string(bytes.TrimRight(text, " \n")), "\n")
	return lines[max(len(lines)-maxPane, 0):]
}

// setAsk shows what there is to decide about, or with held false that there is nothing.
func (l *list) setAsk(r *Row, is host.HeldInput, held bool) {
	switch {
	case !held || is.Ask == l.decided:
		if l.ask != nil && l.wide && is.Ask != l.decided {
			l.sayLocked("that is decided already")
		}
		l.ask, l.wide = nil, false
	case l.ask != nil && l.ask.is.Ask == is.Ask:
		l.ask.news(is)
	default:
		if l.ask != nil && l.wide {
			l.sayLocked("that is decided already; there is another question")
		}
		l.ask, l.wide = l.newAsk(r, is), false
	}
}

// newAsk returns the dialog about an ask of a row.
func (l *list) newAsk(r *Row, is host.HeldInput) *approval {
	d := newApproval(l.s, l.stage, l.o.window, is)
	d.listed = true
	d.say = func(o overlay) {
		l.say("%s", strings.TrimPrefix(strings.Join(o.lines, " "), noticeOf))
	}
	d.decide = func(is host.HeldInput, decision host.Decision) error {
		err := l.decide(r, is, decision)
		if err == nil {
			l.hasDecided(r, is, decision)
		}
		return err
	}
	return d
}

// decide decides about an ask. It is called without the lock.
func (l *list) decide(r *Row, is host.HeldInput, decision host.Decision) error {
	if !r.Elsewhere {
		t, err := l.find(r)
		if err != nil {
			return err
		}
		return l.s.Conn.DecideShown(t, is, decision)
	}
	verb := "approve"
	switch decision {
	case host.RefuseOnce:
		verb = "refuse"
	case host.ApproveAll:
		return errHere
	}
	_, err := l.s.Others.Do(l.ctx, r, verb, r.URI, is.Ask)
	return err
}

// hasDecided says what was decided, and removes the question before the host is asked again.
func (l *list) hasDecided(r *Row, is host.HeldInput, decision host.Decision) {
	done := "let %s type in %s"
	switch {
	case decision == host.RefuseOnce:
		done = "refused %s in %s"
	case is.Does == ahp.AskStarts:
		done = "let %s start %s"
	}
	l.mu.Lock()
	l.decided = is.Ask
	if l.ask != nil && l.ask.is.Ask == is.Ask {
		l.ask, l.wide = nil, false
	}
	l.sayLocked(done, is.By, r.Shown())
	l.listed = time.Time{}
	l.mu.Unlock()
	l.news()
}

// lookElsewhere asks another host for the terminal's screen, and for what is held there.
func (l *list) lookElsewhere(r *Row, now time.Time) {
	same := r.PrintedAt.Equal(l.printed) && r.Waiting != host.WaitingApproval
	if l.asking || now.Sub(l.seen) < lookElsewhere || !r.Away.IsZero() ||
		same && now.Sub(l.seen) < lookAgain {
		return
	}
	l.asking, l.printed = true, r.PrintedAt
	l.s.Go("looking at another host's terminal", func() {
		screen, err := l.s.Others.Do(l.ctx, r, "peek", r.URI)
		if err != nil {
			screen = []byte(l.s.explain(err))
		}
		is, held := host.HeldInput{}, false
		if r.Waiting == host.WaitingApproval {
			if text, err := l.s.Others.Do(l.ctx, r, "asks", "--json", r.URI); err == nil {
				is, held = firstHeld(text)
			}
		}
		l.mu.Lock()
		l.asking = false
		if l.current == r.id() {
			l.seen, l.lines = time.Now(), lastLines(screen)
			l.setAsk(r, is, held)
		}
		l.mu.Unlock()
		l.stage.repaint()
	})
}

// firstHeld returns the first of the held inputs that another host lists. What its lines are is
// made here of its text: the host is not believed to hide nothing.
func firstHeld(text []byte) (is host.HeldInput, ok bool) {
	var list []host.HeldInput
	if json.Unmarshal(text, &list) != nil {
		return is, false
	}
	list = slices.DeleteFunc(list, func(k host.HeldInput) bool {
		return k.Does == ahp.AskElsewhere
	})
	if len(list) == 0 {
		return is, false
	}
	is = list[0]
	is.By, is.Does, is.Warning = host.Printable(is.By), host.Printable(is.Does),
		host.Printable(is.Warning)
	is.Lines, is.Hidden = visible.Lines(is.Text)
	is.Behind, is.All = len(list)-1, false
	return is, isAskName(is.Ask)
}

// drawPane adds what is below the list: a line that names the terminal, and w.Rows more.
func (l *list) drawPane(o *overlay, full, w Window) {
	r, ok := l.row()
	o.strong[len(o.lines)] = true
	if !ok {
		o.lines = append(o.lines, make([]string, w.Rows+1)...)
		return
	}
	head := "── " + r.Shown() + ": " + wording.Title(r.Info)
	if dir := wording.Folder(r.Info); dir != "" {
		head += " · " + dir
	}
	o.lines = append(o.lines, head)
	lines := l.lines
	switch {
	case r.gone:
		lines = []string{r.Shown() + " has gone"}
	case !r.Away.IsZero():
		lines = []string{r.Host + " is silent since " + wording.Age(time.Since(r.Away))}
	case l.ask != nil:
		l.drew = true
		l.ask.below(true)
		a := l.ask.draw(full, w)
		o.signs = make([][]span, len(o.lines))
		o.signs = append(o.signs, a.signs...)
		lines = a.fitted(w)
	}
	lines = lines[max(len(lines)-w.Rows, 0):]
	o.lines = append(o.lines, lines...)
	o.lines = append(o.lines, make([]string, w.Rows-len(lines))...)
}

// isAskName reports whether a host may call an ask so.
func isAskName(text string) bool {
	digits, ok := strings.CutPrefix(text, "@")
	_, err := strconv.ParseUint(digits, 10, 64)
	return ok && err == nil
}
