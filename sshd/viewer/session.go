package viewer

import (
	"io"
	"syscall"

	"termhost/ahp/host"
)

// IO is what a viewer has of its peer's streams and terminal. Its methods may be called
// concurrently.
type IO interface {
	// Stdin is what the peer sends. It ends in the same way when the peer has no more to send and
	// when the peer is lost.
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

	// Go runs f on a goroutine that may go on when the viewer has ended, until the streams are
	// closed; then it is waited for. If f panics, the connection ends; doing says in the log what
	// f was doing.
	Go(doing string, f func())
}

// Window is the size of a terminal in cells.
type Window struct{ Cols, Rows int }

// Session is a peer that looks at terminals. Its fields do not change while it does.
type Session struct {
	IO
	Host *host.Host
	Conn *host.Conn // the peer's connection to Host
	// Prefix is the control character that begins a command; 0: nothing that is typed is one.
	Prefix byte
	// Quiet reports whether the person gets no notice, mark or notification of other terminals that
	// want them; nil: they get all of these.
	Quiet func() bool
	// Buffers are shared by all viewers of a host.
	Buffers *Buffers
	// CreateOptions returns what the peer's terminal and environment say about a new terminal.
	CreateOptions func() host.CreateOptions
	// ComeBack and Remove return the command line by which the peer sees the terminal of a NAME
	// again, such as "ssh -t HOST attach NAME", and by which it removes that.
	ComeBack, Remove func(name string) string
	// Ended returns why the host ends the peer's connection; nil if it does not, or if the peer has
	// hung up and reads nothing more.
	Ended func() error
	// Taken tells the peer that the first bytes of Stdin cannot be lost any more, and whether what
	// is typed next at the program is shown. It may wait for the peer. nil: the peer does not want
	// to know.
	Taken func(bytes uint64, shown bool)
}

// interactive reports whether there is a person with a window. Otherwise what is shown is a stream.
func (s *Session) interactive() bool {
	_, ok := s.Terminal()
	return ok
}
