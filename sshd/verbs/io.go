package verbs

import (
	"io"
	"syscall"

	"termhost/ahp/host"
	"termhost/authz"
)

// IO is a verb's side of the peer that runs it: standard streams, a terminal, an environment. An
// SSH session is one; whatever else carries these may be another. Its methods may be called
// concurrently.
type IO interface {
	// Stdin is what the peer sends. It ends in the same way when the peer has no more to send and
	// when the peer is lost: see Answers.
	Stdin() io.Reader
	// Stdout and Stderr wait for a peer that takes its time, and fail once it has hung up.
	Stdout() io.Writer
	Stderr() io.Writer

	// Terminal returns the name (TERM) of the peer's terminal, which is in raw mode. ok is false
	// if the peer has none, and its streams are pipes.
	Terminal() (name string, ok bool)
	// Window returns the size of the peer's terminal; zero if it has none.
	Window() Window
	// Resized gets a value when the window has changed.
	Resized() <-chan struct{}
	// Signals gets the signals that the peer sends. Those that nobody receives may be dropped.
	Signals() <-chan syscall.Signal
	// Env returns the variables that the peer sets, as NAME=value, without those that the way in
	// does not accept.
	Env() []string

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
	// Go runs f on a goroutine that may go on when the verb has returned, until the streams are
	// closed; then it is waited for. If f panics, the connection ends; doing says in the log what
	// f was doing.
	Go(doing string, f func())
}

// Window is the size of a terminal in cells.
type Window struct{ Cols, Rows int }

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
	// Dir is the working directory of a local peer, in which what it runs starts; "": unknown.
	Dir string
}
