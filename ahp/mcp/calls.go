package mcp

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"termhost/ahp"
	"termhost/ahp/history"
	"termhost/ahp/host"
	"termhost/ptypool/keyboard"
)

// settled is how long a program prints nothing when what was typed has done what it does.
const settled = 300 * time.Millisecond

// run is terminal_run.
func (c *call) run() (string, error) {
	line, err := c.args.Required("command", `"make test"`)
	if err != nil {
		return "", err
	}
	if shell, err := c.args.Text("terminal"); err != nil || shell != "" {
		return c.runIn(shell, line, err)
	}
	o := host.CreateOptions{Line: line, Cols: 120, Rows: 40}
	if o.Dir, err = c.args.Text("cwd"); err != nil {
		return "", err
	}
	if o.Name, err = c.args.Text("name"); err != nil {
		return "", err
	}
	background, err := c.args.Bool("background", false)
	if err != nil {
		return "", err
	}
	wait, err := c.wait(c.limit)
	if err != nil {
		return "", err
	}
	o.Later = true
	made, err := c.conn.Create(o)
	if err != nil {
		return "", err
	}
	begun := time.Now()
	if made.Starting != nil {
		started, err := c.started(made.Starting, wait)
		if err != nil {
			return "", err
		}
		if !started {
			return c.header(made.Terminal, 0, 0) + "\nA person must say yes first. To wait for it: " +
				callText("terminal_read", "terminal", made.Terminal.Name(), "wait_s", c.limit) + "\n", nil
		}
	}
	w := host.WaitFor{Blocked: true, Taken: true, Timeout: max(wait-time.Since(begun), 1)}
	if background {
		w.Idle, w.Timeout = settled, time.Second
	}
	return c.after(made.Terminal, w)
}

// started waits until a person has decided about a program, and reports whether somebody has: an
// error is that it was refused. The decision is awaited further by the connection.
func (c *call) started(s *host.Starting, wait time.Duration) (bool, error) {
	decided := make(chan error, 1)
	go func() { decided <- s.Wait(c.conn.Context()) }()
	late := time.NewTimer(wait)
	defer late.Stop()
	select {
	case err := <-decided:
		return true, err
	case <-late.C:
		return false, nil
	case <-c.ctx.Done():
		return false, context.Cause(c.ctx)
	}
}

// runIn types a command line into an open shell and waits for its end.
func (c *call) runIn(shell, line string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	t, err := c.find(shell)
	if err != nil {
		return "", err
	}
	wait, err := c.wait(c.limit)
	if err != nil {
		return "", err
	}
	enter, err := keyboard.Parse("enter")
	if err != nil {
		return "", err
	}
	if last := t.Info(c.conn.Principal()).LastCommand; last != nil && last.Running {
		return "", fmt.Errorf("%s is busy with %q: wait for it with %s", t.Name(), last.LineText(),
			callText("terminal_read", "terminal", t.Name(), "wait_s", c.limit))
	}
	from, err := c.lines(t)
	if err != nil {
		return "", err
	}
	if err := c.conn.Send(c.ctx, t, []byte(line), enter); err != nil {
		return "", err
	}
	how, err := c.conn.Wait(c.ctx, t, host.WaitFor{Command: true, Taken: true, Timeout: wait})
	if errors.Is(err, host.ErrNoCommands) {
		how, err = c.conn.Wait(c.ctx, t, host.WaitFor{Idle: settled, Timeout: wait})
	}
	if err != nil {
		return "", err
	}
	if how.Reason == host.WaitCommand && how.ExitCode != nil {
		c.status = how.ExitCode
	}
	return c.result(t, from-1) // the prompt's line has the command
}

// lines returns how many lines a terminal has shown.
func (c *call) lines(t *host.Terminal) (n int64, err error) {
	err = c.shown(t, func(s *history.Shown) { n = int64(s.Lines()) })
	return n, err
}

