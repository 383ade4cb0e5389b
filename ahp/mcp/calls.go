package mcp

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

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
	made, err := c.conn.Create(o)
	if err != nil {
		return "", err
	}
	w := host.WaitFor{Blocked: true, Timeout: wait}
	if background {
		w.Idle, w.Timeout = settled, time.Second
	}
	return c.after(made.Terminal, w)
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
	pending, err := c.conn.StartWait(t, host.WaitFor{Command: true, Blocked: false, Timeout: wait})
	if errors.Is(err, host.ErrNoCommands) {
		pending, err = c.conn.StartWait(t, host.WaitFor{Idle: settled, Timeout: wait})
	}
	if err != nil {
		return "", err
	}
	if err := c.conn.Send(c.ctx, t, []byte(line), enter); err != nil {
		return "", err
	}
	if _, err := pending.End(c.ctx); err != nil {
		return "", err
	}
	return c.result(t, c.session.cursor(t))
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
	w := host.WaitFor{Blocked: true, Fresh: true}
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
		if _, err := c.conn.Wait(c.ctx, t, w); err != nil {
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
	pending, err := c.conn.StartWait(t, host.WaitFor{Blocked: true, Idle: settled, Timeout: max(wait, 1)})
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
	release, err := c.conn.WaitReading(c.ctx)
	if err != nil {
		return "", err
	}
	defer release()
	work := c.conn.Work(c.ctx)
	defer work.Rest()
	shown, err := c.conn.History(work, host.Source{Terminal: t}).Show(work, nil, history.AllLines)
	if err != nil {
		return "", err
	}
	total := int64(shown.Lines())
	from = min(max(from, 0), total)
	text := styles.ReplaceAllString(string(shown.Styled(int(from), int(total))), "")
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
	case exited:
		signal := ""
		if status.Signal != 0 {
			signal = signalName(status.Signal)
		}
		h.State, h.Time = Exited(status.Code, signal), t.ExitedAt().Sub(info.CreatedAt)
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
