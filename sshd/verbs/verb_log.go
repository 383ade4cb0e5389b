package verbs

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"time"

	"termhost/ahp/history"
	"termhost/ahp/host"
	"termhost/sshd/viewer"
	"termhost/sshd/wording"
)

// logFlags are the flags of `log`: the form in which it prints, text by default; which part; and
// whether it follows.
type logFlags struct {
	text, raw, json, commands bool

	last    bool
	command int // 0: not given
	since   time.Time
	tail    int // -1: all
	follow  bool
	look    bool // not printed, but looked through in a reader
}

// defineLog prints the retained output of a terminal.
func defineLog(fs *flag.FlagSet) func(*invocation) int {
	f := logFlags{tail: -1}
	fs.BoolVar(&f.text, "text", false, "as text, without escape sequences; this is the default")
	fs.BoolVar(&f.raw, "raw", false, "byte for byte, as its program wrote it")
	fs.BoolVar(&f.json, "json", false, "as AHP's state of it, or its commands as an array;"+
		" with -f, one object or action on each line")
	fs.BoolVar(&f.commands, "commands", false, "the newest commands that its shell has run, also"+
		" when what they have printed is gone; with -f, each when it has ended")
	fs.BoolVar(&f.last, "last", false, "only the output of its last command")
	countFlag(fs, &f.command, 1, "command", "only the output of command `N` of --commands")
	fs.Func("since", "only what it printed since `TIME`, such as 2026-01-31T12:00:00Z, or for as"+
		" long as a duration, such as 10m", f.readSince)
	countFlag(fs, &f.tail, 0, "tail", "only the last `N` lines")
	fs.BoolVar(&f.follow, "f", false, "go on with what it prints, until it or the connection ends")
	fs.BoolVar(&f.look, "look", false, "look through it in your terminal: scroll, search, go from"+
		" command to command, copy")
	return func(v *invocation) int { return v.log(f) }
}

// countFlag adds a flag for a number that is at least least.
func countFlag(fs *flag.FlagSet, n *int, least int, name, help string) {
	fs.Func(name, help, func(text string) error {
		i, err := strconv.Atoi(text)
		if err != nil || i < least {
			return fmt.Errorf("it is a number from %d on", least)
		}
		*n = i
		return nil
	})
}

func (f *logFlags) readSince(text string) error {
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		f.since = time.Now().Add(-d)
		return nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return errors.New("it is a duration, such as 90s or 2h30m, or a time of RFC 3339," +
			" such as 2026-01-31T12:00:00Z")
	}
	f.since = at
	return nil
}

// wrong returns the first error in the flags; "": none.
func (f *logFlags) wrong() string {
	state := f.json && !f.commands
	part := f.last || f.command > 0
	switch {
	case count(f.text, f.raw, state, f.commands) > 1:
		return "ask for one of --text, --raw, --json and --commands [--json]"
	case count(f.last, f.command > 0, !f.since.IsZero()) > 1:
		return "ask for one of --last, --command and --since"
	case part && f.commands:
		return "--commands lists commands, --last and --command are for the output of one"
	case f.look && (f.raw || f.json || f.commands || part || !f.since.IsZero() || f.tail >= 0 ||
		f.follow):
		return "--look shows all that there is, in a reader"
	case f.tail >= 0 && state:
		return "--tail counts lines, and --json has none"
	}
	return ""
}

func count(set ...bool) (n int) {
	for _, b := range set {
		if b {
			n++
		}
	}
	return n
}

func (f *logFlags) part() history.ExcerptOf {
	return history.ExcerptOf{Last: f.last, Command: f.command, Since: f.since}
}

