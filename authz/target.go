package authz

import "time"

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
	// Name and Created tell terminals apart, for guests.
	Name    string
	Created time.Time
	// Called is what the terminal is called now: see [Denied].
	Called string
	// Executor is who runs the terminal's pty.
	Executor Executor
	// Holds: the principal holds the claim, which says who may type. The claim
	// names one of its clientIds, or names a session that it claimed for.
	Holds bool
	// HoldsByToken: a token that the principal's person has minted holds the claim.
	HoldsByToken bool
	// Yours: the claim is held by the principal's person, perhaps in another window; see Person.
	Yours bool
	// Owner: the principal owns this client-executed terminal, and the request
	// came on the connection whose clientId owns it.
	Owner bool
	// Piped: the program of a server-executed terminal runs on pipes.
	Piped bool
	// Unstarted: the program of the terminal waits for a person's yes.
	Unstarted bool
	// InputShared: the host runs with input = "shared".
	InputShared bool
	// Forced: for Create, the command to be run is the principal's forced
	// command; for other verbs, this principal's forced command runs in the
	// terminal. It means nothing for principals without a forced command.
	Forced bool
	// Recorder: it is the principal, or a token of it, who had the recording made.
	Recorder bool
	// TokenRole is the role asked for by MintToken.
	TokenRole Role
	// Host and Port are where a forward leads or listens, as the peer has written them.
	Host string
	Port uint32
	// Socket: the forward leads to a unix socket, or listens on one.
	Socket bool
	// Private: that socket is the host's own, by which whoever connects is an admin.
	Private bool
}
