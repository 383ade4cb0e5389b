package ahp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
)

// The two executors of a terminal.
const (
	ExecutorServer = "server"
	ExecutorClient = "client"
)

// TerminalState is the state of a terminal channel.
//
// Only [TerminalState.Apply] changes it. What [TerminalState.Clone] returns may be
// read while the original changes.
type TerminalState struct {
	Title      string
	Cwd        string // a file URI; empty: unknown
	Cols, Rows int    // 0: unknown
	Content    []Part
	Exited     bool
	ExitCode   *int // nil: running, or exited without a known code
	Claim      Claim
	Client     bool // executed by a client, not by the server
	IsPty      bool
	Detection  bool // supportsCommandDetection; never returns to false

	Meta json.RawMessage // _meta as it was received, or nil
	// Termhost is what this host says in _meta. It is written if Meta is nil.
	Termhost TerminalMeta
	// Asks is what agents want to type there, in the order in which it is decided; nil: nothing.
	// It is written in _meta, too, and is not for everybody: see [TerminalAsk]. The list is never
	// modified.
	Asks []TerminalAsk
}

// Part is one piece of a terminal's content: plain output, or a command with
// its output.
type Part struct {
	Command *Command // nil for plain output; never changed once it is here
	Text    Text
}

// Command is what shell integration reports of a command.
type Command struct {
	ID, Line   string
	Timestamp  int64 // when it began; milliseconds since 1970
	Complete   bool
	ExitCode   *int
	DurationMs *int64
	By, Cwd    string // see [TerminalCommandExecuted]
}

// Who returns who typed the command, or [Nobody] if that is not known either.
func (c *Command) Who() string { return cmp.Or(c.By, Nobody) }

// Clone returns a copy that later actions do not change. It shares the output.
func (s *TerminalState) Clone() TerminalState {
	c := *s
	c.Content = append([]Part(nil), s.Content...)
	if n := len(c.Content); n > 0 {
		// Only the last part ever grows.
		c.Content[n-1].Text = c.Content[n-1].Text.Clone()
	}
	return c
}

// ClearScreen begins the first output of a resynchronisation, behind terminal/cleared: it erases
// the screen and the scrollback, and moves the cursor to the top left (xterm's ctlseqs: ED 2, ED 3,
// CUP). Some clients hand output on to an emulator, and take no notice of terminal/cleared.
const ClearScreen = "\x1b[2J\x1b[3J\x1b[H"

// ApplyCopy is Apply for a client's copy of the state, which holds what the host's does: it leaves
// out [ClearScreen].
func (s *TerminalState) ApplyCopy(a Action) {
	if d, ok := a.(TerminalData); ok && bytes.HasPrefix(d.Data, []byte(ClearScreen)) && s.blank() {
		if d.Data = d.Data[len(ClearScreen):]; len(d.Data) == 0 {
			return
		}
		a = d
	}
	s.Apply(a)
}

// blank reports whether there is no output.
func (s *TerminalState) blank() bool {
	for i := range s.Content {
		if s.Content[i].Text.Len() > 0 {
			return false
		}
	}
	return true
}

// Apply is the reducer of a terminal channel (AHP, terminal channel, "Actions").
// It keeps the data of a terminal/data or terminal/output action, which must not be
// modified afterwards. Unknown actions change nothing, nor does terminal/output
// without data, which the host sends to its sender only.
func (s *TerminalState) Apply(a Action) {
	switch a := a.(type) {
	case TerminalData:
		s.appendData(a.Data)
	case TerminalOutput:
		if p := a.Text(); len(p) > 0 {
			s.appendData(p)
		}
	case TerminalResized:
		s.Cols, s.Rows = a.Cols, a.Rows
	case TerminalClaimed:
		s.Claim = a.Claim
	case TerminalTitleChanged:
		s.Title = a.Title
	case TerminalCwdChanged:
		s.Cwd = a.Cwd
	case TerminalExited:
		s.Exited, s.ExitCode = true, a.ExitCode
	case TerminalCleared:
		s.Content = nil
	case TerminalCommandDetectionAvailable:
		s.Detection = true
	case TerminalCommandExecuted:
		s.Detection = true
		s.Content = append(s.Content, Part{Command: &Command{ID: a.CommandID,
			Line: a.CommandLine, Timestamp: a.Timestamp, By: a.By, Cwd: a.Cwd}})
	case TerminalCommandFinished:
		s.finish(a)
	}
}

