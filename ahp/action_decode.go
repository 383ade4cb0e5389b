package ahp

import (
	"encoding/json"
	"errors"
)

// FieldError says which field of a message is missing or wrong.
type FieldError struct {
	Field  string
	Reason string
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Reason }

// DecodeAction decodes an action. For an unknown type it returns an [Unknown], which
// keeps raw. If raw is not an action, lacks a field that AHP requires, or has a field
// of the wrong type, the error is a [*FieldError].
func DecodeAction(raw json.RawMessage) (Action, error) {
	var kind, data, meta []byte
	EachMember(raw, func(name string, value []byte) {
		switch name {
		case "type":
			kind = value
		case "data":
			data = value
		case "_meta":
			meta = value
		}
	})
	name, _ := unquote(kind)
	switch {
	case len(name) == 0:
		return nil, &FieldError{Field: "action.type", Reason: "must be a string"}
	case HasText(string(name)): // they come often, and are long
		return DecodeText(string(name), data, meta)
	}
	a, err := decodeAction(string(name), raw)
	if err == nil {
		return a, nil
	}
	var fe *FieldError
	if errors.As(err, &fe) {
		return nil, fe
	}
	if field := wrongField(err); field != "" {
		return nil, &FieldError{Field: "action." + field, Reason: "has the wrong type"}
	}
	return nil, &FieldError{Field: "action", Reason: err.Error()}
}

func decodeAction(name string, raw json.RawMessage) (Action, error) {
	switch name {
	case "terminal/resized":
		return decodeResized(raw)
	case "terminal/claimed":
		return decodeClaimed(raw)
	case "terminal/titleChanged":
		return decodeTitle(raw)
	case "terminal/cwdChanged":
		return decodeCwd(raw)
	case "terminal/exited":
		return decodeExited(raw)
	case "terminal/cleared":
		return TerminalCleared{}, nil
	case detectionAvailable:
		return TerminalCommandDetectionAvailable{}, nil
	case "terminal/commandExecuted":
		return decodeExecuted(raw)
	case "terminal/commandFinished":
		return decodeFinished(raw)
	case "root/terminalsChanged":
		return decodeTerminals(raw)
	case "root/agentsChanged":
		return decodeAgents(raw)
	case "root/activeSessionsChanged":
		return decodeActiveSessions(raw)
	case "root/configChanged":
		return decodeConfig(raw)
	}
	if !json.Valid(raw) { // it is passed on as it is
		return nil, &FieldError{Field: "action", Reason: "is not JSON"}
	}
	return Unknown{Name: name, Raw: raw}, nil
}

func missing(field string) error {
	return &FieldError{Field: "action." + field, Reason: "is missing"}
}

// HasText reports whether actions of a type carry a program's output or input.
func HasText(name string) bool {
	switch name {
	case "terminal/data", "terminal/input", "terminal/output":
		return true
	}
	return false
}

// DecodeText is [DecodeAction] for an action of a type with text, of whose JSON data and _meta are
// given; nil: it has none.
func DecodeText(name string, data, meta []byte) (Action, error) {
	if data = notNull(data); data == nil {
		return nil, missing("data")
	}
	text, surrogates, ok := cutString(data, name == "terminal/output")
	switch {
	case !ok:
		return nil, &FieldError{Field: "action.data", Reason: "has the wrong type"}
	case name == "terminal/data":
		return TerminalData{Data: text}, nil
	case name == "terminal/input":
		more := extrasIn(meta)
		if !more.Bytes {
			return TerminalInput{Data: text, After: more.After}, nil
		}
		if text, ok = latin1(text); !ok {
			return nil, &FieldError{Field: "action.data", Reason: "has a character beyond U+00FF"}
		}
		return TerminalInput{Data: text, After: more.After}, nil
	}
	return TerminalOutput{Data: text, Surrogates: surrogates, Notice: extrasIn(meta).Notice}, nil
}

// latin1 returns the bytes whose values the characters of a text are; false: some are greater.
func latin1(text []byte) (b []byte, ok bool) {
	for _, r := range string(text) {
		if r > 0xff {
			return nil, false
		}
		b = append(b, byte(r))
	}
	return b, true
}

func decodeResized(raw json.RawMessage) (Action, error) {
	var w struct {
		Cols *int `json:"cols"`
		Rows *int `json:"rows"`
	}
	if err := unmarshal(raw, &w); err != nil {
		return nil, err
	}
	if w.Cols == nil {
		return nil, missing("cols")
	}
	if w.Rows == nil {
		return nil, missing("rows")
	}
	return TerminalResized{Cols: *w.Cols, Rows: *w.Rows}, nil
}

func decodeClaimed(raw json.RawMessage) (Action, error) {
	var w struct {
		Claim json.RawMessage `json:"claim"`
	}
	if err := unmarshal(raw, &w); err != nil {
		return nil, err
	}
	if len(w.Claim) == 0 {
		return nil, missing("claim")
	}
	var c Claim
	if err := unmarshal(w.Claim, &c); err != nil {
		return nil, &FieldError{Field: "action.claim", Reason: errClaim.Error()}
	}
	return TerminalClaimed{Claim: c}, nil
}

