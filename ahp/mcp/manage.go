package mcp

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"termhost/ahp/host"
	"termhost/ptypool/keyboard"
)

// begins is the longest that a shell is given for its prompt.
const begins = 2 * time.Second

// open is terminal_open.
func (c *call) open() (string, error) {
	o := host.CreateOptions{}
	var err error
	if o.Name, err = c.args.Text("name"); err != nil {
		return "", err
	}
	if o.Dir, err = c.dir(); err != nil {
		return "", err
	}
	cols, err := c.args.Integer("cols", 120)
	if err != nil {
		return "", err
	}
	rows, err := c.args.Integer("rows", 40)
	if err != nil {
		return "", err
	}
	o.Cols, o.Rows = int(cols), int(rows)
	made, err := c.create(o)
	if err != nil {
		return "", err
	}
	c.about(made.Terminal, 0)
	c.prompt(made.Terminal, begins)
	return c.after(made.Terminal, host.WaitFor{Idle: settled, Timeout: begins}, 0)
}

// list is terminal_list.
func (c *call) list() (string, error) {
	all, err := c.args.Bool("all", false)
	if err != nil {
		return "", err
	}
	terminals, err := c.conn.Terminals()
	if err != nil {
		return "", err
	}
	p := c.conn.Principal()
	own := func(t *host.Terminal) bool { return t.Creator().ID == p.ID }
	slices.SortStableFunc(terminals, func(a, b *host.Terminal) int {
		switch {
		case own(a) == own(b):
			return 0
		case own(a):
			return -1
		}
		return 1
	})
	var b strings.Builder
	hidden, beyond := 0, 0
	for _, t := range terminals {
		info, lost := t.Info(p), c.client.lostIn(t)
		if info.State == host.StateExited && !all && lost == "" {
			hidden++
			continue
		}
		if b.Len() > mostChars {
			beyond++
			continue
		}
		state, age := c.program(t, &info, "")
		state = strings.TrimSuffix(state, `: ""`)
		holder := info.Holder
		if info.HeldBy == p.ID {
			holder = "you"
		}
		fmt.Fprintf(&b, "%s  %s  held by %s  %s", t.Name(), state, holder, duration(age))
		if last := info.LastCommand; last != nil {
			b.WriteString("  " + quoted(last.Line))
		}
		if lost != "" {
			fmt.Fprintf(&b, "  (the answer to your %s did not reach you: %s)", lost,
				callText("terminal_read", "terminal", t.Name()))
		}
		b.WriteByte('\n')
	}
	if b.Len() == 0 {
		b.WriteString("No terminal is running.\n")
	}
	if hidden > 0 {
		c.hint("%d more have exited: %s", hidden, callText("terminal_list", "all", true))
	}
	if beyond > 0 {
		c.hint("%d more are not listed. To remove those that you no longer need: %s", beyond,
			callText("terminal_stop", "terminal", "...", "how", "remove"))
	}
	c.client.untold() // all are told
	delete(c.facts, "exitCode")
	return b.String(), nil
}

// stop is terminal_stop.
func (c *call) stop() (string, error) {
	how, err := c.args.Text("how")
	if err != nil {
		return "", err
	}
	if !slices.Contains([]string{"", "interrupt", "terminate", "remove"}, how) {
		return "", &ArgumentError{"how", `must be "interrupt", "terminate" or "remove"`}
	}
	t, err := c.find()
	if err != nil {
		return "", err
	}
	if how == "remove" {
		return c.remove(t)
	}
	const grace = 2 * time.Second
	pending, err := c.conn.StartWait(t, host.WaitFor{Idle: settled, Timeout: grace})
	if err != nil {
		return "", err
	}
	if how == "terminate" {
		err = c.conn.Signal(t, syscall.SIGTERM)
	} else {
		interrupt := keyboard.Key{Code: 'c', Mods: keyboard.Ctrl}
		err = c.conn.Send(c.ctx, t, nil, interrupt)
	}
	_, ended := c.await(pending, nil)
	held := (*host.HeldError)(nil)
	switch {
	case err == nil, errors.Is(err, host.ErrExited): // who has exited has stopped
	case how == "terminate" && errors.As(err, &held):
		return "", c.heldBy(t, held.Holder, "it was not terminated")
	case how == "terminate":
		return "", err
	default:
		return "", c.refusal(t, err)
	}
	if ended != nil && !errors.Is(ended, host.ErrGone) {
		return "", ended
	}
	return c.result(t, c.client.cursor(t), false)
}

// remove ends a terminal's processes and takes it out of the host.
func (c *call) remove(t *host.Terminal) (string, error) {
	last, err := c.result(t, c.client.cursor(t), false)
	if err != nil {
		return "", err
	}
	if err := c.conn.Dispose(t); err != nil {
		c.hints = nil // they are about the output, which is not told
		if held := (*host.HeldError)(nil); errors.As(err, &held) {
			err = c.heldBy(t, held.Holder, "it was not removed")
		}
		return "", err
	}
	_, lines, _ := strings.Cut(last, "\n")
	c.hints, c.facts["state"] = nil, Gone
	age := time.Since(t.Info(c.conn.Principal()).CreatedAt)
	h := Header{Name: t.Name(), State: Gone, Time: age, Cursor: c.client.cursor(t),
		Lines: strings.Count(lines, "\n")}
	return h.String() + "\n" + lines, nil
}
