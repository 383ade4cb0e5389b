package verbs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"termhost/ahp"
	"termhost/ahp/history"
	"termhost/ahp/host"
	"termhost/ptypool/vt"
)

// followLog prints a part of a terminal's log and what follows, until the end of the terminal, of
// the command whose output it is, or of the connection, or until the peer interrupts it.
func (v *invocation) followLog(t *host.Terminal, f logFlags) int {
	release, err := v.Conn.WaitReading(v.ctx)
	if err != nil {
		return v.failed(err)
	}
	defer release()
	follower, e, err := v.Conn.Follow(v.Conn.Work(v.ctx), t, f.part())
	if err != nil {
		return v.failed(err)
	}
	defer follower.Close()
	v.tellTruncated(t, f.lacks(&e))
	ctx, stop := v.untilInterrupted()
	defer stop()
	w := v.logWriter(f)
	only := ""
	if f.last || f.command > 0 {
		only = e.State.Content[0].Command.ID
	}
	over := only != "" && e.State.Content[0].Command.Complete
	err = w.begin(&e)
	release()
	for err == nil && !over {
		list, ended := follower.Next(ctx)
		if ended != nil {
			return v.followedTo(ctx, t, w, ended)
		}
		for i := 0; i < len(list) && err == nil && !over; i++ {
			if a := list[i].Action; a != nil {
				over = only != "" && endsCommand(a, only)
				err = w.action(a)
				continue
			}
			err = w.lost()
			fmt.Fprintf(v.stderr, "termhost: about %d bytes of %s are lost here: it prints faster"+
				" than they are read\n", list[i].Lost, v.shown(t.Name()))
		}
		if err == nil {
			err = w.flush()
		}
	}
	if err != nil || w.end() != nil {
		return StatusFailed
	}
	return StatusOK
}

// followedTo ends followLog and returns the exit status. why is io.EOF at the terminal's end.
func (v *invocation) followedTo(ctx context.Context, t *host.Terminal, w logWriter, why error) int {
	err := w.end()
	switch {
	case errors.Is(why, io.EOF) && err == nil:
		return StatusOK
	case v.cut():
		return v.cutShort(t)
	case ctx.Err() != nil:
		return StatusOK
	case !errors.Is(why, io.EOF):
		return v.failed(why)
	case err != nil:
		return StatusFailed
	}
	return StatusOK
}

// endsCommand reports whether an action is the end of a command, or of the terminal.
func endsCommand(a ahp.Action, id string) bool {
	switch a := a.(type) {
	case ahp.TerminalCommandFinished:
		return a.CommandID == id
	case ahp.TerminalExited:
		return true
	}
	return false
}

// logWriter writes a growing log in one of its forms.
type logWriter interface {
	begin(*history.Excerpt) error
	action(ahp.Action) error
	lost() error  // some actions are lost, and others come next
	flush() error // shows what has been written
	end() error   // nothing more comes
}

func (v *invocation) logWriter(f logFlags) logWriter {
	switch {
	case f.raw:
		return &rawWriter{w: v.Stdout(), tail: f.tail} // raw: line ends are not converted
	case f.commands:
		return &commandWriter{w: v.stdout, json: f.json, tail: f.tail,
			running: map[string]*ahp.Command{}}
	case f.json:
		return &actionWriter{w: v.stdout}
	}
	return &textWriter{w: v.stdout, tail: f.tail}
}

// rawWriter writes output as it is.
type rawWriter struct {
	w    io.Writer
	tail int
}

func (r *rawWriter) begin(e *history.Excerpt) error {
	raw := e.Raw()
	if r.tail >= 0 {
		raw = [][]byte{tail(bytes.Join(raw, nil), r.tail)}
	}
	for _, p := range raw {
		if _, err := r.w.Write(p); err != nil {
			return err
		}
	}
	return nil
}

func (r *rawWriter) action(a ahp.Action) error {
	if data, ok := a.(ahp.TerminalData); ok {
		_, err := r.w.Write(data.Data)
		return err
	}
	return nil
}

func (r *rawWriter) lost() error  { return nil }
func (r *rawWriter) flush() error { return nil }
func (r *rawWriter) end() error   { return nil }

