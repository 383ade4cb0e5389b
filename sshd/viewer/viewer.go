package viewer

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"termhost/ahp/host"
	"termhost/ahp/store"
	"termhost/ptypool/vt"
)

// frame is how often a whole screen is drawn for a viewer that cannot be sent the program's own
// output: as often as the eye can use.
const frame = 50 * time.Millisecond

// viewer shows one terminal to one peer. Its loop, watch, writes; an input loop reads what is
// typed.
type viewer struct {
	showing
	s     *Session
	o     Options
	ctx   context.Context // ends with the peer's streams
	out   io.Writer
	typed *inputLoop
	// interactive: the peer has a terminal, and types. Otherwise what is shown is a stream.
	interactive bool
	// draws: the viewer draws on that terminal. Otherwise it writes the program's output only.
	draws    bool
	readOnly bool

	// Used by the loop only.
	canvas
	status  statusLine
	inquiry inquiry
	mouse   mouseModes
	flags   keyFlags
	// noProgress: the terminal is to show none.
	noProgress bool

	items    []store.Item
	pictures pictures
	overlay  overlay
	waiting  overlay // a notice that is shown next
	light    light
	lines    laterLines
	place    placing
	helpAt   time.Time // when the help of the prefix key is to be shown; zero: it is not
	att      attention
	approval *approval // what the person is to decide about; nil: nothing

	// Used by both loops.
	front    *front  // what lies over the screen, below the overlay
	typing   typing  // when the person typed what
	taken    taken   // tells the peer how much of its input was taken
	answers  answers // of the viewer's terminal
	notifier notifier
	lit      atomic.Bool // a notice is shown: see pressed

	// keyed gets a value when a key was typed while lit is set.
	keyed chan struct{} // 1 deep
	// events are what the input loop has for the loop.
	events    chan event
	recolored chan struct{} // 1 deep: see recolor
	named     chan struct{} // 1 deep: the viewer's terminal has said its name
	keyable   chan struct{} // 1 deep: it has said that it has kitty's keyboard protocol
}

// newViewer returns a viewer of a's terminal whose loops do not run yet.
func newViewer(ctx context.Context, s *Session, a *host.Attach, o Options) *viewer {
	w := &viewer{showing: showing{a: a, t: a.Terminal(), over: o.Over, away: o.Away}, s: s, o: o,
		ctx:         ctx,
		interactive: s.interactive(), draws: s.Draws(),
		readOnly: a.ReadOnly(),
		events:   make(chan event, eventBacklog),
		keyed:    make(chan struct{}, 1), recolored: make(chan struct{}, 1),
		named: make(chan struct{}, 1), keyable: make(chan struct{}, 1)}
	w.fit(s.Window())
	w.front = newFront(w.draws)
	if w.interactive {
		w.taken.tell, w.taken.more = s.Taken, make(chan struct{}, 1)
	}
	w.inquiry.asks = !o.Unasked && mayAsk(s)
	w.place = newPlacing(w.draws && s.Carries != nil)
	w.out = &w.mouse
	w.mouse.out = &w.flags
	w.flags = keyFlags{out: s.Stdout(), passes: !w.draws || Keys(s, false) == vt.KeysKnown}
	w.typed = newInputLoop(w, s.Stdin())
	if !w.draws {
		w.typed.filter.Prefix = 0
	}
	w.att.known, w.att.elsewhere = time.Now(), s.WantElsewhere.Now()
	w.notifier.set(s.ownNotifier())
	return w
}

