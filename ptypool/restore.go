package ptypool

import (
	"time"

	"termhost/ptypool/vt"
)

// Restored describes a Term of an earlier process.
type Restored struct {
	Cols, Rows int
	VT         vt.Options
	Piped      bool // its program runs on pipes
}

// Restore makes a Term of a program that has ended. It does not count as a terminal. Its screen is
// blank until [Term.Replay] gets the program's output.
func (p *Pool) Restore(r Restored, h Handler) *Term {
	cols, rows := ClampSize(r.Cols, r.Rows)
	t := newTerm(p, nil, cols, rows, r.VT, h)
	if r.Piped {
		t.lines = &vt.LineEnds{}
	}
	t.exited = true
	t.held.close()
	t.in.close()
	close(t.done)
	t.mu.Lock()
	defer t.mu.Unlock()
	h.Started(t)
	return t
}

// Replay feeds a restored terminal output that its handler has logged before: the handler gets what
// the parser finds in it, but no call of Output. The lock must be held. p is not retained. A panic
// of the parser or the handler ends the replay; further output is ignored. at is when it was
// printed.
func (t *Term) Replay(p []byte, at time.Time) {
	if t.broken {
		return
	}
	defer t.contain("logged output")
	t.tickNow(at)
	t.parse(p)
}
