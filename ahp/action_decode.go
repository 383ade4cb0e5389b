package ahp

import (
	"bytes"
	"encoding/json"
	"errors"
)

// FieldError says which field of a message is missing or wrong.
type FieldError struct {
	Field  string
	Reason string
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Reason }

// DecodeAction decodes an action. A type it does not know gives an [Unknown],
// which keeps raw; what is no action at all, lacks a field that AHP requires,
// or has one of the wrong type gives a [*FieldError].
func DecodeAction(raw json.RawMessage) (Action, error) {
	var head struct {
		Type *string `json:"type"`
	}
	if err := json.Unmarshal(raw, &head); err != nil || head.Type == nil || *head.Type == "" {
		return nil, &FieldError{Field: "action.type", Reason: "must be a string"}
	}
	a, err := decodeAction(*head.Type, raw)
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

func decodeAction(name string, raw json.RawMessage) (Action, error) {
	switch name {
	case "terminal/data":
		d, err := decodeData(raw)
		return TerminalData{Data: d}, err
	case "terminal/input":
		d, err := decodeData(raw)
		return TerminalInput{Data: d}, err
	case "terminal/output":
		return decodeOutput(raw)
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
	case "terminal/commandDetectionAvailable":
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
	return Unknown{Name: name, Raw: raw}, nil
}

func missing(field string) error { return &FieldError{Field: "action." + field, Reason: "is missing"} }

func decodeData(raw json.RawMessage) ([]byte, error) {
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

func decodeOutput(raw json.RawMessage) (Action, error) {
	var w struct {
		Data *halvedString `json:"data"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, err
	}
	if w.Data == nil {
		return nil, missing("data")
	}
	return TerminalOutput{Data: []byte(w.Data.text), Halves: w.Data.halves, Notice: decodeNotice(raw)}, nil
}

func decodeResized(raw json.RawMessage) (Action, error) {
	var w struct {
		Cols *int `json:"cols"`
		Rows *int `json:"rows"`
	}
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
	var w struct {
		Claim json.RawMessage `json:"claim"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, err
	}
	if len(w.Claim) == 0 {
		return nil, missing("claim")
	}
	var c Claim
	if err := json.Unmarshal(w.Claim, &c); err != nil {
		return nil, &FieldError{Field: "action.claim", Reason: errClaim.Error()}
	}
	return TerminalClaimed{Claim: c}, nil
}

func decodeTitle(raw json.RawMessage) (Action, error) {
	var w struct {
		Title *string `json:"title"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
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
	if err := json.Unmarshal(raw, &w); err != nil {
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
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, err
	}
	return TerminalExited{ExitCode: w.ExitCode, Notice: decodeNotice(raw)}, nil
}

// decodeNotice returns the notice of an action, or "": of a form that is not
// ours it is nobody's notice.
func decodeNotice(raw json.RawMessage) string {
	var w struct {
		Meta struct {
			Termhost struct {
				Notice string `json:"notice"`
			} `json:"termhost"`
		} `json:"_meta"`
	}
	if !bytes.Contains(raw, []byte(`"_meta"`)) || json.Unmarshal(raw, &w) != nil {
		return "" // most actions have none, and output is long
	}
	return w.Meta.Termhost.Notice
}

func decodeExecuted(raw json.RawMessage) (Action, error) {
	var w struct {
		CommandID   *string `json:"commandId"`
		CommandLine *string `json:"commandLine"`
		Timestamp   *int64  `json:"timestamp"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
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
	return TerminalCommandExecuted{CommandID: *w.CommandID, CommandLine: *w.CommandLine, Timestamp: *w.Timestamp}, nil
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
	var w struct {
		Terminals *[]TerminalInfo `json:"terminals"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
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
	if err := json.Unmarshal(raw, &w); err != nil {
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
	if err := json.Unmarshal(raw, &w); err != nil {
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
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, err
	}
	if w.Config == nil {
		return nil, missing("config")
	}
	return RootConfigChanged{Config: w.Config, Replace: w.Replace}, nil
}
