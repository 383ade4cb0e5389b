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

// Target is what the host knows about the terminal a verb is about, and about the request: plain
// facts, filled in under the terminal's lock. The zero Target gives no right.
type Target struct {
	// Name and Created identify the terminal to guests.
	Name    string
	Created time.Time
	// Called is the terminal's NAME now: see [Denied].
	Called string
	// Executor is who runs the terminal's pty.
	Executor Executor
	// Holds: the principal holds the claim, which says who may type. The claim names one of its
	// clientIds, or a session that it claimed for.
	Holds bool
	// HoldsByToken: a token of the principal's person holds the claim.
	HoldsByToken bool
	// Yours: the principal's person holds the claim, perhaps in another window; see Person.
	Yours bool
	// Owner: the principal owns this client-executed terminal, and the request
	// came on the connection whose clientId owns it.
	Owner bool
	// Made: the principal made the terminal.
	Made bool
	// Piped: the program of a server-executed terminal runs on pipes.
	Piped bool
	// Unstarted: the terminal's program waits for a person's approval to start.
	Unstarted bool
	// InputShared: the host runs with input = "shared".
	InputShared bool
	// Forced: for Create, the command to be run is the principal's forced
	// command; for other verbs, this principal's forced command runs in the
	// terminal. It means nothing for principals without a forced command.
	Forced bool
	// Recorder: the principal, or a token of it, had the recording made.
	Recorder bool
	// TokenRole is the role asked for by MintToken.
	TokenRole Role
	// Host and Port are where a forward leads or listens, as the peer wrote them.
	Host string
	Port uint32
	// Socket: the forward leads to a unix socket, or listens on one.
	Socket bool
	// Private: that socket is the host's own, where every peer is an admin.
	Private bool
}
