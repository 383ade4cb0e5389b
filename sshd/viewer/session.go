package viewer

import (
	"errors"
	"io"
	"syscall"

	"termhost/ahp/host"
)

// IO is the peer's streams and terminal, as a viewer uses them. Its methods may be called
// concurrently.
type IO interface {
	// Stdin is what the peer sends. It ends also when the peer is lost.
	Stdin() io.Reader
	// Stdout and Stderr block while the peer is slow, and fail once it has hung up.
	Stdout() io.Writer
	Stderr() io.Writer

	// Terminal returns the name (TERM) of the peer's terminal, which is in raw mode. ok is false
	// if the peer has none, and its streams are pipes.
	Terminal() (name string, ok bool)
	// Draws reports whether a screen can be drawn on the peer's terminal. Where it cannot, because
	// the terminal is dumb or did not know its window at the start, a program's output is all that
	// the peer gets. It does not change.
	Draws() bool
	// Window returns the size of the peer's terminal; zero if there is none, or it is unknown.
	Window() Window
	// Resized gets a value when the window has changed.
	Resized() <-chan struct{}
	// Signals gets the signals that the peer sends. Those that nobody receives may be dropped.
	Signals() <-chan syscall.Signal
	// Env returns the variables that the peer sets, as NAME=value, as far as its door accepts them.
	Env() []string

	// Go runs f on a goroutine that may outlive the viewer, until the streams are closed, which
	// wait for it. If f panics, the connection ends; doing says in the log what f did.
	Go(doing string, f func())
}

// Window is the size of a terminal in cells and, if it is known, in pixels.
type Window struct {
	Cols, Rows int
	Pixels     host.Pixels
}

// Session is a peer that watches terminals. Its fields do not change meanwhile.
type Session struct {
	IO
	Conn *host.Conn // the peer's
	// Prefix is the control character that begins a command; 0: there are no commands.
	Prefix byte
	// Quiet reports whether the person gets no notice, mark or notification of other terminals that
	// need attention; nil: they get them.
	Quiet func() bool
	// Buffers are shared by all viewers of a host.
	Buffers *Buffers
	// CreateOptions returns the options of a new terminal from the peer's terminal and environment.
	CreateOptions func() host.CreateOptions
	// ComeBack and Remove return the command lines with which the peer attaches to the terminal of
	// a NAME, such as "ssh -t HOST attach NAME", and removes it.
	ComeBack, Remove func(name string) string
	// Called returns what the peer calls the terminal of a NAME: HOST/NAME, if another host has
	// carried it here. nil: by the NAME.
	Called func(name string) string
	// Ended returns why the host ends the peer's connection; nil if it does not, or if the peer has
	// hung up and reads nothing more.
	Ended func() error
	// Taken tells the peer that the first bytes of Stdin cannot be lost any more, and whether the
	// program shows what is typed next. It may block. nil: the peer does not need it.
	Taken func(bytes uint64, shown bool)
	// Carries sends the peer so many bytes that mean nothing, and returns when they, and all that
	// was written before, have reached it: true, or false if it is lost. nil: that cannot be known.
	Carries func(bytes int) bool
	// Others are the terminals of the fleet's other hosts, for lists; nil: there are none.
	Others Others
	// Shows tells the peer which terminal is shown from now on, by its NAME; "": the last one has
	// ended, and the viewer does. nil: the peer does not need it.
	Shows func(name string, readOnly bool)
	// Elsewhere has the terminals of other hosts; nil: there are none.
	Elsewhere Elsewhere
	// WantElsewhere counts the terminals of other hosts that want the person; nil: there are no
	// other hosts.
	WantElsewhere *Count

	// Status says whether the person has a status line; nil: none.
	Status *Status

	questioned *questions // see questions
}

// called returns what the peer calls a terminal.
func (s *Session) called(t *host.Terminal) string { return s.calls(t.Name()) }

// calls is called for a terminal's NAME.
func (s *Session) calls(name string) string {
	if s.Called == nil {
		return name
	}
	return s.Called(name)
}

// kicked says by whom the peer's view was ended.
func (s *Session) kicked(err error) string {
	var by *host.KickedError
	if errors.As(err, &by) {
		err = &host.KickedError{By: by.By, Terminal: s.calls(by.Terminal)}
	}
	return host.Printable(err.Error())
}

// shows says which terminal is shown from now on.
func (w *viewer) shows() {
	if w.s.Shows != nil {
		w.s.Shows(w.t.Name(), w.readOnly)
	}
	if w.s.Elsewhere != nil {
		w.s.Elsewhere.Shown(w.t)
	}
}

// showsNothing says that the terminal has ended.
func (w *viewer) showsNothing() {
	if w.s.Shows != nil {
		w.s.Shows("", w.readOnly)
	}
}

// interactive reports whether the peer has a terminal. Otherwise the output is a stream.
func (s *Session) interactive() bool {
	_, ok := s.Terminal()
	return ok
}
