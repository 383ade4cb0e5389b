package ahp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// AppendAction appends a as JSON in the given shape.
func AppendAction(dst []byte, a Action, shape Shape) []byte {
	if u, ok := a.(Unknown); ok {
		return appendRaw(dst, u.Raw)
	}
	dst = append(dst, '{')
	dst = appendStringField(dst, "type", a.Type())
	switch a := a.(type) {
	case TerminalData:
		dst = AppendJSONString(appendField(dst, "data"), a.Data)
	case TerminalInput:
		dst = AppendJSONString(appendField(dst, "data"), a.Data)
	case TerminalOutput:
		dst = AppendJSONString(appendField(dst, "data"), a.Data)
	case TerminalResized:
		dst = strconv.AppendInt(appendField(dst, "cols"), int64(a.Cols), 10)
		dst = strconv.AppendInt(appendField(dst, "rows"), int64(a.Rows), 10)
	case TerminalClaimed:
		dst = a.Claim.AppendJSON(appendField(dst, "claim"), shape)
	case TerminalTitleChanged:
		dst = appendStringField(dst, "title", a.Title)
	case TerminalCwdChanged:
		dst = appendStringField(dst, "cwd", a.Cwd)
	case TerminalExited:
		dst = appendOutcome(dst, a.ExitCode, nil)
	case TerminalCommandExecuted:
		dst = appendStringField(dst, "commandId", a.CommandID)
		dst = appendStringField(dst, "commandLine", a.CommandLine)
		dst = strconv.AppendInt(appendField(dst, "timestamp"), a.Timestamp, 10)
	case TerminalCommandFinished:
		dst = appendStringField(dst, "commandId", a.CommandID)
		dst = appendOutcome(dst, a.ExitCode, a.DurationMs)
	case RootTerminalsChanged:
		dst = appendTerminals(appendField(dst, "terminals"), a.Terminals, shape)
	case RootAgentsChanged:
		dst = appendRaw(appendField(dst, "agents"), a.Agents)
	case RootActiveSessionsChanged:
		dst = strconv.AppendInt(appendField(dst, "activeSessions"), int64(a.ActiveSessions), 10)
	case RootConfigChanged:
		dst = appendConfig(dst, a)
	}
	return append(dst, '}')
}

func appendConfig(dst []byte, a RootConfigChanged) []byte {
	config, err := json.Marshal(a.Config)
	if err != nil || a.Config == nil {
		config = []byte("{}")
	}
	dst = appendRaw(appendField(dst, "config"), config)
	if a.Replace {
		dst = appendBoolField(dst, "replace", true)
	}
	return dst
}

// FieldError says which field of a message is missing or wrong.
type FieldError struct {
	Field  string
	Reason string
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Reason }

// DecodeAction decodes an action. A type it does not know gives an [Unknown];
// what is no action at all, or lacks a field, gives a [*FieldError].
func DecodeAction(raw json.RawMessage) (Action, error) {
	var head struct {
		Type *string `json:"type"`
	}
	if err := json.Unmarshal(raw, &head); err != nil || head.Type == nil || *head.Type == "" {
		return nil, &FieldError{Field: "action.type", Reason: "must be a string"}
	}
	decode, ok := decoders[*head.Type]
	if !ok {
		return Unknown{Name: *head.Type, Raw: raw}, nil
	}
	a, err := decode(raw)
	if err == nil {
		return a, nil
	}
	var fe *FieldError
	if errors.As(err, &fe) {
		return nil, fe
	}
	var te *json.UnmarshalTypeError
	if errors.As(err, &te) && te.Field != "" {
		return nil, &FieldError{Field: "action." + te.Field, Reason: "has the wrong type"}
	}
	return nil, &FieldError{Field: "action", Reason: err.Error()}
}

