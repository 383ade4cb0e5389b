package mcp

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"termhost/ahp/history"
	"termhost/ahp/host"
	"termhost/ahp/visible"
	"termhost/ptypool/keyboard"
)

// pagers has commands print all of their output, rather than wait for keys.
var pagers = []string{"PAGER=cat", "GIT_PAGER=cat"}

// run is terminal_run.
func (c *call) run() (string, error) {
	line, err := c.args.Required("command", `"make test"`)
	if err != nil {
		return "", err
	}
	c.what = quoted(line)
	shell, err := c.args.Text("terminal")
	if err != nil {
		return "", err
	}
	if shell != "" {
		c.hintSleep(line)
		return c.runIn(line)
	}
	o := host.CreateOptions{Line: line, Cols: 120, Rows: 40, DoorEnv: pagers, Later: true}
	if o.Dir, err = c.dir(); err != nil {
		return "", err
	}
	if o.Name, err = c.args.Text("name"); err != nil {
		return "", err
	}
	background, err := c.args.Bool("background", false)
	if err != nil {
		return "", err
	}
	if !background {
		c.hintSleep(line)
	}
	wait, err := c.wait(c.limit)
	if err != nil {
		return "", err
	}
	if _, err := c.chars(); err != nil {
		return "", err
	}
	begun := time.Now()
	made, err := c.create(o)
	if err != nil {
		return "", err
	}
	t := made.Terminal
	c.about(t, 0)
	if s := made.Starting; s != nil {
		d := c.decide(t, c.what, "started", func() (string, error) {
			err := s.Wait(c.conn.Context())
			return s.Approved(), err
		})
		if !c.decided(d, wait) {
			return c.header(t, &output{}, 0) + "\n", c.ctx.Err()
		}
		if d.err != nil {
			return "", d.err
		}
		c.hint("%s", d.text())
	}
	w := host.WaitFor{Blocked: true, Rest: true, Taken: true,
		Timeout: max(wait-time.Since(begun), 1)}
	if background {
		w.Idle, w.Timeout = settled, time.Second
	}
	return c.after(t, w, 0)
}

// dir returns the folder that a program starts in. One that is relative begins at the session's.
func (c *call) dir() (string, error) {
	dir, err := c.args.Text("cwd")
	base := c.session.peer.Dir
	if base == "" || path.IsAbs(dir) || dir == "~" || strings.HasPrefix(dir, "~/") {
		return dir, err
	}
	return path.Join(base, dir), err
}

// create makes a terminal.
func (c *call) create(o host.CreateOptions) (host.Created, error) {
	made, err := c.conn.Create(o)
	if exists := (*host.ExistsError)(nil); errors.As(err, &exists) {
		err = fmt.Errorf("there is a terminal %q already: give another name, or use it: %s",
			o.Name, callText("terminal_read", "terminal", o.Name))
	}
	return made, err
}

// quoted returns a command line as hints name it.
func quoted(line string) string {
	const most, longest = 80, 1000 // characters, and the bytes in which they are
	line = visible.Clean(line[:min(len(line), longest)])
	if text := []rune(line); len(text) > most {
		return strconv.Quote(string(text[:most]) + "...")
	}
	return strconv.Quote(line)
}

var bareSleep = regexp.MustCompile(`^\s*sleep\s+(\d+)\s*$`)

// hintSleep tells who sleeps to wait for something how to wait for it.
func (c *call) hintSleep(line string) {
	const long = 10 // seconds
	if m := bareSleep.FindStringSubmatch(line); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n >= long {
			c.hint("There is no need to sleep: terminal_read waits with wait_s, and with until " +
				"for a line.")
		}
	}
}

// decide has wait return a person's decision about what the client types or starts. It goes on when
// the call ends.
func (c *call) decide(
	t *host.Terminal, what, does string, wait func() (by string, err error),
) *decision {
	d := &decision{id: t.ID(), what: what, does: does, done: make(chan struct{}), err: errInternal}
	go c.session.server.guard("decision", func() {
		defer close(d.done)
		d.by, d.err = wait()
	})
	return d
}

// decided waits for a decision for some time, and reports whether somebody has decided. If nobody
// has, a later result tells it.
func (c *call) decided(d *decision, wait time.Duration) bool {
	late := time.NewTimer(wait)
	defer late.Stop()
	select {
	case <-d.done:
		return true
	case <-late.C:
	case <-c.ctx.Done():
	}
	c.client.waits(d)
	return false
}

// after waits, and returns what the terminal has printed from a cursor on.
func (c *call) after(t *host.Terminal, w host.WaitFor, from int64) (string, error) {
	p, err := c.conn.StartWait(t, w)
	if err == nil {
		_, err = c.awaitTyped(p, t)
	}
	if err != nil && !errors.Is(err, host.ErrGone) {
		return "", err
	}
	return c.result(t, from, false)
}

