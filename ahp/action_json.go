package ahp

import (
	"encoding/json"
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
		dst = appendText(appendField(dst, "data"), a.Data)
	case TerminalInput:
		dst = appendText(appendField(dst, "data"), a.Data)
	case TerminalOutput:
		dst = a.Surrogates.appendJSON(appendField(dst, "data"), a.Data)
		dst = appendExtras(dst, extraNotice, a.Notice)
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
		dst = appendExtras(dst, extraNotice, a.Notice)
	case TerminalCommandExecuted:
		dst = appendStringField(dst, "commandId", a.CommandID)
		dst = appendStringField(dst, "commandLine", a.CommandLine)
		dst = strconv.AppendInt(appendField(dst, "timestamp"), a.Timestamp, 10)
		dst = appendExtras(dst, extraBy, a.By, extraCwd, a.Cwd)
	case TerminalCommandFinished:
		dst = appendStringField(dst, "commandId", a.CommandID)
		dst = appendOutcome(dst, a.ExitCode, a.DurationMs)
	case RootTerminalsChanged:
		dst = appendTerminals(appendField(dst, "terminals"), a.Terminals, shape)
	case RootAgentsChanged:
		dst = appendAgents(dst, a.Agents)
	case RootActiveSessionsChanged:
		dst = strconv.AppendInt(appendField(dst, "activeSessions"), int64(a.ActiveSessions), 10)
	case RootConfigChanged:
		dst = appendConfig(dst, a)
	}
	return append(dst, '}')
}

// What AHP has no field for stands in _meta.termhost.
const (
	extraNotice = "notice" // to a terminal's owner
	extraBy     = "by"     // who typed a command
	extraCwd    = "cwd"    // the directory in which a command began
)

// appendExtras appends a _meta with these, which are given as keys and values. Empty ones are left
// out.
func appendExtras(dst []byte, pairs ...string) []byte {
	begun := false
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			continue
		}
		if !begun {
			dst = append(appendField(dst, "_meta"), `{"termhost":{`...)
			begun = true
		}
		dst = appendStringField(dst, pairs[i], pairs[i+1])
	}
	if begun {
		dst = append(dst, "}}"...)
	}
	return dst
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
