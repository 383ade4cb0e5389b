package host

import (
	"bytes"
	"errors"
	"math"

	"termhost/ahp"
	"termhost/ahp/history"
	"termhost/ahp/journal"
	"termhost/authz"
)

// A terminal's log is what it has printed, as far as that is retained. These are the forms that it
// is read in. truncated says that its beginning is not. All return *authz.Denied if the
// principal may not see it.

// LogRaw returns the output as the program wrote it. The pieces are shared: they must not be
// modified.
func (c *Conn) LogRaw(t *Terminal) (pieces [][]byte, truncated bool, err error) {
	st, truncated, err := t.read(c.principal, c.audience())
	for i := range st.Content {
		pieces = append(pieces, st.Content[i].Text.Chunks()...)
	}
	return pieces, truncated, err
}

// CommandOutput returns the output of a command, by its ID, as the program wrote it; not kept:
// there is none of the ID any more. The pieces are shared, as those of LogRaw.
func (c *Conn) CommandOutput(t *Terminal, id string) (pieces [][]byte, kept bool, err error) {
	st, _, err := t.read(c.principal, c.audience())
	for i := range st.Content {
		if cmd := st.Content[i].Command; cmd != nil && cmd.ID == id {
			return st.Content[i].Text.Chunks(), true, err
		}
	}
	return nil, false, err
}

// LogText returns the lines that have left the screen, and the main screen, as plain text. Lines
// that were wrapped are joined.
func (c *Conn) LogText(w *Work, t *Terminal) (text []byte, truncated bool, err error) {
	if err := authz.Check(w.principal, authz.Read, t.seen()); err != nil {
		return nil, false, err
	}
	defer w.Rest()
	if err := w.Step(); err != nil {
		return nil, false, err
	}
	t.term.Lock()
	defer t.term.Unlock()
	t.kept.loadLocked()
	screen := t.term.Screen()
	return screen.AppendHistoryText(nil), t.log.cut || screen.HistoryCut(), nil
}

// Peek returns the screen as it is shown, one line per row down to the last one that shows
// something; ansi: with colours.
func (c *Conn) Peek(t *Terminal, ansi bool) ([]byte, error) {
	if err := authz.Check(c.principal, authz.Read, t.seen()); err != nil {
		return nil, err
	}
	t.term.Lock()
	defer t.term.Unlock()
	t.kept.loadLocked()
	screen := bytes.TrimRight(t.term.Screen().AppendText(nil, ansi), "\n")
	if len(screen) == 0 {
		return nil, nil
	}
	return append(screen, '\n'), nil
}

// Cursor returns the place of the cursor on the screen that [Conn.Peek] returns, its row and column
// from 0.
func (c *Conn) Cursor(t *Terminal) (row, col int, err error) {
	if err := authz.Check(c.principal, authz.Read, t.seen()); err != nil {
		return 0, 0, err
	}
	t.term.Lock()
	defer t.term.Unlock()
	t.kept.loadLocked()
	col, row = t.term.Screen().ShownCursor()
	return row, col, nil
}

// Excerpt returns a part of a terminal's log. It returns *authz.Denied, [ErrNoCommands] or
// [history.ErrNoCommandYet], or that there is no such command, or the cause of the work's end.
func (c *Conn) Excerpt(w *Work, t *Terminal, of history.ExcerptOf) (history.Excerpt, error) {
	defer w.Rest()
	if err := w.Step(); err != nil {
		return history.Excerpt{}, err
	}
	st, truncated, err := w.read(t)
	if err != nil {
		return history.Excerpt{}, err
	}
	all := history.Excerpt{State: st, Truncated: truncated}
	o := t.outlineNow()
	all.Ran(ranOf(&o), o.Commands)
	return t.excerpt(w, all, of, math.MaxInt64)
}

// ranOf returns the commands that have ended, the oldest first.
func ranOf(o *journal.Outline) (list []*history.Command) {
	for i := range o.Ran {
		c := &o.Ran[i]
		list = append(list, history.NewCommand(&ahp.Command{ID: c.ID, Line: c.Line, By: c.By,
			Timestamp: c.Timestamp, Complete: true, ExitCode: c.ExitCode,
			DurationMs: c.DurationMs}))
	}
	return list
}

// excerpt takes a part of all; of the log only what comes before end counts.
func (t *Terminal) excerpt(w *Work, all history.Excerpt, of history.ExcerptOf, end int64) (
	history.Excerpt, error,
) {
	if !of.Since.IsZero() {
		log := t.host.history(w, t)
		log.Retained = func() (history.Retained, error) {
			return t.retainedHistory(all.State, all.Truncated), nil
		}
		return log.Since(w, all, of.Since, end)
	}
	if of.Last && t.commands.replaced.Load() {
		return history.Excerpt{}, ErrNoCommands
	}
	e, err := all.Part(of)
	if errors.Is(err, history.ErrNoCommandYet) && !all.State.Detection && !t.commands.integrated {
		err = ErrNoCommands
	}
	return e, err
}
