package host

import (
	"context"
	"io"
	"math"

	"termhost/ahp"
	"termhost/ahp/history"
	"termhost/ahp/store"
)

// LogFollower goes on where an excerpt of a terminal's log ends. It is used by one goroutine.
type LogFollower struct {
	a      *Attach
	pos    int64 // in the channel: what is handed out next
	exited bool
	items  []store.Item
}

// Follow returns a part of a terminal's log, and the output behind the log's end. Its errors are
// those of [Conn.Excerpt] and [Conn.Attach]. The follower must be closed.
func (c *Conn) Follow(w *Work, t *Terminal, of history.ExcerptOf) (
	*LogFollower, history.Excerpt, error,
) {
	defer w.Rest()
	if err := w.Step(); err != nil {
		return nil, history.Excerpt{}, err
	}
	a, _, err := c.Attach(t, AttachOptions{ReadOnly: true, quiet: true})
	if err != nil {
		return nil, history.Excerpt{}, err
	}
	f := &LogFollower{a: a}
	all, end, err := f.start()
	if err == nil {
		all, err = t.excerpt(w, all, of, end)
	}
	if err != nil {
		a.Close()
		return nil, history.Excerpt{}, err
	}
	return f, all, nil
}

// start has all that comes from now on handed out, and returns what came before, and where the
// journal's log ends.
func (f *LogFollower) start() (all history.Excerpt, end int64, err error) {
	t := f.a.t
	t.term.Lock() // nothing is appended meanwhile
	defer t.term.Unlock()
	if err := f.a.sub.Follow(t.ch); err != nil {
		return all, 0, ErrGone
	}
	f.pos = t.ch.Position()
	all.State = f.a.conn.audience().state(t)
	all.Truncated = t.ch.Trimmed()
	all.Ran(ranOf(&t.log.outline), t.log.outline.Commands)
	if t.life.exited {
		return all, math.MaxInt64, nil
	}
	return all, t.log.journal.Position(), nil
}

// Followed is what follows in a log: an action, or that some are lost.
type Followed struct {
	Action ahp.Action // nil: Lost counts
	// Lost is how many bytes of output are lost, about: the terminal printed faster than they were
	// read.
	Lost int64
}

// Next returns what comes next, as soon as there is something. It returns io.EOF at the terminal's
// end, or the cause of ctx or of the connection's end.
func (f *LogFollower) Next(ctx context.Context) (list []Followed, err error) {
	done := f.a.t.life.done
	for {
		f.items = f.a.Pull(f.items[:0], pullPiece)
		for i := range f.items {
			list = f.append(list, f.items[i])
		}
		switch {
		case len(list) > 0:
			return list, nil
		case len(f.items) > 0:
			continue
		case f.exited:
			return nil, io.EOF
		}
		select {
		case <-f.a.Signal():
		case <-done:
			f.exited, done = true, nil
		case <-f.a.kicked:
			return nil, f.a.kickedBy
		case <-f.a.conn.ctx.Done():
			return nil, context.Cause(f.a.conn.ctx)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (f *LogFollower) append(list []Followed, it store.Item) []Followed {
	if it.Lagged != nil {
		was := f.pos
		if _, _, err := f.start(); err != nil { // the end comes next
			f.pos = was
		}
		return append(list, Followed{Lost: f.pos - was})
	}
	if it.Entry == nil {
		return list
	}
	switch a := it.Entry.Action().(type) {
	case store.Clipboard, store.Notification, store.Mark:
		return list
	case ahp.TerminalData:
		f.pos = it.Entry.Position() + int64(len(a.Data))
	default:
		f.pos = it.Entry.Position() + 1
	}
	return append(list, Followed{Action: it.Entry.Action()})
}

// Close ends the following. It may be called again.
func (f *LogFollower) Close() { f.a.Close() }
