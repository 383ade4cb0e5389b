package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"termhost/ahp/history"
	"termhost/ahp/host"
)

// read is terminal_read.
func (c *call) read() (string, error) {
	t, err := c.find()
	if err != nil {
		return "", err
	}
	from, err := c.args.Integer("cursor", -1)
	if err != nil {
		return "", err
	}
	onwards := from >= 0
	if !onwards {
		from = c.client.cursor(t)
	}
	view, err := c.args.Text("view")
	if err != nil {
		return "", err
	}
	show, known := views[view]
	if !known {
		return "", &ArgumentError{"view", `must be "new", "screen" or "commands"`}
	}
	w := host.WaitFor{Blocked: true, Fresh: true, Taken: true}
	if w.Timeout, err = c.wait(0); err != nil {
		return "", err
	}
	pattern, release, err := c.until()
	if err != nil {
		return "", err
	}
	defer release()
	w.Match = pattern
	if _, err := c.chars(); err != nil {
		return "", err
	}
	if w.Timeout > 0 {
		if err := c.waitFrom(t, w, from); err != nil {
			return "", err
		}
	}
	return show(c, t, from, onwards)
}

var views = map[string]func(c *call, t *host.Terminal, from int64, onwards bool) (string, error){
	"": (*call).result, "new": (*call).result,
	"screen": (*call).screen, "commands": (*call).commands,
}

// until returns the pattern to wait for, and what releases it: see [host.Conn.Pattern]; nil: none
// is.
func (c *call) until() (pattern *history.Pattern, release func(), err error) {
	text, err := c.args.Text("until")
	if err != nil || text == "" {
		return nil, func() {}, err
	}
	if pattern, release, err = c.conn.Pattern(text, false); err != nil {
		return nil, nil, &ArgumentError{"until", "is refused: " + reason(err)}
	}
	return pattern, release, nil
}

// waitFrom waits, unless a line from a cursor on matches already, or somebody has decided about
// what waited for it.
func (c *call) waitFrom(t *host.Terminal, w host.WaitFor, from int64) error {
	d := c.client.pending(t)
	if d != nil && d.decided() {
		return nil
	}
	if last := t.Info(c.conn.Principal()).LastCommand; last != nil && last.Running {
		w.Command = true
	}
	if over, err := c.beyondPrompt(t, &w, d); over || err != nil {
		return err
	}
	pending, err := c.conn.StartWait(t, w)
	if errors.Is(err, host.ErrNoCommands) {
		w.Command = false
		pending, err = c.conn.StartWait(t, w)
	}
	if errors.Is(err, host.ErrGone) {
		return nil
	}
	if err != nil {
		return err
	}
	if w.Match != nil {
		matched, err := c.shows(t, w.Match, from)
		if matched || err != nil {
			return errors.Join(err, c.giveUp(pending))
		}
	}
	_, err = c.await(pending, d)
	if errors.Is(err, host.ErrGone) {
		err = nil
	}
	return err
}

// beyondPrompt waits until a program that asks for something, which the client knows already, goes
// on. It shortens the wait that follows; over: that one is over, too.
func (c *call) beyondPrompt(t *host.Terminal, w *host.WaitFor, d *decision) (over bool, err error) {
	if t.Info(c.conn.Principal()).Waiting == host.WaitingNone {
		return false, nil
	}
	begun := time.Now()
	pending, err := c.conn.StartWait(t, host.WaitFor{Output: true, Taken: true, Timeout: w.Timeout})
	if errors.Is(err, host.ErrGone) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	end, err := c.position(t)
	if err != nil || !c.client.knows(t, end) {
		return false, errors.Join(err, c.giveUp(pending))
	}
	how, err := c.await(pending, d)
	w.Timeout -= time.Since(begun)
	if errors.Is(err, host.ErrGone) {
		return true, nil
	}
	return how.Reason != host.WaitOutput || w.Timeout <= 0, err
}

// shows reports whether a line from a cursor on matches.
func (c *call) shows(t *host.Terminal, pattern *history.Pattern, from int64) (
	found bool, err error,
) {
	var block history.Block
	_, lines := c.linesWith(t, from, func(work *host.Work, l *history.TextLine) bool {
		if l.Mark != "" {
			found = found && l.Mark != history.Cleared
			return true
		}
		text := append(bytes.Clone(l.Text), '\n')
		block.Set(text)
		start, _, failed := pattern.Next(work, &block, 0)
		found, err = found || start < len(text), failed
		return !found && err == nil
	})
	return found, errors.Join(err, lines)
}

// screen returns what the screen shows.
func (c *call) screen(t *host.Terminal, _ int64, _ bool) (string, error) {
	screen, err := c.conn.Peek(t, false)
	if err != nil {
		return "", err
	}
	row, col, err := c.conn.Cursor(t)
	if err != nil {
		return "", err
	}
	end, err := c.position(t)
	if err != nil {
		return "", err
	}
	o := output{chars: mostChars}
	for line := range bytes.Lines(screen) {
		o.add(&history.TextLine{Text: bytes.TrimRight(line, "\n")})
		if o.lines == row+1 {
			o.unfinished = string(bytes.TrimRight(line, "\n"))
		}
	}
	c.hint("The cursor is in row %d, column %d.", row+1, col+1)
	return c.header(t, &o, end) + "\n" + o.text(), nil
}

// commands returns the commands that the terminal's shell has run.
func (c *call) commands(t *host.Terminal, _ int64, _ bool) (string, error) {
	chars, err := c.chars()
	if err != nil {
		return "", err
	}
	work := c.conn.Work(c.ctx)
	all, err := c.conn.Excerpt(work, t, history.ExcerptOf{})
	if err != nil {
		return "", err
	}
	end, err := c.position(t)
	if err != nil {
		return "", err
	}
	o := output{chars: chars}
	list := all.Commands()
	for i, command := range list {
		if err := work.Step(); err != nil {
			return "", err
		}
		o.add(&history.TextLine{Text: []byte(commandText(i+1, command))})
	}
	work.Rest()
	if len(list) == 0 {
		c.hint("No command is known: its shell has run none, or does not tell.")
	}
	return c.header(t, &o, end) + "\n" + o.text(), nil
}

// commandText returns a line about a command: its number, status, time, and what was typed.
func commandText(n int, command *history.Command) string {
	status := "running"
	switch {
	case command.Running:
	case command.ExitCode != nil:
		status = Exited(*command.ExitCode, "")
	default:
		status = "ended"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d  %s  %s", n, command.StartedAt.Format("15:04:05Z"), status)
	if command.DurationMs != nil {
		b.WriteString("  " + milliseconds(*command.DurationMs))
	}
	fmt.Fprintf(&b, "  by %s  %s", command.By, command.LineText())
	return b.String()
}
