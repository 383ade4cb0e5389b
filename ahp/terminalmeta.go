package ahp

import (
	"strconv"
)

// TerminalMeta is what _meta.termhost says of a terminal beyond AHP, in the root's list and in the
// terminal's state. It changes without an action of the terminal's channel: the root gets a new
// list. The zero value is not written.
type TerminalMeta struct {
	// Name is the terminal's NAME if its URI does not end with that: it was renamed, or another one
	// was, which has that URI; "": the URI ends with it.
	Name string `json:"name"`
	// Program is the beginning of the command line of the program that the terminal was made for,
	// without control characters; "": a shell, or unknown.
	Program string `json:"program"`
	// Waiting is what a person has to do for the terminal to go on: "input", "secret" or
	// "approval"; "": nothing.
	Waiting string `json:"waiting"`
	// WaitingSince is since when (RFC 3339, UTC), and Question what the program has asked, without
	// control characters; "": it has asked nothing, or does not wait.
	WaitingSince string `json:"waitingSince"`
	Question     string `json:"question"`
	// Status is what the program says of itself, without control characters; zero: it has not said.
	Status Status `json:"status"`
	Labels Labels `json:"labels"`
	// Quiet: the program has printed nothing for quiet_after.
	Quiet bool `json:"quiet"`
	// Stopped: somebody has stopped its output with ctrl-S. StoppedBy is the display name of who
	// has; "": that is unknown.
	Stopped   bool   `json:"stopped"`
	StoppedBy string `json:"stoppedBy"`
	// Progress is what the program says of its progress (OSC 9;4); zero: nothing.
	Progress Progress `json:"progress"`
	// Guarded: what agents type waits for a person's approval.
	Guarded bool `json:"guarded"`
	// Holder is the display name of the terminal's holder: ann, ann/claude-infra (a client with
	// ann's key), ann/infra (with ann's token), guest:dora; "": it has none.
	Holder string `json:"holder"`
	// AwaySince is since when the owner of a client-executed terminal is away (RFC 3339, UTC); "":
	// it is here.
	AwaySince string `json:"awaySince"`
	// Lender is the display name of who would get the terminal back from its holder; "": nobody.
	Lender string `json:"lender"`
	// Held is how many bytes wait that agents have typed, because the program does not read.
	Held int `json:"held"`
	// Refused is why such bytes were dropped; "": they were not, or an agent has typed since.
	Refused string `json:"refused"`
	// Cwd is the URI of the working directory, in the root's list only.
	Cwd string `json:"cwd"`
	// Last is the state of the shell's last command, in the root's list only.
	Last LastCommand `json:"last"`
	// Host is the name of the terminal's host in its fleet; "": it is in none.
	Host string `json:"host"`
	// Unreachable is since when that host is silent (RFC 3339, UTC), and what the list says of the
	// terminal is what was seen last; "": it is not.
	Unreachable string `json:"unreachable"`
}

// Status is what a terminal's program says of itself.
type Status struct {
	State string `json:"state"` // "working", "waiting", "done" or "failed"
	Text  string `json:"text,omitempty"`
	Since string `json:"since"` // RFC 3339, UTC
}

// Progress is how far a terminal's program is, as it says itself.
type Progress struct {
	State   string `json:"state"`   // "normal", "error", "indeterminate" or "paused"
	Percent int    `json:"percent"` // 0..100; 0 if it is indeterminate
}

// LastCommand is the state of a command: {"running":true}, {"exitCode":1}, or with neither if it
// has ended with an unknown status. The zero value, which is no command, is not written.
type LastCommand struct {
	Known    bool // there is one
	Running  bool
	ExitCode int    // -1: it runs, or its exit code is not known
	Line     string // the beginning of its line, as typed: it may have control characters
	// Began is when it began, in milliseconds since 1970, and DurationMs how long it took; 0: less
	// than one, or it runs.
	Began, DurationMs int64
}

// maxLastLine is how much of a command's line the root's list has, in bytes. There is a list with
// every command that begins or ends in any terminal.
const maxLastLine = 120

// LineBeginning returns what the root's list has of a command's line.
func LineBeginning(line string) string { return line[:WholeRunes(line, maxLastLine)] }

