package viewer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ptypool/keyboard"
	"termhost/ptypool/vt/width"
)

// TopOptions say what Top lists, and how it shows terminals in a fleet.
type TopOptions struct {
	Selector ahp.Selector // of the terminals; nil: all
	// Attach shows a terminal of this host, as [Attach] does; nil: that.
	Attach func(ctx context.Context, s *Session, a *host.Attach, first []byte, o Options) (
		Ending, error)
	// Carry connects to a terminal of another host while ctx lasts.
	Carry func(ctx context.Context, s *Session, r *Row) (Carried, error)
}

// Carried is a terminal of another host that is ready to be shown, or is given up.
type Carried struct {
	// Show shows it to the Session's peer until the person leaves, or Carry's ctx is done.
	Show   func() (Ending, error)
	GiveUp func()
}

// top is a dialog in a window of its own, mostly the list. Its loop, run, draws, handles keys, and
// shows a terminal in between.
type top struct {
	s      *Session
	o      TopOptions
	ctx    context.Context // ends with the peer's streams
	dialog dialog
	list   *list // the dialog, if it shows terminals
	input  *lentInput
	keys   topKeys
	stale  chan struct{} // 1 deep: see repaint
	quit   bool
	enter  *Row // the terminal to show next; nil: none

	shown  []string // the rows on the screen
	window Window
	drawn  time.Time // when they were
	due    time.Time // when they are next
	deaf   time.Time // until then keys were typed at a terminal that is not shown any more
}

const (
	// topTick is how often the list is looked at if nobody tells of a change: titles and output
	// are no events.
	topTick = 500 * time.Millisecond
	// beginTop and endTop enter and leave the alternate screen, without a cursor; pastes are told
	// from keys.
	beginTop = "\x1b[?1049h\x1b[?25l" + bracketPastes + "\x1b[0m\x1b[H\x1b[2J"
	endTop   = "\x1b[0m\x1b[?2004l\x1b[?25h\x1b[H\x1b[2J\x1b[?1049l"
)

// Top shows the list of terminals in the peer's terminal until the person leaves. It returns
// ErrLost if ctx, which ends with the peer's streams, is done before, or the error of a write.
func Top(ctx context.Context, s *Session, o TopOptions) error {
	t := newTop(ctx, s)
	t.o = o
	t.list = newList(ctx, s, t, listOptions{window: s.Window, whole: true,
		selector: o.Selector, goes: t.goes})
	t.dialog = t.list
	defer t.list.closed()
	return t.runAlone()
}

// newTop returns a top without a dialog.
func newTop(ctx context.Context, s *Session) *top {
	t := &top{s: s, ctx: ctx, stale: make(chan struct{}, 1), input: newLentInput(s.Stdin())}
	t.keys.init(t)
	return t
}

// runAlone runs the loop where nothing else reads the input.
func (t *top) runAlone() error {
	defer t.input.close()
	t.s.Go("reading what is typed", t.input.run)
	return t.run()
}

// repaint implements stage.
func (t *top) repaint() {
	select {
	case t.stale <- struct{}{}:
	default:
	}
}

// end implements stage: no dialog ends top.
func (t *top) end(dialog) { t.repaint() }

// goes has a row's terminal shown, once the keys that were read with this one are put back.
func (t *top) goes(r *Row) verdict {
	t.enter = r
	return dialogStays
}

