package history

import (
	"bytes"
	"errors"
	"math"
	"time"

	"termhost/ahp"
	"termhost/ptypool/termlog"
	"termhost/ptypool/vt"
)

// Read calls visit with the log's items, in order, until visit returns false. While the terminal
// runs, a partial character or sequence at the end is left out. truncated: the log's beginning is
// gone, and the second item is output that draws the screen as it was. Errors are those of
// [Log.Allowed], of Records and of the work. The terminal may print meanwhile.
func (l *Log) Read(w Work, visit func(*Item) bool) (truncated bool, err error) {
	r := newReader(l, w, visit)
	err = r.read(nil)
	return r.truncated, err
}

// ReadFrom is Read for the items from a position on. It also returns the position of the log's
// first item; nil: there is none.
func (l *Log) ReadFrom(w Work, from int64, visit func(*Item) bool) (first *int64, err error) {
	r := newReader(l, w, func(i *Item) bool { return i.At < from || visit(i) })
	err = r.read(func(s *state) bool { return s.place.At < from })
	if r.first >= 0 {
		first = &r.first
	}
	return first, err
}

// reader makes items of a log's records. It parses the output again, so that commands begin and end
// at the exact byte; the parser calls [found].
type reader struct {
	*Log
	work  Work
	visit func(*Item) bool
	// before is the position at which reading ends.
	before int64
	over   bool  // visit has returned false, or the work has ended
	err    error // of the work
	survey survey

	state
}

// state is a reader's position in its log, of which a keyframe is made.
type state struct {
	walk      Walker
	screen    *vt.Screen  // the parser; nil: the log cannot be followed yet
	lines     vt.LineEnds // of a program on pipes
	truncated bool
	commands  int // how many the shell has reported
	running   *Command
	began     time.Time // its time, more precise than reported

	first int64 // the position of the first item; -1: none has come
	place Place // behind the last item
	time  time.Time
	shown *canvas // nil: the screen is not needed
}

func newReader(l *Log, w Work, visit func(*Item) bool) *reader {
	return &reader{Log: l, work: w, visit: visit, before: math.MaxInt64,
		state: state{first: -1, place: Place{At: -1}}}
}

// clone returns an independent copy of the state.
func (s state) clone() state {
	if s.screen != nil {
		s.screen = s.screen.Clone()
	}
	s.shown = s.shown.clone()
	s.walk.At.Payload = nil
	return s
}

// read reads the log from the last usable keyframe; usable nil: from its beginning.
func (r *reader) read(usable func(*state) bool) error {
	if err := r.allowed(); err != nil {
		return err
	}
	defer r.work.Rest()
	if r.stopped() {
		return r.err
	}
	err := r.readLogged(usable)
	if errors.Is(err, ErrNotLogged) && r.Retained != nil && r.err == nil {
		err = r.readRetained()
	}
	if r.err != nil {
		return r.err
	}
	return err
}

// readLogged is read for a log.
func (r *reader) readLogged(usable func(*state) bool) error {
	if err := r.look(); err != nil {
		return err
	}
	r.walk.cleared, r.walk.Blind = r.survey.cleared, !r.survey.followed
	var keep *chain
	var frame *state // where to start; nil: at the log's beginning, or it has been used
	resume := func() {
		if frame != nil {
			r.state, frame = frame.clone(), nil
		}
	}
	err := r.Records(func(start termlog.Spot) termlog.Spot {
		if usable != nil && start == r.survey.start {
			keep, frame = r.Index.chain(&r.survey, r.shown.lines(), usable)
		}
		if frame != nil {
			return frame.walk.At.Next()
		}
		return start
	}, func(rec termlog.Record) bool {
		resume()
		if r.stopped() || rec.Pos >= r.before && (rec.Kind == termlog.Data || rec.Pos > r.before) {
			return false
		}
		r.walk.Take(rec, r)
		if !r.over && keep != nil {
			r.Index.keep(keep, &r.state)
		}
		return !r.over
	})
	resume()
	if errors.Is(err, ErrNotLogged) && r.screen != nil {
		return errEnded
	}
	if err == nil {
		r.finish()
	}
	return err
}

// Data parses output.
func (r *reader) Data(p []byte) {
	if r.Piped {
		p = r.lines.Append(nil, p)
	}
	r.screen.Tick(r.walk.At.Time, found{r: r})
	r.screen.Feed(p, found{r: r})
}