// LastCommandOf returns how a command goes.
func LastCommandOf(c *Command) LastCommand {
	l := LastCommand{Known: true, Running: !c.Complete, ExitCode: -1,
		Line: LineBeginning(c.Line), Began: c.Timestamp}
	if c.Complete && c.ExitCode != nil {
		l.ExitCode = *c.ExitCode
	}
	if c.DurationMs != nil {
		l.DurationMs = *c.DurationMs
	}
	return l
}

func (l LastCommand) appendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	switch {
	case l.Running:
		dst = appendBoolField(dst, "running", true)
	case l.ExitCode >= 0:
		dst = strconv.AppendInt(appendField(dst, "exitCode"), int64(l.ExitCode), 10)
	}
	if l.Line != "" {
		dst = appendStringField(dst, "commandLine", l.Line)
	}
	if l.Began != 0 {
		dst = strconv.AppendInt(appendField(dst, "timestamp"), l.Began, 10)
	}
	if l.DurationMs != 0 {
		dst = strconv.AppendInt(appendField(dst, "durationMs"), l.DurationMs, 10)
	}
	return append(dst, '}')
}

// UnmarshalJSON reads what appendJSON writes.
func (l *LastCommand) UnmarshalJSON(b []byte) error {
	var w struct {
		Running    bool   `json:"running"`
		ExitCode   *int   `json:"exitCode"`
		Line       string `json:"commandLine"`
		Timestamp  int64  `json:"timestamp"`
		DurationMs *int64 `json:"durationMs"`
	}
	if err := unmarshal(b, &w); err != nil {
		return err
	}
	*l = LastCommandOf(&Command{Line: w.Line, Timestamp: w.Timestamp, Complete: !w.Running,
		ExitCode: w.ExitCode, DurationMs: w.DurationMs})
	return nil
}

// metaField is the _meta of an object that has a TerminalMeta.
type metaField struct {
	Termhost TerminalMeta `json:"termhost"`
}

// appendMeta appends the _meta field, if m says anything or there are asks.
func (m *TerminalMeta) appendMeta(dst []byte, asks []TerminalAsk) []byte {
	if *m == (TerminalMeta{}) && len(asks) == 0 {
		return dst
	}
	dst = append(appendField(dst, "_meta"), `{"termhost":{`...)
	if m.Name != "" {
		dst = appendStringField(dst, "name", m.Name)
	}
	if m.Program != "" {
		dst = appendStringField(dst, "program", m.Program)
	}
	if m.Waiting != "" {
		dst = appendStringField(dst, "waiting", m.Waiting)
	}
	if m.WaitingSince != "" {
		dst = appendStringField(dst, "waitingSince", m.WaitingSince)
	}
	if m.Question != "" {
		dst = appendStringField(dst, "question", m.Question)
	}
	if m.Status != (Status{}) {
		dst = append(appendField(dst, "status"), Encode(m.Status)...)
	}
	if m.Labels != "" {
		dst = append(appendField(dst, "labels"), Encode(m.Labels)...)
	}
	if m.Quiet {
		dst = appendBoolField(dst, "quiet", true)
	}
	if m.Stopped {
		dst = appendBoolField(dst, "stopped", true)
	}
	if m.StoppedBy != "" {
		dst = appendStringField(dst, "stoppedBy", m.StoppedBy)
	}
	if m.Progress != (Progress{}) {
		dst = append(appendField(dst, "progress"), Encode(m.Progress)...)
	}
	if m.Guarded {
		dst = appendBoolField(dst, "guarded", true)
	}
	if len(asks) > 0 {
		dst = append(appendField(dst, "asks"), Encode(asks)...)
	}
	if m.Holder != "" {
		dst = appendStringField(dst, "holder", m.Holder)
	}
	if m.AwaySince != "" {
		dst = appendStringField(dst, "awaySince", m.AwaySince)
	}
	if m.Lender != "" {
		dst = appendStringField(dst, "lender", m.Lender)
	}
	if m.Held > 0 {
		dst = strconv.AppendInt(appendField(dst, "held"), int64(m.Held), 10)
	}
	if m.Refused != "" {
		dst = appendStringField(dst, "refused", m.Refused)
	}
	if m.Cwd != "" {
		dst = appendStringField(dst, "cwd", m.Cwd)
	}
	if m.Last.Known {
		dst = m.Last.appendJSON(appendField(dst, "last"))
	}
	if m.Host != "" {
		dst = appendStringField(dst, "host", m.Host)
	}
	if m.Unreachable != "" {
		dst = appendStringField(dst, "unreachable", m.Unreachable)
	}
	return append(dst, "}}"...)
}
