package authz

// Verb is one thing a principal may ask for. The zero Verb is denied.
type Verb uint8

// The verbs. Where a verb is about one terminal, Target holds that terminal's
// facts; the others need the facts named at the verb.
const (
	noVerb Verb = iota

	// List shows which terminals exist.
	List
	// Subscribe follows a channel.
	Subscribe
	// Read shows what a terminal has printed or its screen (log, peek).
	Read
	// Wait waits for a terminal's output or end.
	Wait
	// AttachReadOnly shows a terminal in an SSH session without input.
	AttachReadOnly

	// Create makes a terminal of either executor. Target.Forced matters.
	Create
	// Input types into a terminal.
	Input
	// Resize changes a terminal's size (terminal/resized).
	Resize
	// Clear removes a terminal's content (terminal/cleared).
	Clear
	// Rename sets a terminal's title (terminal/titleChanged).
	Rename
	// Claim is terminal/claimed: the holder passes the claim on, an admin may
	// take it as well.
	Claim
	// Seize takes the claim without holding it, as an attached admin's first
	// key does.
	Seize
	// Dispose ends and removes a terminal.
	Dispose

	// Output adds to a client-executed terminal (terminal/output).
	Output
	// Exited ends a client-executed terminal (terminal/exited).
	Exited
	// CommandExecuted marks a command's start in a client-executed terminal.
	CommandExecuted
	// CommandFinished marks a command's end in a client-executed terminal.
	CommandFinished

	// MintToken makes a token of Target.TokenRole.
	MintToken
	// ListTokens lists the principal's own tokens.
	ListTokens
	// RevokeToken ends one of the principal's own tokens.
	RevokeToken
	// Subsystem opens an AHP connection inside an SSH connection.
	Subsystem
	// Forward opens the HTTP door through an SSH port forward.
	Forward

	endOfVerbs
)

// String returns the verb as the rules of Denied spell it.
func (v Verb) String() string {
	switch v {
	case List:
		return "list"
	case Subscribe:
		return "subscribe"
	case Read:
		return "read"
	case Wait:
		return "wait"
	case AttachReadOnly:
		return "attach -r"
	case Create:
		return "create"
	case Input:
		return "input"
	case Resize:
		return "resize"
	case Clear:
		return "clear"
	case Rename:
		return "rename"
	case Claim:
		return "claim"
	case Seize:
		return "seize"
	case Dispose:
		return "dispose"
	case Output:
		return "output"
	case Exited:
		return "exited"
	case CommandExecuted:
		return "commandExecuted"
	case CommandFinished:
		return "commandFinished"
	case MintToken:
		return "mint a token"
	case ListTokens:
		return "list tokens"
	case RevokeToken:
		return "revoke a token"
	case Subsystem:
		return "subsystem"
	case Forward:
		return "forward"
	default:
		return "unknown verb"
	}
}

// Executor says who runs a terminal's pty. The zero Executor is unknown; verbs
// about a terminal are denied for it.
type Executor uint8

// The executors.
const (
	// UnknownExecutor is the zero Executor.
	UnknownExecutor Executor = iota
	// Server: the host runs the pty.
	Server
	// Client: a connected AHP client runs the pty ("client-executed").
	Client
)

// Target is what the host knows about the terminal a verb is about, and what a
// request asks for: plain facts, filled in by the host under the terminal's
// lock. The zero Target gives no right.
type Target struct {
	// Executor is who runs the terminal.
	Executor Executor
	// Holds: the claim names one of the principal's own clientIds, or names a
	// session and the principal is the one that claimed for it.
	Holds bool
	// Owner: the request came on the connection whose clientId owns this
	// client-executed terminal, and the owner's principal is this one.
	Owner bool
	// InputShared: the host runs with input = "shared".
	InputShared bool
	// Forced: for Create, the command to be run is the principal's forced
	// command; for other verbs, this principal's forced command made this
	// terminal. Without meaning for principals that have no forced command.
	Forced bool
	// TokenRole is the role asked for by MintToken.
	TokenRole Role
}
