package history

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"termhost/ahp"
	"termhost/ptypool/vt"
)

// ExcerptOf selects a part of a terminal's log. At most one field is set; if none is, the part is
// the whole log.
type ExcerptOf struct {
	Last    bool      // the output of the last command
	Command int       // the output of the Nth command of [Excerpt.Commands], counted from 1
	Since   time.Time // the output from this time on
}

// Excerpt is a part of what a terminal has printed.
type Excerpt struct {
	// State is the terminal's, with only the part as its content.
	State ahp.TerminalState
	// Truncated says that the beginning of the part is gone.
	Truncated bool
	// Older are commands before those in the content, whose output is gone, the oldest first.
	Older []*Command
	// Forgotten says that there were commands before all these.
	Forgotten bool
}

// Ran adds what is known of commands besides the content of e, which is all that is retained: list
// has those that have ended, the oldest first, and total is how many have begun; 0: nobody knows.
func (e *Excerpt) Ran(list []*Command, total int) {
	kept := e.Commands()
	for _, c := range list {
		if len(kept) > 0 && (c.id == kept[0].id || c.StartedAt.After(kept[0].StartedAt)) {
			break
		}
		e.Older = append(e.Older, c)
	}
	e.Forgotten = len(e.Older)+len(kept) < total
}

// ErrOutputGone says that a command is listed whose output is gone.
var ErrOutputGone = errors.New("its output is gone: the terminal has printed more than" +
	" scrollback_bytes since")

// ErrNoCommandYet says that a terminal's shell has not run a command that is retained.
var ErrNoCommandYet = errors.New("its shell has run no command yet")

// Part returns a part of e, which must be an excerpt of all that is retained. It fails with
// [ErrNoCommandYet], or if there is no such command. It does not support Since: see [Log.Since].
func (e Excerpt) Part(of ExcerptOf) (Excerpt, error) {
	if !of.Last && of.Command == 0 {
		return e, nil
	}
	var commands []int
	for i := range e.State.Content {
		if e.State.Content[i].Command != nil {
			commands = append(commands, i)
		}
	}
	n := of.Command - len(e.Older)
	if of.Last {
		n = len(commands)
	}
	switch {
	case len(commands)+len(e.Older) == 0:
		return Excerpt{}, ErrNoCommandYet
	case n < 1:
		return Excerpt{}, ErrOutputGone
	case n > len(commands):
		return Excerpt{}, fmt.Errorf("history: there is no command %d: its log has %d",
			of.Command, len(commands)+len(e.Older))
	}
	i := commands[n-1]
	e.Older, e.Forgotten = nil, false
	e.State.Content = e.State.Content[i : i+1]
	e.Truncated = e.Truncated && i == 0
	return e, nil
}

// Since returns the output since a time, up to the position before in the log. The result has the
// State of all, an excerpt of the same terminal, except for the content. Errors are those of
// [Log.Read].
func (l *Log) Since(w Work, all Excerpt, since time.Time, before int64) (Excerpt, error) {
	e := Excerpt{State: all.State, Older: slices.Clone(all.Older)}
	e.Older = slices.DeleteFunc(e.Older, func(c *Command) bool { return c.StartedAt.Before(since) })
	content := sinceContent{since: since}
	r := newReader(l, w, content.take)
	r.before = before
	if err := r.read(nil); err != nil {
		return e, err
	}
	e.State.Content = slices.DeleteFunc(content.parts, func(p ahp.Part) bool {
		return p.Command == nil && p.Text.Len() == 0
	})
	e.Truncated = r.truncated && !content.first.Before(since)
	return e, nil
}

// sinceContent builds a state's content from the items since a time.
type sinceContent struct {
	since time.Time
	first time.Time // of the first item
	parts []ahp.Part
}

func (c *sinceContent) take(i *Item) bool {
	if c.first.IsZero() && i.Kind != Resized {
		c.first = i.Time
	}
	last := len(c.parts) - 1
	switch i.Kind {
	case Began:
		c.parts = append(c.parts, ahp.Part{Command: i.Command.wire()})
	case Finished:
		if last < 0 || c.parts[last].Command == nil {
			break
		}
		if c.parts[last].Command = i.Command.wire(); i.Time.Before(c.since) {
			c.parts = c.parts[:last]
		} else {
			c.parts = append(c.parts, ahp.Part{})
		}
	case Data:
		if i.Time.Before(c.since) {
			break
		}
		if last < 0 {
			c.parts = append(c.parts, ahp.Part{})
		}
		c.parts[len(c.parts)-1].Text.Append(bytes.Clone(i.Data))
	}
	return true
}

// Raw returns the output as the program wrote it. The pieces must not be modified.
func (e *Excerpt) Raw() (pieces [][]byte) {
	for i := range e.State.Content {
		pieces = append(pieces, e.State.Content[i].Text.Chunks()...)
	}
	return pieces
}

// Text returns the output as plain text, as a blank screen of the terminal's size would show it.
// Wrapped lines are joined. If the work ends early, text is missing.
func (e *Excerpt) Text(w Work) []byte {
	defer w.Rest()
	pieces, size := e.Raw(), 0
	for _, p := range pieces {
		size += len(p)
	}
	screen := vt.New(e.State.Cols, e.State.Rows, vt.Options{ScrollbackLines: size + 1,
		ScrollbackBytes: 2*size + 1})
	for _, p := range pieces {
		if w.Step() != nil {
			return nil
		}
		screen.Feed(p, nil)
	}
	return screen.AppendHistoryTextWhile(nil, goesOn(w))
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

// Commands returns the commands, the oldest first, with those whose output is gone. It does not
// return nil.
func (e *Excerpt) Commands() []*Command {
	list := append([]*Command{}, e.Older...)
	for i := range e.State.Content {
		if c := e.State.Content[i].Command; c != nil {
			list = append(list, NewCommand(c))
		}
	}
	return list
}
