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
	// Name gives a terminal another NAME.
	Name
	// Describe says for people what a terminal is about: how its program stands, its labels.
	// Target.Made matters.
	Describe
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
	// CommandExecuted reports a command's start in a client-executed terminal.
	CommandExecuted
	// CommandFinished reports a command's end in a client-executed terminal.
	CommandFinished

	// MintToken makes a token of Target.TokenRole.
	MintToken
	// ListTokens lists the principal's own tokens.
	ListTokens
	// RevokeToken ends one of the principal's own tokens.
	RevokeToken
	// Subsystem opens an AHP connection inside an SSH connection.
	Subsystem
	// Forward opens the HTTP door through an SSH port forward. Target.Host and Target.Port matter.
	Forward
	// ForwardOpen connects from this machine to Target.Host and Target.Port, or to the unix socket
	// Target.Socket, for an SSH port forward.
	ForwardOpen
	// ForwardListen listens on this machine, at Target.Host and Target.Port or on the unix socket
	// Target.Socket, for an SSH port forward.
	ForwardListen
	// ForwardAgent lets programs in new terminals use the SSH client's agent.
	ForwardAgent
	// Files reads and writes files as the host's user (SSH's subsystem sftp).
	Files
	// Invite lets a guest of Target.TokenRole see some terminals, and lists and ends such
	// invitations.
	Invite
	// Kick ends what somebody else sees of a terminal.
	Kick
	// Approve decides about what an agent wants to type into a terminal, and whether agents are
	// asked there at all. That agents may not, whoever they are, is the host's to know.
	Approve
	// OpenPage lets a browser in, as one of Target.TokenRole.
	OpenPage
	// Record has a terminal recorded, or no longer.
	Record
	// DeleteRecording deletes a recording. Target.Recorder matters.
	DeleteRecording

	endOfVerbs
)

// String returns the verb as the rules in Denied spell it.
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
	case Name:
		return "name"
	case Describe:
		return "describe"
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
	case ForwardOpen:
		return "open a forward"
	case ForwardListen:
		return "listen for forwards"
	case ForwardAgent:
		return "forward an agent"
	case Files:
		return "transfer files"
	case Invite:
		return "invite"
	case Kick:
		return "kick"
	case Approve:
		return "approve"
	case OpenPage:
		return "open a page"
	case Record:
		return "record"
	case DeleteRecording:
		return "delete a recording"
	default:
		return "unknown verb"
	}
}
