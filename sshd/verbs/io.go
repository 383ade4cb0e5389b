package verbs

import (
	"termhost/ahp/host"
	"termhost/authz"
	"termhost/sshd/viewer"
)

// IO is a verb's side of the peer that runs it: standard streams, a terminal, an environment. An
// SSH session is one; whatever else carries these may be another. Its methods may be called
// concurrently.
type IO interface {
	viewer.IO // Stdin ends in the same way when the peer is lost: see Answers

	// OutputRefused is closed when the peer has said that it reads no more from Stdout, which then
	// fails. Stderr does not.
	OutputRefused() <-chan struct{}
	// EndOutput tells the peer that Stdout and Stderr have ended. Nothing may be written after it.
	EndOutput()
	// DiscardInput has all that comes on Stdin thrown away: nothing will read it.
	DiscardInput()
	// RefuseInput tells the peer that nothing more of Stdin is read.
	RefuseInput()

	// Answers asks the peer for a sign of life and reports whether one came.
	Answers() bool
}

// Window is the size of a terminal in cells.
type Window = viewer.Window

// Caller is a peer that runs verbs, with what it has proven to be.
type Caller struct {
	IO
	// Conn is the peer's connection, as the host has it.
	Conn *host.Conn
	// Grant is what proved who the peer is. Tokens belong to it.
	Grant authz.Grant
	// Endpoints are both ends of the peer's TCP connection, as sshd writes them into
	// SSH_CONNECTION: the peer's address and port, then ours; "" for another kind of connection.
	Endpoints string
	// AgentSocket is the path of a socket that leads to the peer's key agent; "": there is none.
	AgentSocket string
	// Local: the peer runs termhost on this machine, not ssh, and is told to type that. Its command
	// line is made of arguments, each quoted.
	Local bool
	// Taken is as in [viewer.Session].
	Taken func(bytes uint64, shown bool)
	// Dir is the working directory of a local peer, in which what it runs starts; "": unknown.
	Dir string
	// Config is the configuration that a local peer names, as its shell has it; "": none.
	Config string
}