// textWriter writes lines of text, each when it has ended.
type textWriter struct {
	w     io.Writer
	tail  int
	lines vt.Lines
	buf   []byte
}

func (t *textWriter) begin(e *history.Excerpt) error {
	for _, p := range e.Raw() {
		t.buf = t.lines.Append(t.buf, p)
	}
	t.buf = tail(t.buf, t.tail)
	return t.flush()
}

func (t *textWriter) action(a ahp.Action) error {
	if data, ok := a.(ahp.TerminalData); ok {
		t.buf = t.lines.Append(t.buf, data.Data)
	}
	return nil
}

func (t *textWriter) lost() error {
	err := t.end()
	t.lines = vt.Lines{}
	return err
}

func (t *textWriter) flush() error {
	var err error
	if len(t.buf) > 0 {
		_, err = t.w.Write(t.buf)
	}
	t.buf = nil
	return err
}

func (t *textWriter) end() error {
	t.buf = t.lines.AppendRest(t.buf)
	return t.flush()
}

// actionWriter writes the state and then the actions as AHP's JSON, one a line.
type actionWriter struct {
	w   io.Writer
	buf []byte
}

func (j *actionWriter) begin(e *history.Excerpt) error {
	j.buf = append(e.JSON(), '\n')
	return j.flush()
}

func (j *actionWriter) action(a ahp.Action) error {
	j.buf = append(ahp.AppendAction(j.buf, a, ahp.ShapeLifecycle), '\n')
	return nil
}

func (j *actionWriter) lost() error { return nil }

func (j *actionWriter) flush() error {
	_, err := j.w.Write(j.buf)
	j.buf = j.buf[:0]
	return err
}

func (j *actionWriter) end() error { return nil }

// commandWriter writes commands, each when it has ended.
type commandWriter struct {
	w       io.Writer
	json    bool
	tail    int
	running map[string]*ahp.Command // by ID; more than one if actions are lost
}

func (c *commandWriter) begin(e *history.Excerpt) error {
	list := slices.Clone(e.Older)
	for i := range e.State.Content {
		if cmd := e.State.Content[i].Command; cmd != nil && cmd.Complete {
			list = append(list, history.NewCommand(cmd))
		} else if cmd != nil {
			running := *cmd
			c.running[cmd.ID] = &running
		}
	}
	if c.tail >= 0 {
		list = list[max(0, len(list)-c.tail):]
	}
	if c.json {
		for _, cmd := range list {
			if err := c.row(cmd); err != nil {
				return err
			}
		}
		return nil
	}
	var table bytes.Buffer
	writeTable(&table, commands(list), 0)
	_, err := c.w.Write(table.Bytes())
	return err
}

func (c *commandWriter) action(a ahp.Action) error {
	switch a := a.(type) {
	case ahp.TerminalCommandExecuted:
		clear(c.running)
		c.running[a.CommandID] = &ahp.Command{ID: a.CommandID, Line: a.CommandLine, By: a.By,
			Timestamp: a.Timestamp}
	case ahp.TerminalCommandFinished:
		if cmd := c.running[a.CommandID]; cmd != nil {
			delete(c.running, a.CommandID)
			cmd.Complete, cmd.ExitCode, cmd.DurationMs = true, a.ExitCode, a.DurationMs
			return c.row(history.NewCommand(cmd))
		}
	}
	return nil
}

// row writes a command. The columns are as wide as their content: later commands are not known yet.
func (c *commandWriter) row(cmd *history.Command) error {
	var line []byte
	if c.json {
		line, _ = json.Marshal(cmd) // strings and numbers: it cannot fail
	} else {
		var table bytes.Buffer
		writeTable(&table, commands([]*history.Command{cmd})[1:], 0)
		line = bytes.TrimSuffix(table.Bytes(), []byte("\n"))
	}
	_, err := c.w.Write(append(line, '\n'))
	return err
}

func (c *commandWriter) lost() error  { return nil }
func (c *commandWriter) flush() error { return nil }
func (c *commandWriter) end() error   { return nil }
