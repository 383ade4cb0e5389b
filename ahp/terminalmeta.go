package ahp

import (
	"strconv"
	"time"
)

// TerminalMeta is what _meta.termhost says of a terminal beyond AHP, in the root's list and in the
// terminal's state. It changes without an action of the terminal's channel: the root gets a new
// list. The zero value is not written.
type TerminalMeta struct {
	// Waiting is what a person has to do for the terminal to go on: "input", "secret" or
	// "approval"; "": nothing.
	Waiting string `json:"waiting"`
	// Guarded: what agents type waits for a person's approval.
	Guarded bool `json:"guarded"`
	// Asks is what waits for it, in the order in which it is decided; nil: nothing. The list is
	// never modified.
	Asks *[]TerminalAsk `json:"asks"`
	// Holder is the name of whoever holds the terminal, for people; "": it has none.
	Holder string `json:"holder"`
	// Lender is the name of the one whom the holder would hand it back to, for people; "": nobody.
	Lender string `json:"lender"`
	// Last says how the command that the shell has begun last goes, in the root's list only.
	Last LastCommand `json:"last"`
}

// LastCommand says how a command goes: {"running":true}, {"exitCode":1}, or {} if it has ended and
// nobody knows how. The zero value, which is no command, is not written.
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

// TerminalAsk is what an agent wants to type into a guarded terminal.
type TerminalAsk struct {
	Ask   string    `json:"ask"` // what termhost/approve calls it
	By    string    `json:"by"`
	Text  string    `json:"text"` // exactly what will be typed; "" if it is a secret
	Since time.Time `json:"since"`
	// Secret: the program reads a secret, so Text is not told.
	Secret bool `json:"secret"`
}

// metaField is the _meta of an object that has a TerminalMeta.
type metaField struct {
	Termhost TerminalMeta `json:"termhost"`
}

// appendMeta appends the _meta field, if m says anything.
func (m *TerminalMeta) appendMeta(dst []byte) []byte {
	if *m == (TerminalMeta{}) {
		return dst
	}
	dst = append(appendField(dst, "_meta"), `{"termhost":{`...)
	if m.Waiting != "" {
		dst = appendStringField(dst, "waiting", m.Waiting)
	}
	if m.Guarded {
		dst = appendBoolField(dst, "guarded", true)
	}
	if m.Asks != nil {
		dst = append(appendField(dst, "asks"), '[')
		for i, a := range *m.Asks {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = a.appendJSON(dst)
		}
		dst = append(dst, ']')
	}
	if m.Holder != "" {
		dst = appendStringField(dst, "holder", m.Holder)
	}
	if m.Lender != "" {
		dst = appendStringField(dst, "lender", m.Lender)
	}
	if m.Last.Known {
		dst = m.Last.appendJSON(appendField(dst, "last"))
	}
	return append(dst, "}}"...)
}

func (a *TerminalAsk) appendJSON(dst []byte) []byte {
	dst = appendStringField(append(dst, '{'), "ask", a.Ask)
	dst = appendStringField(dst, "by", a.By)
	dst = appendStringField(dst, "text", a.Text)
	dst = appendStringField(dst, "since", a.Since.Format(time.RFC3339Nano))
	if a.Secret {
		dst = appendBoolField(dst, "secret", true)
	}
	return append(dst, '}')
}
