package sshd

import (
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
)

// runLog prints what a terminal has printed, as far as it is retained.
func runLog(v *invocation) int {
	fs := v.flags()
	text := fs.Bool("text", false, "")
	raw := fs.Bool("raw", false, "")
	asJSON := fs.Bool("json", false, "")
	commands := fs.Bool("commands", false, "")
	args, status, done := v.parse(fs, 1, 1)
	if done {
		return status
	}
	forms := 0
	for _, wanted := range []bool{*text, *raw, *asJSON, *commands} {
		if wanted {
			forms++
		}
	}
	if forms > 1 {
		return v.misused("ask for one of --text, --raw, --json and --commands")
	}
	t, err := v.host().Find(v.principal(), args[0])
	if err != nil {
		return v.failed(err)
	}
	if forms == 0 || *text {
		history, err := v.host().History(v.principal(), t)
		if err != nil {
			return v.failed(err)
		}
		return v.print(history)
	}
	st, err := v.host().Read(v.principal(), t)
	switch {
	case err != nil:
		return v.failed(err)
	case *asJSON:
		return v.print(append(st.AppendJSON(nil, ahp.ShapeLifecycle), '\n'))
	case *commands:
		writeTable(v.stdout, commandRows(st.Content), 0)
		return statusOK
	}
	return v.writeContent(st.Content)
}

// print writes p to standard output.
func (v *invocation) print(p []byte) int {
	if _, err := v.stdout.Write(p); err != nil {
		return statusFailed
	}
	return statusOK
}

// commandRows lists the commands that shell integration has told of.
func commandRows(parts []ahp.Part) [][]string {
	rows := [][]string{{"STARTED", "TOOK", "STATUS", "COMMAND"}}
	for i := range parts {
		c := parts[i].Command
		if c == nil {
			continue
		}
		took, status := "-", stateRunning
		if c.DurationMs != nil {
			took = (time.Duration(*c.DurationMs) * time.Millisecond).String()
		}
		switch {
		case c.ExitCode != nil, c.Complete:
			status = codeText(c.ExitCode)
		}
		rows = append(rows, []string{time.UnixMilli(c.Timestamp).UTC().Format(time.RFC3339), took, status, host.Printable(c.Line)})
	}
	return rows
}

// writeContent writes the output as the program wrote it.
func (v *invocation) writeContent(parts []ahp.Part) int {
	for i := range parts {
		for _, chunk := range parts[i].Text.Chunks() {
			if _, err := v.s.stdout.Write(chunk); err != nil {
				return statusFailed
			}
		}
	}
	return statusOK
}

// runPeek prints a terminal's screen.
func runPeek(v *invocation) int {
	fs := v.flags()
	ansi := fs.Bool("ansi", false, "")
	args, status, done := v.parse(fs, 1, 1)
	if done {
		return status
	}
	t, err := v.host().Find(v.principal(), args[0])
	if err != nil {
		return v.failed(err)
	}
	screen, err := v.host().Peek(v.principal(), t, *ansi)
	if err != nil {
		return v.failed(err)
	}
	return v.print(screen)
}
