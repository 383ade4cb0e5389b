package verbs

import (
	"termhost/ahp/host"
	"termhost/authz"
	"termhost/sshd/viewer"
)

// IO is the peer that runs a verb: standard streams, a terminal, an environment. An SSH session is
// one. Its methods may be called concurrently.
type IO interface {
	viewer.IO // Stdin also ends when the peer is lost: see Answers

	// Modes are the modes of the peer's terminal, as in package ttymodes; "": unknown.
	Modes() string
	// OutputRefused is closed when the peer has said that it reads no more from Stdout. Writes to
	// it then fail; those to Stderr do not.
	OutputRefused() <-chan struct{}
	// EndOutput tells the peer that Stdout and Stderr have ended. Nothing may be written after it.
	EndOutput()
	// DiscardInput discards Stdin: nothing will read it.
	DiscardInput()
	// RefuseInput tells the peer that nothing more of Stdin is read.
	RefuseInput()

	// Answers asks the peer for a sign of life and reports whether one came.
	Answers() bool
}

// Window is the size of a terminal.
type Window = viewer.Window

// Count is a number that changes.
type Count = viewer.Count

// NewCount returns a Count of 0.
func NewCount() *Count { return viewer.NewCount() }

// Caller is a peer that runs verbs, with its identity.
type Caller struct {
	IO
	// Conn is the host's side of the peer's connection.
	Conn *host.Conn
	// Grant is the proof of the peer's identity. Tokens belong to it.
	Grant authz.Grant
	// Endpoints are both ends of the peer's TCP connection, as sshd writes them into
	// SSH_CONNECTION: the peer's address and port, then ours; "" for another kind of connection.
	Endpoints string
	// Carries is [viewer.Session.Carries].
	Carries func(bytes int) bool
	// ForwardsAgent: programs may use the peer's key agent.
	ForwardsAgent bool
	// Local: the peer runs termhost on this machine, not ssh, and messages say so. Its command line
	// is made of arguments, each quoted.
	Local bool
	// Inner: the peer runs `termhost attach --ssh`, whose ssh has brought it here, and messages say
	// so.
	Inner bool
	// Carried is this host's name in the fleet, if another host has carried the peer here: for the
	// peer it is a part of NAMEs, and it goes nowhere else from here. "": it was not.
	Carried string
	// Arrives: the person who is carried here comes from another terminal. Arriving, Away and
	// Listed are as in [viewer.Options]; Arriving also tells a person who comes back after a loss
	// of the connection.
	Arrives, Away, Listed bool
	Arriving              string
	// WantElsewhere is as in [viewer.Session].
	WantElsewhere *Count
	// MCP speaks MCP on the peer's streams until they end, and returns the exit status. as is the
	// client's name; "": the one that it gives itself. dir is the folder that its programs start
	// in; "": the home folder.
	MCP func(as, dir string) int
	// Taken is as in [viewer.Session].
	Taken func(bytes uint64, shown bool)
	// Shows is as in [viewer.Session].
	Shows func(name string, readOnly bool)
	// Dir is the working directory of a local peer, where its programs start; "": unknown.
	Dir string
	// Config is the configuration file of a local peer, quoted for its shell; "": the default.
	Config string
}
