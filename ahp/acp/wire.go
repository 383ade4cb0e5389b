package acp

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strconv"

	"termhost/ahp"
)

// ACP's methods that this package has something to do with.
const (
	methodInitialize = "initialize"
	methodNew        = "session/new"
	methodLoad       = "session/load"
	methodUpdate     = "session/update"
	methodPermission = "session/request_permission"
	methodCancel     = "$/cancel_request"

	methodCreate  = "terminal/create"
	methodOutput  = "terminal/output"
	methodWait    = "terminal/wait_for_exit"
	methodKill    = "terminal/kill"
	methodRelease = "terminal/release"
)

// The error codes of ACP that AHP does not have (ACP, schema, ErrorCode).
const (
	codeNoSuchTerminal = -32002 // ACP: resource not found
	codeCancelled      = -32800 // ACP: request cancelled
)

// isTerminalMethod reports whether a method is one of the five.
func isTerminalMethod(method string) bool {
	switch method {
	case methodCreate, methodOutput, methodWait, methodKill, methodRelease:
		return true
	}
	return false
}

// createParams are the params of terminal/create.
type createParams struct {
	SessionID       string        `json:"sessionId"`
	Command         string        `json:"command"`
	Args            []string      `json:"args"`
	Env             []envVariable `json:"env"`
	Cwd             string        `json:"cwd"`
	OutputByteLimit *byteLimit    `json:"outputByteLimit"`
	Meta            createMeta    `json:"_meta"`
}

// byteLimit is a number of bytes. JSON has one kind of number: 5.0 and 5e0 are 5.
type byteLimit uint64

// UnmarshalJSON accepts what is an integer, however it is written.
func (l *byteLimit) UnmarshalJSON(b []byte) error {
	n, err := strconv.ParseUint(string(b), 10, 64)
	if err == nil {
		*l = byteLimit(n)
		return nil
	}
	f, err := strconv.ParseFloat(string(b), 64) // beyond 64 bits exactness is nobody's concern
	if err != nil || f < 0 || f != math.Trunc(f) {
		return &json.UnmarshalTypeError{Value: "number", Type: reflect.TypeFor[byteLimit]()} // the decoder adds the field
	}
	*l = byteLimit(min(f, 1<<63))
	return nil
}

type envVariable struct {
	Name  string  `json:"name"`
	Value *string `json:"value"` // nil: it is missing
}

// createMeta is what terminal/create may carry beyond ACP: the name of the agent,
// which only a proxy knows.
type createMeta struct {
	Termhost struct {
		Agent string `json:"agent"`
	} `json:"termhost"`
}

// createResult is the result of terminal/create.
type createResult struct {
	TerminalID string     `json:"terminalId"`
	Meta       resultMeta `json:"_meta"`
}

// resultMeta says which terminal of the host it is: both are empty if the command
// could not be started.
type resultMeta struct {
	Termhost struct {
		Name string `json:"name,omitempty"`
		URI  string `json:"uri,omitempty"`
	} `json:"termhost"`
}

// terminalParams are the params of the other methods.
type terminalParams struct {
	SessionID  string `json:"sessionId"`
	TerminalID string `json:"terminalId"`
}

// check refuses what names no terminal.
func (p *terminalParams) check() *ahp.Error {
	switch {
	case p.SessionID == "":
		return ahp.FieldProblem("sessionId", "is missing")
	case p.TerminalID == "":
		return ahp.FieldProblem("terminalId", "is missing")
	}
	return nil
}

func errNoTerminal() *ahp.Error {
	return ahp.NewError(codeNoSuchTerminal, "this session has no such terminal; it may have been released", "field", "terminalId")
}

// exitStatus is ACP's TerminalExitStatus: one of the two is null.
type exitStatus struct {
	ExitCode *int    `json:"exitCode"`
	Signal   *string `json:"signal"`
}

// outputResult is the result of terminal/output.
type outputResult struct {
	Output     string      `json:"output"`
	Truncated  bool        `json:"truncated"`
	ExitStatus *exitStatus `json:"exitStatus,omitempty"`
	Meta       *outputMeta `json:"_meta,omitempty"`
}

// outputMeta says that the host does not list the terminal any more: its NAME and
// URI may be another's by now.
type outputMeta struct {
	Termhost struct {
		Gone bool `json:"gone"`
	} `json:"termhost"`
}

// decode reads params into v, naming the field that is wrong.
func decode(params json.RawMessage, v any) *ahp.Error {
	if len(params) == 0 || params[0] != '{' {
		return ahp.FieldProblem("params", "must be an object")
	}
	err := json.Unmarshal(params, v)
	if err == nil {
		return nil
	}
	var te *json.UnmarshalTypeError
	if errors.As(err, &te) && te.Field != "" {
		return ahp.FieldProblem(te.Field, "has the wrong type")
	}
	return ahp.FieldProblem("params", "cannot be read")
}

// encode returns v, which is one of the types above, as JSON.
func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null") // none of them can fail
	}
	return raw
}