var decoders = map[string]func(json.RawMessage) (Action, error){
	"terminal/data":                      func(r json.RawMessage) (Action, error) { d, err := data(r); return TerminalData{d}, err },
	"terminal/input":                     func(r json.RawMessage) (Action, error) { d, err := data(r); return TerminalInput{d}, err },
	"terminal/output":                    func(r json.RawMessage) (Action, error) { d, err := data(r); return TerminalOutput{d}, err },
	"terminal/resized":                   decodeResized,
	"terminal/claimed":                   decodeClaimed,
	"terminal/titleChanged":              decodeTitle,
	"terminal/cwdChanged":                decodeCwd,
	"terminal/exited":                    decodeExited,
	"terminal/cleared":                   func(json.RawMessage) (Action, error) { return TerminalCleared{}, nil },
	"terminal/commandDetectionAvailable": func(json.RawMessage) (Action, error) { return TerminalCommandDetectionAvailable{}, nil },
	"terminal/commandExecuted":           decodeExecuted,
	"terminal/commandFinished":           decodeFinished,
	"root/terminalsChanged":              decodeTerminals,
	"root/agentsChanged":                 decodeAgents,
	"root/activeSessionsChanged":         decodeActiveSessions,
	"root/configChanged":                 decodeConfig,
}

func missing(field string) error { return &FieldError{Field: "action." + field, Reason: "is missing"} }

func data(raw json.RawMessage) ([]byte, error) {
	var w struct {
		Data *string `json:"data"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, err
	}
	if w.Data == nil {
		return nil, missing("data")
	}
	return []byte(*w.Data), nil
}

func decodeResized(raw json.RawMessage) (Action, error) {
	var w struct{ Cols, Rows *int }
	if err := json.Unmarshal(raw, &w); err != nil {
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
	var w struct{ Claim json.RawMessage }
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, err
	}
	var c Claim
	if err := json.Unmarshal(w.Claim, &c); err != nil {
		return nil, &FieldError{Field: "action.claim", Reason: errClaim.Error()}
	}
	return TerminalClaimed{Claim: c}, nil
}

func decodeTitle(raw json.RawMessage) (Action, error) {
	var w struct{ Title *string }
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, err
	}
	if w.Title == nil {
		return nil, missing("title")
	}
	return TerminalTitleChanged{Title: *w.Title}, nil
}

func decodeCwd(raw json.RawMessage) (Action, error) {
	var w struct{ Cwd *string }
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, err
	}
	if w.Cwd == nil {
		return nil, missing("cwd")
	}
	return TerminalCwdChanged{Cwd: *w.Cwd}, nil
}

func decodeExited(raw json.RawMessage) (Action, error) {
	var w struct{ ExitCode *int }
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, err
	}
	return TerminalExited(w), nil
}

func decodeExecuted(raw json.RawMessage) (Action, error) {
	var w struct {
		CommandID   *string `json:"commandId"`
		CommandLine string  `json:"commandLine"`
		Timestamp   int64   `json:"timestamp"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, err
	}
	if w.CommandID == nil {
		return nil, missing("commandId")
	}
	return TerminalCommandExecuted{CommandID: *w.CommandID, CommandLine: w.CommandLine, Timestamp: w.Timestamp}, nil
}

func decodeFinished(raw json.RawMessage) (Action, error) {
	var w struct {
		CommandID  *string `json:"commandId"`
		ExitCode   *int    `json:"exitCode"`
		DurationMs *int64  `json:"durationMs"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, err
	}
	if w.CommandID == nil {
		return nil, missing("commandId")
	}
	return TerminalCommandFinished{CommandID: *w.CommandID, ExitCode: w.ExitCode, DurationMs: w.DurationMs}, nil
}

func decodeTerminals(raw json.RawMessage) (Action, error) {
	var w struct{ Terminals []TerminalInfo }
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, err
	}
	return RootTerminalsChanged(w), nil
}

func decodeAgents(raw json.RawMessage) (Action, error) {
	var w struct{ Agents json.RawMessage }
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, err
	}
	return RootAgentsChanged(w), nil
}

func decodeActiveSessions(raw json.RawMessage) (Action, error) {
	var w struct{ ActiveSessions int }
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, err
	}
	return RootActiveSessionsChanged(w), nil
}

func decodeConfig(raw json.RawMessage) (Action, error) {
	var w struct {
		Config  map[string]json.RawMessage
		Replace bool
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	return RootConfigChanged{Config: w.Config, Replace: w.Replace}, nil
}
