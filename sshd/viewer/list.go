package viewer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
)

// list is the dialog that lists the terminals, shows what one of them prints and asks, and acts on
// them: the list behind the prefix key, and all of `top`.
//
// No key acts on another terminal than the one that the person sees it act on. The order of rows
// stands still while keys are pressed, the current row is followed by its terminal, whatever its
// place, and it stays when its terminal goes.
type list struct {
	s     *Session
	stage stage
	o     listOptions
	ctx   context.Context // ends when the list is closed
	close func()
	stale atomic.Bool // something has happened since the rows were listed

	mu sync.Mutex // comes before the host's locks and an approval's
	rows
	pane
	form   form
	typing bool // letters go to the filter
	marked map[rowID]bool
	ended  map[rowID]bool // that the person has ended
	note   string         // shown instead of the keys
	noted  time.Time
	help   bool // the next key closes the help
	wide   bool // the ask has the whole window
	drew   bool // the last drawing has the ask
}

// listOptions say what a list is for.
type listOptions struct {
	// whole: it has the whole window, and does not end by itself; picks: it ends with Escape.
	whole, picks bool
	// window returns the present window in which it is shown.
	window func() Window
	// from is where the person comes from, whose row is the current one at first; zero: any is.
	from Place
	// goes shows a terminal. It is called without the lock.
	goes func(*Row) verdict
	// here is the terminal that is shown below the list; zero: none.
	here     rowID
	selector ahp.Selector // of the terminals to list
}

// Row is a terminal in a list.
type Row struct {
	host.Info
	// Host is the name of its host; "": there is only one.
	Host string
	// Elsewhere: that is another host, on which [Others] acts.
	Elsewhere bool
	// Away is since when that host is silent, and this is what it has said last; zero: it is not.
	Away time.Time
	// Refused: that host is there, but does not let the person in. Away is set as well.
	Refused bool

	gone  bool   // it is listed no more
	asks  string // what it asks for
	part  string // the heading that it stands below
	words string // what a filter looks at
}

// Shown returns the NAME of the row as people write it.
func (r *Row) Shown() string {
	if r.Elsewhere {
		return r.Host + "/" + r.Name
	}
	return r.Name
}

// rowID identifies a terminal in a list, whatever it is called.
type rowID struct {
	host, uri string
	created   int64
}

func (r *Row) id() rowID {
	id := rowID{uri: r.URI, created: r.CreatedAt.UnixNano()}
	if r.Elsewhere {
		id.host = r.Host
	}
	return id
}

// Others are the terminals of the other hosts of a fleet. Its methods may be called concurrently.
type Others interface {
	// Self returns the name of this host.
	Self() string
	// Rows returns the terminals as their hosts have listed them last, oldest first, and what there
	// is to say of hosts that do not. It does not wait for them. Nothing of it may be modified.
	Rows() (rows []*Row, notes []string)
	// Follow asks the hosts for their terminals, again and again, until ctx is done. It calls news
	// when Rows returns something else.
	Follow(ctx context.Context, news func())
	// Now returns the present row of r's terminal, or why there is none.
	Now(ctx context.Context, r *Row) (*Row, error)
	// Do runs a verb on r's host, if r's terminal is still what it was, and returns its output.
	// words are its arguments, as they are.
	Do(ctx context.Context, r *Row, words ...string) ([]byte, error)
}

// newList returns a list on a stage. It is to be closed.
func newList(ctx context.Context, s *Session, on stage, o listOptions) *list {
	l := &list{s: s, stage: on, o: o, marked: map[rowID]bool{},
		ended: map[rowID]bool{}}
	l.ctx, l.close = context.WithCancel(ctx)
	l.current = o.here
	l.refresh() // the first key may come before a drawing
	s.Go("following what happens", l.followHere)
	if s.Others != nil {
		s.Go("following other hosts", func() { s.Others.Follow(l.ctx, l.news) })
	}
	return l
}

// closed implements [closing].
func (l *list) closed() { l.close() }

// news has the list drawn anew with what has happened.
func (l *list) news() {
	l.stale.Store(true)
	l.stage.repaint()
}

// followHere has the list follow what happens on this host.
func (l *list) followHere() {
	events, err := l.s.Conn.Events()
	if err != nil {
		return // the list says why
	}
	defer events.Close()
	var buf []host.Event
	for {
		select {
		case <-events.Signal():
		case <-l.ctx.Done():
			return
		}
		for {
			if buf = events.Pull(buf[:0], pulledEvents); len(buf) == 0 {
				break
			}
		}
		l.news()
	}
}

// pulledEvents is how many events are taken at a time: what they are does not matter.
const pulledEvents = 64

// back has the list show what has happened while another terminal was shown. Letters are keys
// again; the filter stays.
func (l *list) back() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listed, l.seen, l.form, l.touched = time.Time{}, time.Time{}, form{}, time.Time{}
	l.typing = false
	l.stale.Store(true)
}

// say shows a notice in the last line of the list. The lock must not be held.
func (l *list) say(format string, args ...any) {
	l.mu.Lock()
	l.sayLocked(format, args...)
	l.mu.Unlock()
	l.stage.repaint()
}

func (l *list) sayLocked(format string, args ...any) {
	l.note, l.noted = fmt.Sprintf(format, args...), time.Now()
}

var errGone = errors.New("it has gone")

// find returns the terminal of a row of this host. Another one may have its NAME now.
func (l *list) find(r *Row) (*host.Terminal, error) {
	t, err := l.s.Conn.Find(r.URI)
	if err != nil || !t.Info(l.s.Conn.Principal()).CreatedAt.Equal(r.CreatedAt) {
		return nil, errGone
	}
	return t, nil
}

// pick shows a list over the terminal.
func (l *inputLoop) pick() {
	w := l.w
	d := newList(w.ctx, w.s, w.front, listOptions{window: w.s.shownIn, goes: l.goes,
		here: (&Row{Info: w.t.Info(w.s.Conn.Principal())}).id()})
	w.front.open(d)
}

// goes shows a row's terminal instead of the viewer's.
func (l *inputLoop) goes(r *Row) verdict {
	w := l.w
	if r.Elsewhere {
		return l.goesElsewhere(r)
	}
	d := w.front.dialog()
	t, err := w.s.Conn.Find(r.URI)
	switch {
	case err != nil || !t.Info(w.s.Conn.Principal()).CreatedAt.Equal(r.CreatedAt):
		if d, ok := d.(*list); ok {
			d.say("%s has gone", r.Name)
		}
	case t == w.t:
		return dialogEnds
	case l.goTo(t, w.s.called(t)):
		return dialogEnds
	}
	return dialogStays
}
