package ahp

import "encoding/json"

// Action is a change of a channel's state: one of the types in this file.
type Action interface {
	// Type returns the action's name on the wire, such as "terminal/data".
	Type() string
}

// The actions of a terminal channel.
type (
	// TerminalData is output of the terminal. Only the server sends it.
	TerminalData struct{ Data []byte }
	// TerminalInput is keyboard input on its way to the pty. With _meta {"termhost": {"bytes":
	// true}} the characters of the JSON's data, which are then at most U+00FF, are bytes: a report
	// of the mouse may be no text. With {"termhost": {"after": N}} it is taken only if the last
	// input that the terminal took of this clientId had the clientSeq N.
	TerminalInput struct {
		Data  []byte
		After int64 // 0: whatever came before
	}
	// TerminalOutput is output of a client-executed terminal, sent by its owner. An
	// owner that splits strings by UTF-16 units, as JavaScript does, may split a
	// character into two surrogates.
	TerminalOutput struct {
		Data       []byte // the text between the surrogates
		Surrogates Surrogates
		Notice     string // in the echo: the host's notice to the owner; "": none
	}
	// TerminalResized sets the size in cells.
	TerminalResized struct{ Cols, Rows int }
	// TerminalClaimed transfers the claim.
	TerminalClaimed struct{ Claim Claim }
	// TerminalTitleChanged sets the title.
	TerminalTitleChanged struct{ Title string }
	// TerminalCwdChanged sets the working directory, a file URI.
	TerminalCwdChanged struct{ Cwd string }
	// TerminalExited says that the process has ended.
	TerminalExited struct {
		ExitCode *int   // nil: unknown
		Notice   string // why the host has ended a client-executed terminal; "": it has not
	}
	// TerminalCleared drops the content.
	TerminalCleared struct{}
	// TerminalCommandDetectionAvailable says that shell integration is active: from
	// now on each command is announced.
	TerminalCommandDetectionAvailable struct{}
	// TerminalCommandExecuted begins a command. Timestamp is in ms since 1970.
	TerminalCommandExecuted struct {
		CommandID, CommandLine string
		Timestamp              int64
		By                     string // who typed it, or Nobody; "": not known
		Cwd                    string // where it began, a file URI; "": not known
	}
	// TerminalCommandFinished ends a command.
	TerminalCommandFinished struct {
		CommandID  string
		ExitCode   *int
		DurationMs *int64
	}
)

// Nobody is who began a command that nobody typed.
const Nobody = "-"

// The actions of the root channel.
type (
	// RootTerminalsChanged replaces the list of terminals.
	RootTerminalsChanged struct{ Terminals []TerminalInfo }
	// RootAgentsChanged replaces the list of agents.
	RootAgentsChanged struct{ Agents json.RawMessage }
	// RootActiveSessionsChanged sets the number of active agent sessions.
	RootActiveSessionsChanged struct{ ActiveSessions int }
	// RootConfigChanged merges values into the root config, or replaces them.
	RootConfigChanged struct {
		Config  map[string]json.RawMessage
		Replace bool
	}
)

// Unknown is an action of a type this package does not know.
type Unknown struct {
	Name string
	Raw  json.RawMessage
}

const detectionAvailable = "terminal/commandDetectionAvailable"

func (TerminalData) Type() string                      { return "terminal/data" }
func (TerminalInput) Type() string                     { return "terminal/input" }
func (TerminalOutput) Type() string                    { return "terminal/output" }
func (TerminalResized) Type() string                   { return "terminal/resized" }
func (TerminalClaimed) Type() string                   { return "terminal/claimed" }
func (TerminalTitleChanged) Type() string              { return "terminal/titleChanged" }
func (TerminalCwdChanged) Type() string                { return "terminal/cwdChanged" }
func (TerminalExited) Type() string                    { return "terminal/exited" }
func (TerminalCleared) Type() string                   { return "terminal/cleared" }
func (TerminalCommandDetectionAvailable) Type() string { return detectionAvailable }
func (TerminalCommandExecuted) Type() string           { return "terminal/commandExecuted" }
func (TerminalCommandFinished) Type() string           { return "terminal/commandFinished" }
func (RootTerminalsChanged) Type() string              { return "root/terminalsChanged" }
func (RootAgentsChanged) Type() string                 { return "root/agentsChanged" }
func (RootActiveSessionsChanged) Type() string         { return "root/activeSessionsChanged" }
func (RootConfigChanged) Type() string                 { return "root/configChanged" }
func (u Unknown) Type() string                         { return u.Name }
