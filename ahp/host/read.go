package host

import (
	"bytes"
	"strings"
	"time"

	"termhost/ahp"
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
	t.load()
	st, _ := t.ch.Terminal()
	return st, nil
}

// readLog is Read, and reports whether the log's beginning is gone.
func (h *Host) readLog(p authz.Principal, t *Terminal) (
	st ahp.TerminalState, truncated bool, err error,
) {
	t.load()
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
func (h *Host) LogRaw(p authz.Principal, t *Terminal) (
	pieces [][]byte, truncated bool, err error,
) {
	st, truncated, err := h.readLog(p, t)
	for i := range st.Content {
		pieces = append(pieces, st.Content[i].Text.Chunks()...)
	}
	return pieces, truncated, err
}

// LogText returns the lines that have left the screen, and the main screen, as plain text. Lines
// that were wrapped are joined.
func (h *Host) LogText(p authz.Principal, t *Terminal) (text []byte, truncated bool, err error) {
	if err := authz.Check(p, authz.Read, t.seen()); err != nil {
		return nil, false, err
	}
	t.term.Lock()
	defer t.term.Unlock()
	t.loadLocked()
	screen := t.term.Screen()
	return screen.AppendHistoryText(nil), t.cut || screen.HistoryCut(), nil
}

// Peek returns the screen as it is, one line per row down to the last one that shows something;
// ansi: with colours.
func (h *Host) Peek(p authz.Principal, t *Terminal, ansi bool) ([]byte, error) {
	if err := authz.Check(p, authz.Read, t.seen()); err != nil {
		return nil, err
	}
	t.term.Lock()
	defer t.term.Unlock()
	t.loadLocked()
	screen := bytes.TrimRight(t.term.Screen().AppendText(nil, ansi), "\n")
	if len(screen) == 0 {
		return nil, nil
	}
	return append(screen, '\n'), nil
}

// Command is a command that a shell has run, as listings show it; its JSON is an element of
// `log --commands --json`.
type Command struct {
	Line       string    `json:"line"`      // as it was typed, so it may have control characters
	By         string    `json:"by"`        // who typed it, or [ahp.Nobody]
	StartedAt  time.Time `json:"startedAt"` // in UTC
	DurationMs *int64    `json:"durationMs,omitempty"`
	ExitCode   *int      `json:"exitCode,omitempty"` // nil: unknown, or it runs
	Running    bool      `json:"-"`

	id string // AHP's
}

// NewCommand returns a command of a terminal's state as listings show it.
func NewCommand(c *ahp.Command) *Command {
	return &Command{
		id: c.ID, Line: c.Line, By: c.Who(), StartedAt: time.UnixMilli(c.Timestamp).UTC(),
		DurationMs: c.DurationMs, ExitCode: c.ExitCode, Running: !c.Complete,
	}
}

// LineText returns the line for people, on one line.
func (c *Command) LineText() string {
	return Printable(strings.ReplaceAll(c.Line, "\n", " "))
}

// LogCommands returns the commands that shell integration has told of, the oldest first. It does
// not return nil.
func (h *Host) LogCommands(p authz.Principal, t *Terminal) (
	list []*Command, truncated bool, err error,
) {
	st, truncated, err := h.readLog(p, t)
	if err != nil {
		return nil, false, err
	}
	list = []*Command{}
	for i := range st.Content {
		if c := st.Content[i].Command; c != nil {
			list = append(list, NewCommand(c))
		}
	}
	return list, truncated, nil
}

// CommandTable returns commands for people: a row of column names, then one for each.
func CommandTable(list []*Command) [][]string {
	rows := [][]string{{"STARTED", "TOOK", "STATUS", "WHO", "COMMAND"}}
	for _, c := range list {
		took, status := "-", StateRunning
		if c.DurationMs != nil {
			took = (time.Duration(*c.DurationMs) * time.Millisecond).String()
		}
		if !c.Running {
			status = codeText(c.ExitCode)
		}
		rows = append(rows,
			[]string{c.StartedAt.Format(time.RFC3339), took, status, Printable(c.By), c.LineText()})
	}
	return rows
}
