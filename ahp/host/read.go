package host

import (
	"bytes"
	"errors"
	"math"

	"termhost/ahp"
	"termhost/ahp/history"
	"termhost/authz"
)

// A terminal's log is what it has printed, as far as that is retained. These are the forms that it
// is read in. truncated says that its beginning is not. All return *authz.Denied if p may not see
// it.

// Read returns a terminal's state with the log as its content.
func (h *Host) Read(p authz.Principal, t *Terminal) (ahp.TerminalState, error) {
	if err := authz.Check(p, authz.Read, t.seen()); err != nil {
		return ahp.TerminalState{}, err
	}
	t.kept.load()
	st, _ := t.ch.Terminal()
	return st, nil
}

// readLog is Read, and reports whether the log's beginning is gone.
func (h *Host) readLog(p authz.Principal, t *Terminal) (
	st ahp.TerminalState, truncated bool, err error,
) {
	t.kept.load()
	t.term.Lock() // nothing is appended meanwhile
	defer t.term.Unlock()
	st, err = h.Read(p, t)
	return st, err == nil && t.ch.Trimmed(), err
}

// LogJSON returns [Host.Read]'s state as JSON, in AHP's newest shape. If the log's beginning is
// gone, the object says "truncated": true.
func (h *Host) LogJSON(p authz.Principal, t *Terminal) (text []byte, truncated bool, err error) {
	st, truncated, err := h.readLog(p, t)
	if err != nil {
		return nil, false, err
	}
	text = st.AppendJSON(nil, ahp.ShapeLifecycle)
	if truncated {
		text = append(bytes.TrimSuffix(text, []byte("}")), `,"truncated":true}`...)
	}
	return text, truncated, nil
}

// LogRaw returns the output as the program wrote it. The pieces are shared: they must not be
// modified.
func (c *Conn) LogRaw(t *Terminal) (pieces [][]byte, truncated bool, err error) {
	st, truncated, err := c.host.readLog(c.principal, t)
	for i := range st.Content {
		pieces = append(pieces, st.Content[i].Text.Chunks()...)
	}
	return pieces, truncated, err
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

// Peek returns the screen as it is, one line per row down to the last one that shows something;
// ansi: with colours.
func (h *Host) Peek(p authz.Principal, t *Terminal, ansi bool) ([]byte, error) {
	if err := authz.Check(p, authz.Read, t.seen()); err != nil {
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

// LogCommands returns the commands that shell integration has told of, the oldest first. It does
// not return nil.
func (h *Host) LogCommands(p authz.Principal, t *Terminal) (
	list []*history.Command, truncated bool, err error,
) {
	st, truncated, err := h.readLog(p, t)
	if err != nil {
		return nil, false, err
	}
	list = []*history.Command{}
	for i := range st.Content {
		if c := st.Content[i].Command; c != nil {
			list = append(list, history.NewCommand(c))
		}
	}
	return list, truncated, nil
}

// Excerpt returns a part of a terminal's log. It returns *authz.Denied, [ErrNoCommands] or
// [history.ErrNoCommandYet], or that there is no such command, or the cause of the work's end.
func (h *Host) Excerpt(w *Work, t *Terminal, of history.ExcerptOf) (history.Excerpt, error) {
	defer w.Rest()
	if err := w.Step(); err != nil {
		return history.Excerpt{}, err
	}
	st, truncated, err := h.readLog(w.principal, t)
	if err != nil {
		return history.Excerpt{}, err
	}
	return t.excerpt(w, history.Excerpt{State: st, Truncated: truncated}, of, math.MaxInt64)
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