func decodeTitle(raw json.RawMessage) (Action, error) {
	var w struct {
		Title *string `json:"title"`
	}
	if err := unmarshal(raw, &w); err != nil {
		return nil, err
	}
	if w.Title == nil {
		return nil, missing("title")
	}
	return TerminalTitleChanged{Title: *w.Title}, nil
}

func decodeCwd(raw json.RawMessage) (Action, error) {
	var w struct {
		Cwd *string `json:"cwd"`
	}
	if err := unmarshal(raw, &w); err != nil {
		return nil, err
	}
	if w.Cwd == nil {
		return nil, missing("cwd")
	}
	return TerminalCwdChanged{Cwd: *w.Cwd}, nil
}

func decodeExited(raw json.RawMessage) (Action, error) {
	var w struct {
		ExitCode *int `json:"exitCode"`
	}
	if err := unmarshal(raw, &w); err != nil {
		return nil, err
	}
	return TerminalExited{ExitCode: w.ExitCode, Notice: decodeExtras(raw).Notice}, nil
}

// extras are the content of _meta.termhost: see appendExtras.
type extras struct {
	Notice string `json:"notice"`
	By     string `json:"by"`
	Cwd    string `json:"cwd"`
	Bytes  bool   `json:"bytes"`
	After  int64  `json:"after"`
}

// decodeExtras returns the extras of an action or a part. They are empty where they do not have the
// form in which termhost sends them.
func decodeExtras(raw json.RawMessage) extras {
	var meta []byte
	EachMember(raw, func(name string, value []byte) {
		if name == "_meta" {
			meta = value
		}
	})
	return extrasIn(meta)
}

// extrasIn returns what is in a _meta.
func extrasIn(meta []byte) extras {
	var w struct {
		Termhost extras `json:"termhost"`
	}
	if len(meta) == 0 || unmarshal(meta, &w) != nil {
		return extras{}
	}
	return w.Termhost
}

func decodeExecuted(raw json.RawMessage) (Action, error) {
	var w struct {
		CommandID   *string `json:"commandId"`
		CommandLine *string `json:"commandLine"`
		Timestamp   *int64  `json:"timestamp"`
	}
	if err := unmarshal(raw, &w); err != nil {
		return nil, err
	}
	switch {
	case w.CommandID == nil:
		return nil, missing("commandId")
	case w.CommandLine == nil:
		return nil, missing("commandLine")
	case w.Timestamp == nil:
		return nil, missing("timestamp")
	}
	extra := decodeExtras(raw)
	return TerminalCommandExecuted{CommandID: *w.CommandID, CommandLine: *w.CommandLine,
		Timestamp: *w.Timestamp, By: extra.By, Cwd: extra.Cwd}, nil
}

func decodeFinished(raw json.RawMessage) (Action, error) {
	var w struct {
		CommandID  *string `json:"commandId"`
		ExitCode   *int    `json:"exitCode"`
		DurationMs *int64  `json:"durationMs"`
	}
	if err := unmarshal(raw, &w); err != nil {
		return nil, err
	}
	if w.CommandID == nil {
		return nil, missing("commandId")
	}
	return TerminalCommandFinished{CommandID: *w.CommandID, ExitCode: w.ExitCode,
		DurationMs: w.DurationMs}, nil
}

func decodeTerminals(raw json.RawMessage) (Action, error) {
	var w struct {
		Terminals *[]TerminalInfo `json:"terminals"`
	}
	if err := unmarshal(raw, &w); err != nil {
		if errors.Is(err, errClaim) {
			return nil, &FieldError{Field: "action.terminals", Reason: err.Error()}
		}
		return nil, err
	}
	if w.Terminals == nil {
		return nil, missing("terminals")
	}
	return RootTerminalsChanged{Terminals: *w.Terminals}, nil
}

func decodeAgents(raw json.RawMessage) (Action, error) {
	var w struct {
		Agents json.RawMessage `json:"agents"`
	}
	if err := unmarshal(raw, &w); err != nil {
		return nil, err
	}
	if w.Agents = notNull(w.Agents); w.Agents == nil {
		return nil, missing("agents")
	}
	return RootAgentsChanged{Agents: w.Agents}, nil
}

func decodeActiveSessions(raw json.RawMessage) (Action, error) {
	var w struct {
		ActiveSessions *int `json:"activeSessions"`
	}
	if err := unmarshal(raw, &w); err != nil {
		return nil, err
	}
	if w.ActiveSessions == nil {
		return nil, missing("activeSessions")
	}
	return RootActiveSessionsChanged{ActiveSessions: *w.ActiveSessions}, nil
}

func decodeConfig(raw json.RawMessage) (Action, error) {
	var w struct {
		Config  map[string]json.RawMessage `json:"config"`
		Replace bool                       `json:"replace"`
	}
	if err := unmarshal(raw, &w); err != nil {
		return nil, err
	}
	if w.Config == nil {
		return nil, missing("config")
	}
	return RootConfigChanged{Config: w.Config, Replace: w.Replace}, nil
}