// stopped reports whether reading ends here.
func (r *reader) stopped() bool {
	if !r.over && r.err == nil {
		r.err = r.work.Step()
	}
	r.over = r.over || r.err != nil
	return r.over
}

// Begin starts at a checkpoint.
func (r *reader) Begin(payload []byte) bool {
	c, ok := Checkpoint{}, true
	if payload == nil {
		c = r.Outline()
	} else if c, ok = r.Format.Checkpoint(payload); !ok {
		return false
	}
	if r.screen == nil {
		r.truncated = r.walk.At.Pos > 0 && !r.Whole
		r.screen = vt.New(c.Cols, c.Rows, vt.Options{Nonce: r.Nonce})
		r.emit(Item{Kind: Resized, Cols: c.Cols, Rows: c.Rows})
	} else {
		r.finished(nil)
		r.Resize(c.Cols, c.Rows)
	}
	r.commands = c.Commands
	r.screen.Feed([]byte(c.Marks), nil)
	if len(c.Redraw) > 0 {
		r.emit(Item{Kind: Data, Data: c.Redraw})
	}
	if c.Running != nil {
		r.executed(*c.Running)
	}
	return true
}

// Passed, and Unfollowed, do nothing.
func (r *reader) Passed([]byte)     {}
func (r *reader) Unfollowed([]byte) {}

// Gap ends a partial sequence with CAN.
func (r *reader) Gap(n int64, why string) {
	r.screen.Feed([]byte{0x18}, nil)
	r.emit(Item{Kind: Gap, Missing: n, Reason: why})
}

// Clear starts the visit of items.
func (r *reader) Clear() {
	if r.running != nil {
		r.emit(Item{Kind: Began, Command: r.running})
	}
}

// Resize makes an item of a new size.
func (r *reader) Resize(cols, rows int) {
	if c, n := r.screen.Size(); c != cols || n != rows {
		r.screen.Resize(cols, rows)
		r.emit(Item{Kind: Resized, Cols: cols, Rows: rows})
	}
}

// Event takes an action that was not parsed from the output.
func (r *reader) Event(payload []byte) {
	if bytes.Contains(payload, []byte(`"parsed":true`)) {
		return // most are; decoding them takes long
	}
	switch a, _ := r.Format.Event(payload); a := a.(type) {
	case ahp.TerminalCommandExecuted:
		r.executed(a)
	case ahp.TerminalCommandFinished:
		r.finished(a.ExitCode)
	}
}

// finish ends the history of a terminal that has exited.
func (r *reader) finish() {
	end := r.survey.end
	if r.Ended != nil {
		end = r.Ended()
	}
	if end == nil || r.over {
		return
	}
	r.walk.At.Time = end.At
	if r.screen != nil {
		r.walk.At.Pos = r.walk.next
		r.screen.Flush(found{r: r})
		r.finished(end.ExitCode)
	}
	r.emit(Item{Kind: Exited, ExitCode: end.ExitCode})
}

// emit passes an item on, unless the terminal was cleared after it.
func (r *reader) emit(i Item) {
	i.At, i.Time = r.walk.At.Pos, r.walk.At.Time
	if r.walk.cleared == nil || i.Kind == Resized {
		r.hand(&i)
	}
}

// hand passes an item to visit, and draws it.
func (r *reader) hand(i *Item) {
	if r.over {
		return
	}
	if r.first < 0 {
		r.first = i.At
	}
	if r.over = !r.visit(i); r.over {
		return
	}
	r.place, r.time = r.place.next(i.At), i.Time
	r.shown.take(i)
}

func (r *reader) executed(a ahp.TerminalCommandExecuted) {
	r.finished(nil)
	c := &ahp.Command{ID: a.CommandID, Line: a.CommandLine, Timestamp: a.Timestamp, By: a.By}
	r.running, r.began = NewCommand(c), r.walk.At.Time
	r.emit(Item{Kind: Began, Command: r.running})
}

func (r *reader) finished(code *int) {
	if r.running == nil {
		return
	}
	ms, told := r.survey.took[r.running.id]
	if !told {
		ms = max(r.walk.At.Time.Sub(r.began).Milliseconds(), 0)
	}
	over := *r.running
	over.ExitCode, over.DurationMs, over.Running = code, &ms, false
	r.running = nil
	r.emit(Item{Kind: Finished, Command: &over})
}