func (t *top) run() error {
	if err := t.begin(); err != nil {
		return err
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for !t.quit {
		if !time.Now().Before(t.due) {
			if err := t.draw(); err != nil {
				return err
			}
		}
		timer.Reset(time.Until(t.next()))
		select {
		case p, ok := <-t.input.chunks:
			if !ok {
				return t.lost()
			}
			t.take(t.input.got(p))
		case <-t.stale:
			t.soon()
		case <-timer.C:
			t.keys.release()
		case <-t.s.Resized():
			t.soon()
		case <-t.ctx.Done():
			return t.lost()
		}
		if t.enter != nil {
			r := t.enter
			t.enter = nil
			if err := t.show(r); err != nil {
				return err
			}
		}
	}
	return t.write([]byte(endTop))
}

// soon has the window drawn when the last drawing is a frame old.
func (t *top) soon() {
	if at := t.drawn.Add(frame); at.Before(t.due) {
		t.due = at
	}
}

// next returns when something is due by itself.
func (t *top) next() time.Time {
	if hold := t.keys.hold; !hold.IsZero() && hold.Before(t.due) {
		return hold
	}
	return t.due
}

// lost restores the peer's terminal: the peer may still be there.
func (t *top) lost() error {
	_ = t.write([]byte(endTop))
	return ErrLost
}

func (t *top) write(p []byte) error {
	_, err := t.s.Stdout().Write(p)
	return err
}

// begin takes the peer's window.
func (t *top) begin() error {
	t.shown, t.due = nil, time.Now()
	return t.write([]byte(beginTop))
}

// take handles what was typed.
func (t *top) take(p []byte) {
	if time.Now().After(t.deaf) {
		t.input.unread(t.keys.take(p))
	}
	t.tellTaken()
}

// tellTaken tells the peer that what was typed is not lost any more.
func (t *top) tellTaken() {
	if t.s.Taken != nil {
		t.s.Taken(t.input.given(), false)
	}
}

// key handles a key of the dialog.
func (t *top) key(k keyboard.Key) {
	if t.dialog.key(k) == dialogEnds {
		t.quit = true
	}
	t.due = time.Now()
}

// show shows a terminal until its viewer leaves.
func (t *top) show(r *Row) error {
	ctx, cancel := context.WithCancelCause(t.ctx)
	defer cancel(nil)
	find := t.attach
	if r.Elsewhere {
		t.list.say("connecting to %s ... Ctrl-C gives up", r.Shown())
		if err := t.draw(); err != nil {
			return err
		}
		find = func(ctx context.Context, s *Session, r *Row) (func() (Ending, error), error) {
			return t.carried(ctx, cancel, s, r)
		}
	}
	there, err := find(ctx, t.lent(ctx), r)
	if err != nil && t.ctx.Err() == nil {
		t.input.drop()
		if errors.Is(err, errNotAwaited) {
			t.list.say("you did not wait for %s", r.Shown())
		} else {
			t.list.say("%s: %s", r.Shown(), t.s.explain(err))
		}
		t.due = time.Now()
		return nil
	}
	if err != nil || t.write([]byte(endTop)) != nil {
		return ErrLost
	}
	t.list.say("")
	end, failed := there()
	cancel(nil)
	if end == Lost || t.ctx.Err() != nil {
		return ErrLost
	}
	t.input.drop()
	if end != Detached {
		t.deaf = time.Now().Add(lateAnswer)
	}
	switch {
	case failed != nil:
		t.list.say("%s: %s", r.Shown(), t.s.explain(failed))
	case end == Kicked:
		t.list.say("somebody has detached you from %s", r.Shown())
	}
	t.list.back()
	return t.begin()
}

// lent returns the peer, whose input is lent while ctx lasts.
func (t *top) lent(ctx context.Context) *Session {
	s := *t.s
	s.IO = lentIO{IO: t.s.IO, in: t.input.lend(ctx)}
	if s.Taken != nil {
		before := t.input.given()
		s.Taken = func(bytes uint64, shown bool) { t.s.Taken(before+bytes, shown) }
	}
	return &s
}

// attach attaches to a terminal of this host, and returns what shows it.
func (t *top) attach(ctx context.Context, s *Session, r *Row) (func() (Ending, error), error) {
	term, err := t.list.find(r)
	if err != nil {
		return nil, err
	}
	_, over := term.Exit()
	as := host.AttachOptions{Keys: Keys(s, true), Later: s.Carries != nil}
	s.Fit(&as)
	a, first, err := s.Conn.Attach(term, as)
	if err != nil {
		return nil, err
	}
	o := Options{Greet: true, Came: true, Over: over, Listed: true}
	return func() (Ending, error) {
		if t.o.Attach != nil {
			return t.o.Attach(ctx, s, a, first, o)
		}
		end, _ := Attach(ctx, s, a, first, o)
		return end, nil
	}, nil
}

// draw brings the screen up to date, and writes only the rows that have changed.
func (t *top) draw() error {
	var out []byte
	if w := t.s.Window(); w != t.window || t.shown == nil {
		t.window, t.shown = w, make([]string, w.Rows)
		out = append(out, "\x1b[0m\x1b[2J"...)
	}
	o := t.dialog.draw(t.window, t.window)
	lines := o.fitted(t.window)
	for i := range t.shown {
		row := ""
		if i < len(lines) {
			row = o.topLine(i, lines[i], t.window)
		}
		if row != t.shown[i] {
			t.shown[i] = row
			out = fmt.Appendf(out, "\x1b[%d;1H%s\x1b[0m\x1b[K", i+1, row)
		}
	}
	t.drawn = time.Now()
	t.due = t.drawn.Add(topTick)
	if out = appendCopied(out, t.dialog); len(out) > 0 {
		if err := t.write(out); err != nil {
			return err
		}
	}
	if question, asks := t.dialog.(asking); asks {
		question.drawn()
	}
	return nil
}

// topLine returns a line of a window that the overlay has for itself.
func (o overlay) topLine(i int, text string, w Window) string {
	if i < o.styled {
		return text
	}
	style, sign := "0", "0;7"
	switch {
	case i+1 == o.current:
		style, text = "0;7", padded(text, lineRoom(w))
	case o.strong[i]:
		style = "0;1"
	}
	if i+1 != o.current {
		text = width.Cut(strings.ReplaceAll(text, together, " "), lineRoom(w), "")
	}
	if text == "" {
		return ""
	}
	if style == "0" && i >= len(o.signs) {
		return text
	}
	return string(o.appendLine([]byte("\x1b["+style+"m"), i, text, style, sign))
}