func (s *TerminalState) appendData(p []byte) {
	n := len(s.Content)
	if n == 0 || s.Content[n-1].Command != nil && s.Content[n-1].Command.Complete {
		s.Content = append(s.Content, Part{})
		n++
	}
	s.Content[n-1].Text.Append(p)
}

func (s *TerminalState) finish(a TerminalCommandFinished) {
	for i := len(s.Content) - 1; i >= 0; i-- {
		if c := s.Content[i].Command; c != nil && c.ID == a.CommandID {
			done := *c
			done.Complete, done.ExitCode, done.DurationMs = true, a.ExitCode, a.DurationMs
			s.Content[i].Command = &done
			return
		}
	}
}

// Running returns the command that is being executed, or nil.
func (s *TerminalState) Running() *Command {
	n := len(s.Content)
	if n == 0 || s.Content[n-1].Command == nil || s.Content[n-1].Command.Complete {
		return nil
	}
	return s.Content[n-1].Command
}

// AppendJSON appends the state in the given shape.
func (s *TerminalState) AppendJSON(dst []byte, shape Shape) []byte {
	dst = append(dst, '{')
	dst = appendStringField(dst, "title", s.Title)
	if s.Cwd != "" {
		dst = appendStringField(dst, "cwd", s.Cwd)
	}
	if s.Cols > 0 && s.Rows > 0 {
		dst = strconv.AppendInt(appendField(dst, "cols"), int64(s.Cols), 10)
		dst = strconv.AppendInt(appendField(dst, "rows"), int64(s.Rows), 10)
	}
	dst = append(appendField(dst, "content"), '[')
	for i := range s.Content {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = s.Content[i].appendJSON(dst)
	}
	dst = append(dst, ']')
	dst = appendLifecycle(dst, shape, s.Exited, s.ExitCode)
	dst = s.Claim.AppendJSON(appendField(dst, "claim"), shape)
	if s.Client {
		dst = appendStringField(dst, "executionTarget", ExecutorClient)
	}
	dst = appendBoolField(dst, "isPty", s.IsPty)
	dst = appendBoolField(dst, "supportsCommandDetection", s.Detection)
	if len(s.Meta) > 0 {
		dst = appendRaw(appendField(dst, "_meta"), s.Meta)
	} else {
		dst = s.Termhost.appendMeta(dst, s.Asks)
	}
	return append(dst, '}')
}

// appendLifecycle appends whether a terminal is running, and its exit code. In
// [ShapeExitCode] only the code shows that a terminal has exited, so an unknown code
// is sent as -1, which AHP's clients take for "unknown".
func appendLifecycle(dst []byte, shape Shape, exited bool, code *int) []byte {
	if shape == ShapeExitCode {
		if exited {
			n := -1
			if code != nil {
				n = *code
			}
			dst = strconv.AppendInt(appendField(dst, "exitCode"), int64(n), 10)
		}
		return dst
	}
	if !exited {
		return append(appendField(dst, "lifecycle"), `{"status":"running"}`...)
	}
	dst = append(appendField(dst, "lifecycle"), `{"status":"exited"`...)
	if code != nil {
		dst = strconv.AppendInt(appendField(dst, "exitCode"), int64(*code), 10)
	}
	return append(dst, '}')
}