func (v *invocation) log(f logFlags) int {
	if wrong := f.wrong(); wrong != "" {
		return v.misused("%s", wrong)
	}
	t, err := v.find(v.args[0])
	if err != nil {
		return v.failed(err)
	}
	switch {
	case f.look:
		return v.lookThrough(t)
	case f.follow:
		return v.followLog(t, f)
	}
	release, err := v.Conn.WaitReading(v.ctx)
	if err != nil {
		return v.failed(err)
	}
	defer release()
	work := v.Conn.Work(v.ctx)
	defer work.Rest()
	if f.part() == (history.ExcerptOf{}) && !f.raw && !f.json && !f.commands {
		text, truncated, err := v.Conn.LogText(work, t)
		if err == nil {
			v.tellTruncated(t, truncated && f.tail < 0)
		}
		return v.printed(work.Writer(v.stdout), err, tail(text, f.tail))
	}
	e, err := v.Conn.Excerpt(work, t, f.part())
	if err != nil {
		return v.failed(err)
	}
	v.tellTruncated(t, f.lacks(&e))
	switch {
	case f.raw: // no line end of it is converted
		raw := e.Raw()
		if f.tail >= 0 {
			raw = [][]byte{tail(bytes.Join(raw, nil), f.tail)}
		}
		return v.printed(v.Stdout(), nil, raw...)
	case f.commands:
		return v.printCommands(e.Commands(), f)
	case f.json:
		return v.printed(v.stdout, nil, e.JSON(), []byte("\n"))
	}
	return v.printed(work.Writer(v.stdout), nil, tail(e.Text(work), f.tail))
}

// lookThrough shows what a terminal has printed in a reader.
func (v *invocation) lookThrough(t *host.Terminal) int {
	if !v.onTerminal() {
		return v.needsTerminal("or print it without --look")
	}
	if v.plainTerminal() {
		return v.needsScreen("without --look it is printed")
	}
	err := viewer.Read(v.ctx, v.session(), v.shown(t.Name()), host.Source{Terminal: t})
	switch {
	case errors.Is(err, viewer.ErrLost):
		return v.cutShort()
	case err != nil:
		return StatusFailed
	}
	return StatusOK
}

// lacks reports whether the beginning of what is asked for is gone.
func (f *logFlags) lacks(e *history.Excerpt) bool {
	gone := e.Truncated
	if f.commands {
		gone = e.Forgotten
	}
	return gone && f.tail < 0
}

func (v *invocation) printCommands(list []*history.Command, f logFlags) int {
	if f.tail >= 0 {
		list = list[max(0, len(list)-f.tail):]
	}
	if f.json {
		text, _ := json.MarshalIndent(list, "", "  ") // strings and numbers: it cannot fail
		return v.printed(v.stdout, nil, text, []byte("\n"))
	}
	var table bytes.Buffer
	writeTable(&table, commands(list), 0)
	return v.printed(v.stdout, nil, table.Bytes())
}

func (v *invocation) tellTruncated(t *host.Terminal, truncated bool) {
	if truncated {
		fmt.Fprintf(v.stderr, "termhost: the beginning of %s is gone: it printed more than"+
			" scrollback_bytes, and this is the rest\n", v.shown(t.Name()))
	}
}

// tail returns the last n lines of a text; all of them if n is negative.
func tail(text []byte, n int) []byte {
	if n < 0 {
		return text
	}
	end := len(bytes.TrimSuffix(text, []byte("\n")))
	for i := end; ; n-- {
		if n == 0 {
			return text[min(i+1, len(text)):]
		}
		if i = bytes.LastIndexByte(text[:i], '\n'); i < 0 {
			return text
		}
	}
}

// commands returns the table of commands: a row of column names, then one for each command.
func commands(list []*history.Command) [][]string {
	rows := [][]string{{"STARTED", "TOOK", "STATUS", "WHO", "COMMAND"}}
	for _, c := range list {
		took, status := "-", host.StateRunning
		if c.DurationMs != nil {
			took = (time.Duration(*c.DurationMs) * time.Millisecond).String()
		}
		if !c.Running {
			status = wording.ExitCode(c.ExitCode)
		}
		rows = append(rows, []string{c.StartedAt.Format(time.RFC3339), took, status,
			host.Printable(c.By), c.LineText()})
	}
	return rows
}
