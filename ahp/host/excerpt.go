package host

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"termhost/ahp"
	"termhost/authz"
	"termhost/ptypool/vt"
)

// ExcerptOf says which part of a terminal's log is meant. At most one field is set; none: all of
// it.
type ExcerptOf struct {
	Last    bool      // the output of the last command
	Command int       // the output of the Nth command of [Host.LogCommands], counted from 1
	Since   time.Time // what was printed then or later
}

// Excerpt is a part of what a terminal has printed.
type Excerpt struct {
	// State is the terminal's, with that part as its content.
	State ahp.TerminalState
	// Truncated says that the beginning of the part is gone.
	Truncated bool
}

// ErrNoCommandYet says that a terminal's shell has not run a command, as far as is retained.
var ErrNoCommandYet = errors.New("its shell has run no command yet")

// Excerpt returns a part of a terminal's log. It returns *authz.Denied, [ErrNoCommands] or
// [ErrNoCommandYet], or that there is no such command.
func (h *Host) Excerpt(p authz.Principal, t *Terminal, of ExcerptOf) (Excerpt, error) {
	st, truncated, err := h.readLog(p, t)
	if err != nil {
		return Excerpt{}, err
	}
	return t.excerpt(Excerpt{st, truncated}, of, math.MaxInt64)
}

// excerpt takes a part of e, which is all; of the log only what comes before end counts.
func (t *Terminal) excerpt(e Excerpt, of ExcerptOf, end int64) (Excerpt, error) {
	if !of.Since.IsZero() {
		return t.excerptSince(e, of.Since, end)
	}
	if !of.Last && of.Command == 0 {
		return e, nil
	}
	var commands []int
	for i := range e.State.Content {
		if e.State.Content[i].Command != nil {
			commands = append(commands, i)
		}
	}
	n := of.Command
	if of.Last {
		n = len(commands)
	}
	switch {
	case len(commands) == 0 && !e.State.Detection && !t.integrated:
		return Excerpt{}, ErrNoCommands
	case len(commands) == 0:
		return Excerpt{}, ErrNoCommandYet
	case n > len(commands):
		return Excerpt{}, fmt.Errorf("host: there is no command %d: its log has %d",
			n, len(commands))
	}
	i := commands[n-1]
	e.State.Content = e.State.Content[i : i+1]
	e.Truncated = e.Truncated && i == 0
	return e, nil
}

// excerptSince is excerpt for what was printed at a time or later.
func (t *Terminal) excerptSince(all Excerpt, since time.Time, end int64) (Excerpt, error) {
	e := Excerpt{State: all.State}
	e.State.Content = nil
	var first time.Time // of what there is
	visit := func(i *HistoryItem) bool {
		content := &e.State.Content
		if first.IsZero() && i.Kind != HistoryResized {
			first = i.Time
		}
		switch i.Kind {
		case HistoryCommand:
			*content = append(*content, ahp.Part{Command: i.Command.wire()})
		case HistoryFinished:
			if n := len(*content); n > 0 && (*content)[n-1].Command != nil {
				if (*content)[n-1].Command = i.Command.wire(); i.Time.Before(since) {
					*content = (*content)[:n-1]
				} else {
					*content = append(*content, ahp.Part{})
				}
			}
		case HistoryData:
			if i.Time.Before(since) {
				break
			}
			if len(*content) == 0 {
				*content = append(*content, ahp.Part{})
			}
			(*content)[len(*content)-1].Text.Append(bytes.Clone(i.Data))
		}
		return true
	}
	truncated, err := t.walk(end, visit)
	if errors.Is(err, errNotLogged) {
		truncated, err = all.Truncated, nil
		t.visitRetained(all.State, visit)
	}
	e.State.Content = slices.DeleteFunc(e.State.Content, func(p ahp.Part) bool {
		return p.Command == nil && p.Text.Len() == 0
	})
	e.Truncated = truncated && !first.Before(since)
	return e, err
}

// Raw returns the output as the program wrote it. The pieces must not be modified.
func (e *Excerpt) Raw() (pieces [][]byte) {
	for i := range e.State.Content {
		pieces = append(pieces, e.State.Content[i].Text.Chunks()...)
	}
	return pieces
}

// Text returns the output as plain text, as a screen of the terminal's size shows it that was blank
// before. Lines that were wrapped are joined.
func (e *Excerpt) Text() []byte {
	pieces, size := e.Raw(), 0
	for _, p := range pieces {
		size += len(p)
	}
	screen := vt.New(e.State.Cols, e.State.Rows, vt.Options{ScrollbackLines: size + 1,
		ScrollbackBytes: 2*size + 1})
	for _, p := range pieces {
		screen.Feed(p, nil)
	}
	return screen.AppendHistoryText(nil)
}

// JSON returns the state as JSON, in AHP's newest shape. If the beginning is gone, the object says
// "truncated": true.
func (e *Excerpt) JSON() []byte {
	text := e.State.AppendJSON(nil, ahp.ShapeLifecycle)
	if e.Truncated {
		text = append(bytes.TrimSuffix(text, []byte("}")), `,"truncated":true}`...)
	}
	return text
}

// Commands returns the commands, the oldest first. It does not return nil.
func (e *Excerpt) Commands() []*Command {
	list := []*Command{}
	for i := range e.State.Content {
		if c := e.State.Content[i].Command; c != nil {
			list = append(list, NewCommand(c))
		}
	}
	return list
}

// wire returns the command as AHP's state has it.
func (c *Command) wire() *ahp.Command {
	return &ahp.Command{ID: c.id, Line: c.Line, By: c.By, Timestamp: c.StartedAt.UnixMilli(),
		Complete: !c.Running, ExitCode: c.ExitCode, DurationMs: c.DurationMs}
}