// watch writes first and then what comes, until the program has exited and all of its output is
// written, the viewer detaches, or the peer's streams end.
func (w *viewer) watch(first []byte) Ending {
	if err := w.begin(first); err != nil {
		return Lost
	}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	resized, signals := w.s.Resized(), w.s.Signals()
	always := make(chan struct{})
	close(always)
	for {
		more, err := w.show()
		switch {
		case err != nil:
			return Lost
		case more || w.lines.due:
		case w.exited && (!w.away || !w.draws):
			return Exited
		case w.exited && !w.settled:
			w.settled = true
			w.ended()
		}
		if !more && err == nil {
			if err := w.between(); err != nil {
				return Lost
			}
			w.confirm(time.Now())
		}
		if w.ctx.Err() == nil {
			w.taken.look(w.a)
		}
		w.arm(timer)
		output := w.a.Signal()
		if more {
			output = always
		}
		select {
		case <-output:
			w.touched()
		case <-w.done():
			w.exited = true
			w.uncover()
			w.touched()
		case <-timer.C:
		case bytes := <-w.lines.measured:
			w.sendHistory(bytes)
		case at := <-w.place.reached:
			w.place.confirmed(at)
		case <-w.taken.more:
		case <-w.taken.changes:
		case <-resized:
			w.resize = true
			w.light.drop() // it is elsewhere now; all is drawn anew
		case sig := <-signals:
			_ = w.a.SendSignal(sig) // a peer that may not type may not signal; it awaits no answer
		case n := <-w.notes():
			w.coverNoted(n)
		case <-w.a.AskingChanged():
			w.ask()
		case <-w.a.Followed():
			w.inquiry.stale = w.inquiry.asks
		case <-w.recolored:
			w.inquiry.stale = w.inquiry.stale || w.inquiry.themed
		case <-w.named:
			w.inquiry.named = true
		case <-w.keyable:
			w.passKeys()
		case <-w.a.Calls():
			if w.draws {
				w.att.called(time.Now())
			}
		case <-w.s.WantElsewhere.Changes():
			if w.draws {
				w.att.called(time.Now())
			}
		case <-w.front.stale:
			w.stale()
			w.ask() // which another dialog was in the way of
		case <-w.keyed:
			if w.overlay.timed() && !w.status.shown() {
				w.cover(overlay{})
			}
		case e := <-w.events:
			switch e.kind {
			case leave:
				return Detached
			case depart:
				return WentOn
			case nothingLeft:
				return Exited
			}
			if err := w.handle(e); err != nil {
				return Lost
			}
		case <-w.a.Kicked():
			return Kicked
		case <-w.ctx.Done():
			return Lost
		}
	}
}

// between writes what is neither output nor a drawing, as soon as nothing that was written before
// lacks its end.
func (w *viewer) between() error {
	mouse, pixels, encoding := w.mouseDue()
	w.noProgress = w.noProgress || w.draws && w.a.ProgressOver()
	asks := w.inquiry.stale || w.inquiry.named
	if !asks && !mouse && !w.noProgress || w.exited || !w.drawn && !w.a.Whole() {
		return nil
	}
	text := w.moreQuestions()
	if mouse {
		text += w.mouseMode(pixels, encoding)
	}
	if w.noProgress {
		w.noProgress = false
		text += vt.NoProgress
	}
	_, err := io.WriteString(w.mouse.out, text)
	return err
}

// done is closed when the program has exited; nil: the loop knows.
func (w *viewer) done() <-chan struct{} {
	if w.exited {
		return nil
	}
	return w.t.Done()
}

// uncover takes away all that lies over the screen, so that the program's last output is seen.
func (w *viewer) uncover() {
	w.front.clear()
	w.overlay, w.waiting, w.helpAt = overlay{}, overlay{}, time.Time{}
	w.att.unmark()
	w.last = time.Time{}
}

// notes returns what there is to tell the viewer's person. It waits while something is shown that
// the next key closes: that key would otherwise close what cannot be seen.
func (w *viewer) notes() <-chan host.Note {
	if !w.givesWay() {
		return nil
	}
	return w.a.Notes()
}

// givesWay reports whether a new notice may replace the one that is shown, and the waiting one.
func (w *viewer) givesWay() bool {
	return w.overlay.givesWay() && w.waiting.givesWay() && w.helpAt.IsZero()
}

// arm sets the timer to when something is due by itself.
func (w *viewer) arm(timer *time.Timer) {
	next := time.Now().Add(time.Hour)
	sooner := func(t time.Time) {
		if !t.IsZero() && t.Before(next) {
			next = t
		}
	}
	if w.dirty || w.lost {
		sooner(w.drawDue())
	}
	if w.resize {
		sooner(w.fitted.Add(frame))
	}
	if w.front.dialog() != nil {
		sooner(w.last.Add(dialogFrame))
	}
	sooner(w.att.due)
	sooner(w.att.markDue(time.Now()))
	sooner(w.overlay.until)
	sooner(w.status.turns(&w.overlay, time.Now()))
	sooner(w.lightDue())
	sooner(w.waiting.drops())
	sooner(w.speakDue())
	sooner(w.helpAt)
	sooner(w.taken.due)
	sooner(w.historyOverdue())
	sooner(w.place.due)
	timer.Reset(max(time.Until(next), 0))
}
