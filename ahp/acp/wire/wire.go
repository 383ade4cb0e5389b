// Package wire holds ACP's terminal methods as JSON, for the host that answers them and for the
// proxy that asks it (https://agentclientprotocol.com/protocol/terminals).
package wire

import (
	"encoding/json"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strconv"

	"termhost/ahp"
)

// The terminal methods.
const (
	MethodCreate  = "terminal/create"
	MethodOutput  = "terminal/output"
	MethodWait    = "terminal/wait_for_exit"
	MethodKill    = "terminal/kill"
	MethodRelease = "terminal/release"
)

// The error codes of ACP that AHP does not have (ACP, schema, ErrorCode).
const (
	CodeNoSuchTerminal = -32002 // ACP: resource not found
	CodeCancelled      = -32800 // ACP: request cancelled
)

// CreatedParams are the params of [ahp.MethodACPCreated]. Its result is that of terminal/create.
type CreatedParams struct {
	SessionID string `json:"sessionId"`
	Key       string `json:"key"`
}

// PermissionParams are the params of [ahp.MethodACPPermission]. Its result is {}.
type PermissionParams struct {
	TerminalParams
	Request string `json:"request"` // names it on this connection
	Title   string `json:"title"`   // what it is for, for people
	Over    bool   `json:"over"`    // it has been decided
}

// TerminalMethods returns the names of all terminal methods.
func TerminalMethods() []string {
	return []string{MethodCreate, MethodOutput, MethodWait, MethodKill, MethodRelease}
}

// IsTerminalMethod reports whether a method is one of the terminal methods.
func IsTerminalMethod(method string) bool { return slices.Contains(TerminalMethods(), method) }

// CreateParams are the params of terminal/create.
type CreateParams struct {
	SessionID       string        `json:"sessionId"`
	Command         string        `json:"command"`
	Args            []string      `json:"args"`
	Env             []EnvVariable `json:"env"`
	Cwd             string        `json:"cwd"`
	OutputByteLimit *ByteLimit    `json:"outputByteLimit"`
	Meta            CreateMeta    `json:"_meta"`
}

// ByteLimit is a number of bytes. JSON has one kind of number, so 5.0 and 5e0 are the integer 5.
type ByteLimit uint64

// UnmarshalJSON accepts any JSON number that is an integer and not negative. One that does
// not fit into 64 bits becomes 1<<63.
func (l *ByteLimit) UnmarshalJSON(b []byte) error {
	n, err := strconv.ParseUint(string(b), 10, 64)
	if err == nil {
		*l = ByteLimit(n)
		return nil
	}
	f, err := strconv.ParseFloat(string(b), 64) // inexact only far beyond every limit
	if err != nil || f < 0 || f != math.Trunc(f) {
		// The decoder adds the name of the field.
		return &json.UnmarshalTypeError{Value: "number", Type: reflect.TypeFor[ByteLimit]()}
	}
	*l = ByteLimit(min(f, 1<<63))
	return nil
}

// EnvVariable is a variable of a command's environment.
type EnvVariable struct {
	Name  string  `json:"name"`
	Value *string `json:"value"` // nil: it is missing
}

// CreateMeta is what terminal/create may carry beyond ACP.
type CreateMeta struct {
	Termhost struct {
		Agent string `json:"agent"` // what the agent is called, which only a proxy knows
		// Key ends the terminal's id, and finds the terminal again with [ahp.MethodACPCreated]: 8
		// to 32 letters a to z and digits, which nobody else has. "": the host makes it.
		Key string `json:"key,omitempty"`
	} `json:"termhost"`
}

// CreateResult is the result of terminal/create.
type CreateResult struct {
	TerminalID string     `json:"terminalId"`
	Meta       ResultMeta `json:"_meta"`
}

// ResultMeta says which terminal of the host it is. Both members are empty if the command could not
// be started: there is no terminal then.
type ResultMeta struct {
	Termhost struct {
		Name string `json:"name,omitempty"`
		URI  string `json:"uri,omitempty"`
	} `json:"termhost"`
}

// TerminalParams are the params of the four methods other than terminal/create.
type TerminalParams struct {
	SessionID  string `json:"sessionId"`
	TerminalID string `json:"terminalId"`
}

// Check returns an error if a member is missing.
func (p *TerminalParams) Check() *ahp.Error {
	switch {
	case p.SessionID == "":
		return ahp.FieldProblem("sessionId", "is missing")
	case p.TerminalID == "":
		return ahp.FieldProblem("terminalId", "is missing")
	}
	return nil
}

// NoTerminal is the error for an id that the session has no terminal of.
func NoTerminal() *ahp.Error {
	const why = "this session has no such terminal; it may have been released"
	return ahp.NewError(CodeNoSuchTerminal, why, "field", "terminalId")
}

// ExitStatus is ACP's TerminalExitStatus. One of the two is null; both are if nobody could learn
// the status.
type ExitStatus struct {
	ExitCode *int    `json:"exitCode"`
	Signal   *string `json:"signal"`
}

// OutputResult is the result of terminal/output.
type OutputResult struct {
	Output     string      `json:"output"`
	Truncated  bool        `json:"truncated"`
	ExitStatus *ExitStatus `json:"exitStatus,omitempty"`
	Meta       *OutputMeta `json:"_meta,omitempty"`
}

// OutputMeta says whether the host has taken the terminal from its list, as it does with the oldest
// that have exited: their NAME and URI may belong to another one by now.
type OutputMeta struct {
	Termhost struct {
		Gone bool `json:"gone"`
	} `json:"termhost"`
}

// SessionURI returns the URI of an agent session, which claims the session's terminals.
func SessionURI(id string) string { return "ahp-session:/" + url.PathEscape(id) }
