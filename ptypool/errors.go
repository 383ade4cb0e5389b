package ptypool

import (
	"errors"
	"fmt"
)

// Errors to match with errors.Is.
var (
	// ErrNotFound: the program, or the interpreter that its first line names, does not exist.
	ErrNotFound = errors.New("no such program")
	// ErrNotExecutable: the program exists, but may not or cannot be executed.
	ErrNotExecutable = errors.New("not executable")
	// ErrTooLong: the arguments and the environment exceed the system's limit (execve(2): 128 KiB
	// for a single string).
	ErrTooLong = errors.New("argument list too long")
	// ErrBadDir: the working directory does not exist, is no directory, or may not be entered.
	ErrBadDir = errors.New("bad working directory")
	// ErrInputFull: the program does not read, and the piece does not fit into the input queue.
	// Nothing of it was queued.
	ErrInputFull = errors.New("ptypool: the input queue is full: wait for the program to read")
	// ErrInterrupted: a character is an interrupt, and what is before it would be dropped. Nothing
	// was typed.
	ErrInterrupted = errors.New("ptypool: an interrupt drops the lines that are typed before it")
	// ErrLineTooLong: the terminal edits lines, and would cut this one. Nothing of it was typed.
	ErrLineTooLong = fmt.Errorf("ptypool: a line has more than %d bytes, of which the terminal "+
		"would drop the rest", maxLine)
	// ErrExited: the terminal has ended.
	ErrExited = errors.New("ptypool: the terminal has exited")
	// ErrNoKeyboard: keys do not reach a program on pipes.
	ErrNoKeyboard = errors.New("ptypool: the terminal has no keyboard")
	// ErrInputClosed: a program on pipes has stopped reading its input, or its input was closed.
	ErrInputClosed = errors.New("ptypool: the program reads no more input")
	// ErrNoProcess: a virtual terminal has no process to write to or to signal.
	ErrNoProcess = errors.New("ptypool: the terminal has no process of this host")
	// ErrNotStarted: the terminal's program has not been started; see Prepared.
	ErrNotStarted = errors.New("ptypool: the program has not been started")
	// ErrShutdown: the pool is shutting down and starts nothing.
	ErrShutdown = errors.New("ptypool: shutting down")
)

// StartError says why a program could not be started. It unwraps to Kind and to Err.
type StartError struct {
	// Kind is ErrNotFound, ErrNotExecutable, ErrTooLong or ErrBadDir; nil: a resource of the system
	// is missing (see Err).
	Kind error
	Name string // the program or directory, as the caller named it
	Err  error  // the system's own error; may be nil
	// Interpreter is the interpreter that the first line of the program names and that does not
	// exist; "": that is not the reason.
	Interpreter string
}

// Error names the program or directory, what is wrong with it, and the system's reason.
func (e *StartError) Error() string {
	switch {
	case e.Kind == nil:
		return fmt.Sprintf("cannot start %q: %v", e.Name, e.Err)
	case e.Interpreter != "":
		return fmt.Sprintf("%q: its interpreter %q does not exist", e.Name, e.Interpreter)
	case e.Err == nil:
		return fmt.Sprintf("%q: %v", e.Name, e.Kind)
	default:
		return fmt.Sprintf("%q: %v: %v", e.Name, e.Kind, e.Err)
	}
}

// Unwrap makes errors.Is and errors.As see the kind and the system's error.
func (e *StartError) Unwrap() []error {
	var errs []error
	for _, err := range []error{e.Kind, e.Err} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// LimitError says that a configured limit has been reached.
type LimitError struct {
	Key   string // the configuration key that sets it: "terminal.max_terminals"
	Limit int
}

// Error names the limit and the key that raises it.
func (e *LimitError) Error() string {
	return fmt.Sprintf("the limit of %d running terminals is reached: dispose one, or raise %s",
		e.Limit, e.Key)
}