// open is terminal_open.
func (c *call) open() (string, error) {
	o := host.CreateOptions{}
	var err error
	if o.Name, err = c.args.Text("name"); err != nil {
		return "", err
	}
	if o.Dir, err = c.args.Text("cwd"); err != nil {
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
	made, err := c.conn.Create(o)
	if err != nil {
		return "", err
	}
	return c.after(made.Terminal, host.WaitFor{Idle: settled, Timeout: 2 * time.Second})
}

// readTool is terminal_read.
func (c *call) readTool() (string, error) {
	t, err := c.terminal()
	if err != nil {
		return "", err
	}
	from, err := c.args.Integer("cursor", c.session.cursor(t))
	if err != nil {
		return "", err
	}
	w := host.WaitFor{Blocked: true, Fresh: true, Taken: true}
	if w.Timeout, err = c.wait(0); err != nil {
		return "", err
	}
	until, err := c.args.Text("until")
	if err != nil {
		return "", err
	}
	if until != "" {
		if w.Match, err = history.NewPattern(until, false); err != nil {
			return "", &ArgumentError{"until", "is refused: " + err.Error()}
		}
	}
	if w.Timeout > 0 {
		if err := c.waitFrom(t, w, from); err != nil {
			return "", err
		}
	}
	switch view, err := c.args.Text("view"); {
	case err != nil:
		return "", err
	case view == "screen":
		screen, err := c.conn.Peek(t, false)
		return c.header(t, 0, 0) + "\n" + string(screen), err
	case view == "" || view == "new":
		return c.result(t, from)
	default:
		return "", &ArgumentError{"view", `must be "new" or "screen"`}
	}
}

// waitFrom waits, unless a line from a cursor on matches already.
func (c *call) waitFrom(t *host.Terminal, w host.WaitFor, from int64) error {
	pending, err := c.conn.StartWait(t, w)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	matched := false
	if w.Match != nil {
		matched, err = c.shows(t, w.Match, from)
		if matched || err != nil {
			cancel()
		}
	}
	_, ended := pending.End(ctx)
	if matched || err != nil {
		return err
	}
	return ended
}

// shows reports whether a line from a cursor on matches.
func (c *call) shows(t *host.Terminal, pattern *history.Pattern, from int64) (found bool, err error) {
	err = c.shown(t, func(s *history.Shown) {
		const most = 10_000
		lines, _ := s.Find(pattern, most)
		found = len(lines) > 0 && int64(lines[len(lines)-1]) >= from
	})
	return found, err
}

// shown calls look with what a terminal has shown.
func (c *call) shown(t *host.Terminal, look func(*history.Shown)) error {
	release, err := c.conn.WaitReading(c.ctx)
	if err != nil {
		return err
	}
	defer release()
	work := c.conn.Work(c.ctx)
	defer work.Rest()
	s, err := c.conn.History(work, host.Source{Terminal: t}).Show(work, nil, history.AllLines)
	if err != nil {
		return err
	}
	look(s)
	return work.Ended()
}

// send is terminal_send.
func (c *call) send() (string, error) {
	t, err := c.terminal()
	if err != nil {
		return "", err
	}
	text, err := c.args.Text("text")
	if err != nil {
		return "", err
	}
	enter, err := c.args.Bool("enter", text != "")
	if err != nil {
		return "", err
	}
	names, err := c.args.Texts("keys")
	if err != nil {
		return "", err
	}
	if key, meant := meantKey(text); meant {
		text, names, enter = "", append([]string{key}, names...), false
	}
	if enter {
		names = append([]string{"enter"}, names...)
	}
	var keys []keyboard.Key
	for _, name := range names {
		key, err := keyboard.Parse(name)
		if err != nil {
			return "", &ArgumentError{"keys", err.Error()}
		}
		keys = append(keys, key)
	}
	if text == "" && len(keys) == 0 {
		return "", &ArgumentError{"text", "or keys must be given"}
	}
	wait, err := c.wait(5)
	if err != nil {
		return "", err
	}
	pending, err := c.conn.StartWait(t, host.WaitFor{Blocked: true, Idle: settled, Taken: true, Timeout: max(wait, 1)})
	if err != nil {
		return "", err
	}
	if err := c.conn.Send(c.ctx, t, []byte(text), keys...); err != nil {
		return "", err
	}
	if _, err := pending.End(c.ctx); err != nil {
		return "", err
	}
	return c.result(t, c.session.cursor(t))
}

// meantKey returns the key that a model means that types its name.
func meantKey(text string) (key string, meant bool) {
	switch text {
	case "C-c", "^C", "\x03", "ctrl-c":
		return "ctrl-c", true
	case "C-d", "^D", "\x04", "ctrl-d":
		return "ctrl-d", true
	}
	return "", false
}

// list is terminal_list.
func (c *call) list() (string, error) {
	all, err := c.args.Bool("all", false)
	if err != nil {
		return "", err
	}
	list, err := c.conn.List()
	if err != nil {
		return "", err
	}
	own := c.conn.Name()
	slices.SortStableFunc(list, func(a, b host.Info) int {
		switch mine, other := a.Holder == own, b.Holder == own; {
		case mine == other:
			return 0
		case mine:
			return -1
		}
		return 1
	})
	var b strings.Builder
	for _, info := range list {
		if info.State == "exited" && !all {
			continue
		}
		fmt.Fprintf(&b, "%s  %s  %s  %s", info.Name, info.State, info.Holder,
			duration(time.Since(info.CreatedAt)))
		if last := info.LastCommand; last != nil {
			b.WriteString("  " + last.LineText())
		}
		b.WriteByte('\n')
	}
	if b.Len() == 0 {
		return "there are no terminals", nil
	}
	return b.String(), nil
}

// stop is terminal_stop.
func (c *call) stop() (string, error) {
	t, err := c.terminal()
	if err != nil {
		return "", err
	}
	how, err := c.args.Text("how")
	if err != nil {
		return "", err
	}
	const grace = 2 * time.Second
	switch how {
	case "", "interrupt":
		key, err := keyboard.Parse("ctrl-c")
		if err != nil {
			return "", err
		}
		if err := c.conn.Send(c.ctx, t, nil, key); err != nil {
			return "", err
		}
	case "terminate":
		if err := c.conn.Signal(t, syscall.SIGTERM); err != nil {
			return "", err
		}
	case "remove":
		name := t.Name()
		if err := c.conn.Dispose(t); err != nil {
			return "", err
		}
		return fmt.Sprintf("[%s %s]", name, Gone), nil
	default:
		return "", &ArgumentError{"how", `must be "interrupt", "terminate" or "remove"`}
	}
	return c.after(t, host.WaitFor{Idle: settled, Timeout: grace})
}

// terminal returns the terminal that a call names.
func (c *call) terminal() (*host.Terminal, error) {
	name, err := c.args.Required("terminal", `"t7"`)
	if err != nil {
		return nil, err
	}
	return c.find(name)
}

func (c *call) find(name string) (*host.Terminal, error) { return c.conn.Find(name) }

// wait returns how long a call may wait: as its arguments say, at most its client's limit.
func (c *call) wait(otherwise int64) (time.Duration, error) {
	s, err := c.args.Integer("wait_s", otherwise)
	if err != nil {
		return 0, err
	}
	return time.Duration(min(max(s, 0), c.limit)) * time.Second, nil
}

// after waits, and returns what the terminal has printed since.
func (c *call) after(t *host.Terminal, w host.WaitFor) (string, error) {
	if _, err := c.conn.Wait(c.ctx, t, w); err != nil {
		return "", err
	}
	return c.result(t, c.session.cursor(t))
}

// styles are the escape sequences of styled lines: SGR and hyperlinks.
var styles = regexp.MustCompile("\x1b\\[[0-9;:]*m|\x1b\\]8;[^\x1b\x07]*(\x1b\\\\|\x07)")

// result returns the header and what a terminal has printed from a cursor on.
func (c *call) result(t *host.Terminal, from int64) (string, error) {
	chars, err := c.args.Integer("max_chars", defaultChars)
	if err != nil {
		return "", err
	}
	var total int64
	var text string
	if err := c.shown(t, func(s *history.Shown) {
		total = int64(s.Lines())
		from = min(max(from, 0), total)
		text = styles.ReplaceAllString(string(s.Styled(int(from), int(total))), "")
	}); err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if strings.TrimRight(text, "\n") == "" {
		lines = nil
	}
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	// The last line may go on: it is read again.
	cursor := from + int64(max(len(lines)-1, 0))
	if _, exited := t.Exit(); exited {
		cursor = total
	}
	c.session.read(t, cursor)
	chars = min(max(chars, 100), mostChars)
	return c.header(t, len(lines), cursor) + "\n" + Output{t.Name(), from, lines}.Text(int(chars)), nil
}

// header returns the first line of a result.
func (c *call) header(t *host.Terminal, lines int, cursor int64) string {
	info := t.Info(c.conn.Principal())
	h := Header{Name: t.Name(), State: Running, Lines: lines, Cursor: cursor, Time: time.Since(info.CreatedAt)}
	status, exited := t.Exit()
	switch {
	case c.status != nil:
		h.State = Exited(*c.status, "")
		if last := info.LastCommand; last != nil && last.DurationMs != nil {
			h.Time = time.Duration(*last.DurationMs) * time.Millisecond
		}
	case exited:
		signal := ""
		if status.Signal != 0 {
			signal = signalName(status.Signal)
		}
		h.State, h.Time = Exited(status.Code, signal), t.ExitedAt().Sub(info.CreatedAt)
	case info.Executor == ahp.ExecutorServer && info.Holder != c.conn.Name():
		h.State = "held by " + info.Holder
	case info.Waiting == host.WaitingSecret:
		h.State = WaitingForSecret
	case info.Waiting == host.WaitingApproval:
		h.State = WaitingForApproval
	case info.Waiting == host.WaitingInput:
		h.State = WaitingForInput("")
	}
	c.facts["terminal"], c.facts["state"], c.facts["cursor"] = h.Name, h.State, cursor
	return h.String()
}
