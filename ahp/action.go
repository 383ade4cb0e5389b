package ahp

import "encoding/json"

// Action is a change of a channel's state: one of the types of this file.
type Action interface {
	// Type returns the action's name on the wire, such as "terminal/data".
	Type() string
}

// The actions of a terminal channel.
type (
	// TerminalData is output of the terminal. Only the server sends it.
	TerminalData struct{ Data []byte }
	// TerminalInput is keyboard input on its way to the pty.
	TerminalInput struct{ Data []byte }
	// TerminalOutput is output of a client-executed terminal, sent by its owner.
	// Owners that cut strings by UTF-16 units, as JavaScript's do, may cut a
	// character in two, which UTF-8 cannot: see [Halves].
	TerminalOutput struct {
		Data   []byte // what is between the halves
		Halves Halves
		Notice string // what the host has to say to the owner, with the echo; "": nothing
	}
	// TerminalResized sets the size in cells.
	TerminalResized struct{ Cols, Rows int }
	// TerminalClaimed transfers the claim.
	TerminalClaimed struct{ Claim Claim }
	// TerminalTitleChanged sets the title.
	TerminalTitleChanged struct{ Title string }
	// TerminalCwdChanged sets the working directory, a file URI.
	TerminalCwdChanged struct{ Cwd string }
	// TerminalExited says that the process has ended; the code may be unknown.
	TerminalExited struct {
		ExitCode *int
		Notice   string // why the host has ended a client-executed terminal; "": it has not
	}
	// TerminalCleared drops the content.
	TerminalCleared struct{}
	// TerminalCommandDetectionAvailable says that commands will be told apart.
	TerminalCommandDetectionAvailable struct{}
	// TerminalCommandExecuted begins a command. Timestamp is in ms since 1970.
	TerminalCommandExecuted struct {
		CommandID, CommandLine string
		Timestamp              int64
	}
	// TerminalCommandFinished ends a command.
	TerminalCommandFinished struct {
		CommandID  string
		ExitCode   *int
		DurationMs *int64
	}
)

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

func (TerminalData) Type() string                      { return "terminal/data" }
func (TerminalInput) Type() string                     { return "terminal/input" }
func (TerminalOutput) Type() string                    { return "terminal/output" }
func (TerminalResized) Type() string                   { return "terminal/resized" }
func (TerminalClaimed) Type() string                   { return "terminal/claimed" }
func (TerminalTitleChanged) Type() string              { return "terminal/titleChanged" }
func (TerminalCwdChanged) Type() string                { return "terminal/cwdChanged" }
func (TerminalExited) Type() string                    { return "terminal/exited" }
func (TerminalCleared) Type() string                   { return "terminal/cleared" }
func (TerminalCommandDetectionAvailable) Type() string { return "terminal/commandDetectionAvailable" }
func (TerminalCommandExecuted) Type() string           { return "terminal/commandExecuted" }
func (TerminalCommandFinished) Type() string           { return "terminal/commandFinished" }
func (RootTerminalsChanged) Type() string              { return "root/terminalsChanged" }
func (RootAgentsChanged) Type() string                 { return "root/agentsChanged" }
func (RootActiveSessionsChanged) Type() string         { return "root/activeSessionsChanged" }
func (RootConfigChanged) Type() string                 { return "root/configChanged" }
func (u Unknown) Type() string                         { return u.Name }
