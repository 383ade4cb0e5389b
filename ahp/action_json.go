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
		dst = AppendJSONString(appendField(dst, "data"), a.Data)
	case TerminalInput:
		dst = AppendJSONString(appendField(dst, "data"), a.Data)
	case TerminalOutput:
		dst = a.Halves.appendJSON(appendField(dst, "data"), a.Data)
		dst = appendNotice(dst, a.Notice)
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
		dst = appendNotice(dst, a.Notice)
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
		dst = appendAgents(dst, a.Agents)
	case RootActiveSessionsChanged:
		dst = strconv.AppendInt(appendField(dst, "activeSessions"), int64(a.ActiveSessions), 10)
	case RootConfigChanged:
		dst = appendConfig(dst, a)
	}
	return append(dst, '}')
}

// appendNotice appends what the host has to say to a terminal's owner, which AHP
// has no field for.
func appendNotice(dst []byte, notice string) []byte {
	if notice == "" {
		return dst
	}
	dst = append(appendField(dst, "_meta"), `{"termhost":{`...)
	return append(appendStringField(dst, "notice", notice), "}}"...)
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
