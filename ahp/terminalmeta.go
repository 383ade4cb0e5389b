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
	// Waiting is what a person has to do for the terminal to go on: "input", "secret" or
	// "approval"; "": nothing.
	Waiting string `json:"waiting"`
	// Quiet: the program has printed nothing for quiet_after.
	Quiet bool `json:"quiet"`
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
	// Last is the state of the shell's last command, in the root's list only.
	Last LastCommand `json:"last"`
}

// LastCommand is the state of a command: {"running":true}, {"exitCode":1}, or {} if it has ended
// with an unknown status. The zero value, which is no command, is not written.
type LastCommand struct {
	Known    bool // there is one
	Running  bool
	ExitCode int // -1: it runs, or its exit code is not known
}

// LastCommandOf returns how a command goes.
func LastCommandOf(c *Command) LastCommand {
	l := LastCommand{Known: true, Running: !c.Complete, ExitCode: -1}
	if c.Complete && c.ExitCode != nil {
		l.ExitCode = *c.ExitCode
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
	return append(dst, '}')
}

// UnmarshalJSON reads what appendJSON writes.
func (l *LastCommand) UnmarshalJSON(b []byte) error {
	var w struct {
		Running  bool `json:"running"`
		ExitCode *int `json:"exitCode"`
	}
	if err := unmarshal(b, &w); err != nil {
		return err
	}
	*l = LastCommandOf(&Command{Complete: !w.Running, ExitCode: w.ExitCode})
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
	if m.Waiting != "" {
		dst = appendStringField(dst, "waiting", m.Waiting)
	}
	if m.Quiet {
		dst = appendBoolField(dst, "quiet", true)
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
	if m.Last.Known {
		dst = m.Last.appendJSON(appendField(dst, "last"))
	}
	return append(dst, "}}"...)
}