func (p *Part) appendJSON(dst []byte) []byte {
	if p.Command == nil {
		dst = append(dst, `{"type":"unclassified","value":`...)
		dst = p.Text.AppendJSON(dst)
		return append(dst, '}')
	}
	c := p.Command
	dst = append(dst, `{"type":"command"`...)
	dst = appendStringField(dst, "commandId", c.ID)
	dst = appendStringField(dst, "commandLine", c.Line)
	dst = p.Text.AppendJSON(appendField(dst, "output"))
	dst = strconv.AppendInt(appendField(dst, "timestamp"), c.Timestamp, 10)
	dst = appendBoolField(dst, "isComplete", c.Complete)
	dst = appendOutcome(dst, c.ExitCode, c.DurationMs)
	return append(appendExtras(dst, extraBy, c.By, extraCwd, c.Cwd), '}')
}

// appendOutcome appends a finished command's exit code and duration, if they are known.
func appendOutcome(dst []byte, code *int, durationMs *int64) []byte {
	if code != nil {
		dst = strconv.AppendInt(appendField(dst, "exitCode"), int64(*code), 10)
	}
	if durationMs != nil {
		dst = strconv.AppendInt(appendField(dst, "durationMs"), *durationMs, 10)
	}
	return dst
}

// UnmarshalJSON accepts a state in any shape.
func (s *TerminalState) UnmarshalJSON(b []byte) error {
	var w struct {
		Title     string          `json:"title"`
		Cwd       string          `json:"cwd"`
		Cols      int             `json:"cols"`
		Rows      int             `json:"rows"`
		Content   []Part          `json:"content"`
		Claim     *Claim          `json:"claim"`
		Target    string          `json:"executionTarget"`
		IsPty     *bool           `json:"isPty"`
		Detection bool            `json:"supportsCommandDetection"`
		Meta      json.RawMessage `json:"_meta"`
		lifecycleFields
	}
	if err := unmarshal(b, &w); err != nil {
		return err
	}
	if w.Claim == nil {
		return errClaim
	}
	*s = TerminalState{Title: w.Title, Cwd: w.Cwd, Cols: w.Cols, Rows: w.Rows,
		Content: w.Content, Claim: *w.Claim, Client: w.Target == ExecutorClient,
		IsPty: w.IsPty == nil || *w.IsPty, Detection: w.Detection, Meta: notNull(w.Meta)}
	s.Exited, s.ExitCode = w.exit()
	return nil
}

// lifecycleFields decodes whether a terminal is running, in either shape.
type lifecycleFields struct {
	ExitCode  *int `json:"exitCode"`
	Lifecycle *struct {
		Status   string `json:"status"`
		ExitCode *int   `json:"exitCode"`
	} `json:"lifecycle"`
}

func (l *lifecycleFields) exit() (exited bool, code *int) {
	if l.Lifecycle != nil {
		return l.Lifecycle.Status == "exited", l.Lifecycle.ExitCode
	}
	return l.ExitCode != nil, l.ExitCode
}

// UnmarshalJSON accepts a content part of either type.
func (p *Part) UnmarshalJSON(b []byte) error {
	var w struct {
		Type       string `json:"type"`
		Value      Text   `json:"value"`
		CommandID  string `json:"commandId"`
		Line       string `json:"commandLine"`
		Output     Text   `json:"output"`
		Timestamp  int64  `json:"timestamp"`
		Complete   bool   `json:"isComplete"`
		ExitCode   *int   `json:"exitCode"`
		DurationMs *int64 `json:"durationMs"`
	}
	if err := unmarshal(b, &w); err != nil {
		return err
	}
	if w.Type != "command" {
		*p = Part{Text: w.Value}
		return nil
	}
	extra := decodeExtras(b)
	*p = Part{Text: w.Output, Command: &Command{ID: w.CommandID, Line: w.Line,
		Timestamp: w.Timestamp, Complete: w.Complete, ExitCode: w.ExitCode,
		DurationMs: w.DurationMs, By: extra.By, Cwd: extra.Cwd}}
	return nil
}