// runIn types a command line into an open shell and waits for its end.
func (c *call) runIn(line string) (string, error) {
	t, err := c.find()
	if err != nil {
		return "", err
	}
	wait, err := c.wait(c.limit)
	if err != nil {
		return "", err
	}
	if !c.client.enter(t) {
		return "", c.busy(t, "another command of yours")
	}
	defer c.client.leave(t)
	last := t.Info(c.conn.Principal()).LastCommand
	if last != nil && last.Running {
		return "", c.busy(t, quoted(last.Line))
	}
	begun := time.Now()
	line = strings.TrimRight(line, "\r\n")
	// The shell's line editor would complete at a tab, and run each of the lines for itself.
	paste := strings.ContainsAny(line, "\r\n\t")
	if paste {
		c.prompt(t, min(wait, begins))
	}
	from, err := c.position(t)
	if err != nil {
		return "", err
	}
	c.about(t, from)
	if undecided, err := c.typed(t, wait, paste, []byte(line),
		keyboard.Key{Code: keyboard.Enter}); undecided || err != nil {
		if err != nil {
			return "", err
		}
		return c.header(t, &output{}, from) + "\n", nil
	}
	how, err := c.commandEnd(t, max(wait-time.Since(begun), 1))
	if err == nil && how.Reason == host.WaitRest {
		// The shell shows a continuation prompt, or has not started the command yet, or has since.
		if !c.began(t, last) {
			c.quiet(t)
		}
		if c.began(t, last) {
			how, err = c.commandEnd(t, max(wait-time.Since(begun), 1))
		}
	}
	for err == nil && how.Reason == host.WaitCommand && strings.Contains(line, "\n") &&
		time.Since(begun) < wait {
		// The shell may run each of the lines as a command of its own.
		if !c.another(t) {
			break
		}
		how, err = c.commandEnd(t, max(wait-time.Since(begun), 1))
	}
	if err != nil {
		return "", err
	}
	return c.commandResult(t, from, how)
}

// prompt waits for the shell's prompt. Before that it takes no paste: programs that it starts would
// read the lines.
func (c *call) prompt(t *host.Terminal, wait time.Duration) {
	p, err := c.conn.StartWait(t, host.WaitFor{Rest: true, Timeout: max(wait, 1)})
	if err == nil {
		_, _ = c.await(p, nil) // the call's end is noticed by what follows
	}
}

func (c *call) busy(t *host.Terminal, with string) error {
	return fmt.Errorf("%s is busy with %s. To wait for it: %s; to run beside it, leave "+
		"terminal out",
		t.Name(), with, callText("terminal_read", "terminal", t.Name(), "wait_s", c.limit))
}

// commandEnd waits until the shell has run the command, or the command asks for something.
func (c *call) commandEnd(t *host.Terminal, wait time.Duration) (host.Waited, error) {
	p, err := c.conn.StartWait(t, host.WaitFor{Command: true, Blocked: true, Rest: true,
		Taken: true, Timeout: wait})
	if errors.Is(err, host.ErrNoCommands) {
		c.hint("This shell does not say when a command ends, nor its exit status; bash, zsh " +
			"and fish do.")
		p, err = c.conn.StartWait(t, host.WaitFor{Idle: settled, Taken: true, Timeout: wait})
	}
	if err != nil {
		return host.Waited{}, err
	}
	return c.awaitTyped(p, t)
}

// awaitTyped ends a wait for what the client has typed or started. It ends at once if somebody has
// taken the keyboard since.
func (c *call) awaitTyped(p *host.PendingWait, t *host.Terminal) (host.Waited, error) {
	if info := t.Info(c.conn.Principal()); c.elsewhere(t, &info) && p.Taken {
		return host.Waited{Reason: host.WaitTaken}, c.giveUp(p)
	}
	how, err := c.await(p, nil)
	c.rests = how.Reason == host.WaitRest
	return how, err
}

// giveUp ends a wait that is not needed any more.
func (c *call) giveUp(p *host.PendingWait) error {
	over, cancel := context.WithCancel(c.ctx)
	cancel()
	_, _ = p.End(over)
	return c.ctx.Err()
}

// another reports whether the shell runs another command soon after one has ended.
func (c *call) another(t *host.Terminal) bool {
	c.quiet(t)
	last := t.Info(c.conn.Principal()).LastCommand
	return last != nil && last.Running
}

// began reports whether the shell has begun another command than the last one.
func (c *call) began(t *host.Terminal, last *history.Command) bool {
	now := t.Info(c.conn.Principal()).LastCommand
	return now != nil &&
		(last == nil || !now.StartedAt.Equal(last.StartedAt) || now.Line != last.Line)
}

// quiet waits until nothing has been printed for a while, or that takes too long.
func (c *call) quiet(t *host.Terminal) {
	p, err := c.conn.StartWait(t, host.WaitFor{Idle: settled, Timeout: 2 * settled})
	if err == nil {
		_, _ = c.await(p, nil) // the call's end is noticed by what follows
	}
}

// commandResult is the result of a command that was typed behind a cursor: what it has printed,
// without the line that was typed.
func (c *call) commandResult(t *host.Terminal, from int64, how host.Waited) (string, error) {
	chars, err := c.chars()
	if err != nil {
		return "", err
	}
	fresh := output{terminal: t.Name(), chars: chars}
	o, echoed, running, told := fresh, false, false, false
	if how.Reason == host.WaitCommand {
		c.status = how.ExitCode
		c.facts["exitCode"] = how.ExitCode
	}
	return c.print(t, from, &o, func(l *history.TextLine) bool {
		switch {
		case l.Mark == history.Began:
			if !told { // what came before was the line as the shell shows it
				o = fresh
			}
			running, told = true, true
		case l.Mark == history.Finished:
			running = false
		case !told && !echoed:
			echoed = true // the line that was typed
		case running || !told:
			o.add(l)
		}
		return true
	})
}
