package history

import (
	"errors"
	"time"

	"termhost/ahp"
	"termhost/ptypool/termlog"
)

// Log is what a terminal has printed, or a recording of it. Its methods may be called concurrently.
type Log struct {
	// ID is the terminal's. The IDs of its commands begin with it.
	ID string
	// Nonce is that of its shell integration: see [vt.Options].
	Nonce string
	// Piped says that its program runs on pipes: it prints \n where a terminal needs \r\n.
	Piped bool
	// Whole says that nothing is gone before the first record: a recording begins where it does.
	Whole bool

	Format Format
	// Allowed is called before the log is read. An error refuses that. nil: it is allowed.
	Allowed func() error
	// Records calls visit with the log's records, oldest first, until visit returns false. from is
	// given where the log starts, and returns where to begin, at once: it may be called with a lock
	// held. Payloads are valid only during the call. It fails with [ErrNotLogged] before it has
	// called visit if nothing is logged.
	Records Records
	// Outline returns the state that a log begins with that has no checkpoint there.
	Outline func() Checkpoint
	// Retained returns what is to be read where nothing is logged; nil: nothing is.
	Retained func() (Retained, error)
	// Ended returns how the terminal has ended; nil: it runs. A nil function: the log says that.
	Ended func() *End

	// Index keeps keyframes of the log; nil: none are kept.
	Index *Index
}

func (l *Log) allowed() error {
	if l.Allowed == nil {
		return nil
	}
	return l.Allowed()
}

// Records reads records: see [Log].
type Records func(
	from func(start termlog.Spot) termlog.Spot, visit func(termlog.Record) bool,
) error

// ErrNotLogged says that there is no log of what a terminal printed.
var ErrNotLogged = errors.New("history: what the terminal printed is not in its log")

// errEnded says that a log cannot be read any more.
var errEnded = errors.New("history: the log has ended while it was read")

// Format decodes what the host has written into a log.
type Format interface {
	Checkpoint(payload []byte) (c Checkpoint, ok bool)
	// Event returns an action; nil: none that is known. parsed: the output before it has brought
	// it, and brings it again.
	Event(payload []byte) (a ahp.Action, parsed bool)
	Exit(payload []byte) *End // nil: it is none
}

// Checkpoint is a state from which the records behind it can be followed.
type Checkpoint struct {
	Cols, Rows int
	Commands   int                          // how many the shell has told of
	Running    *ahp.TerminalCommandExecuted // the command that runs; nil: none does
	Marks      string                       // brings a parser to the state of shell integration
	Redraw     []byte                       // draws the screen on a blank one of that size
}

// End is how a terminal has ended.
type End struct {
	At       time.Time
	ExitCode *int // nil: unknown
}

// Retained is what a host knows of a terminal's output without a log.
type Retained struct {
	State           ahp.TerminalState
	Truncated       bool // the beginning is gone
	Created, Exited time.Time
}

// Work is what a request costs that takes long. It is done in pieces.
type Work interface {
	// Step is called before each piece of work, which may take some milliseconds, and may wait for
	// a turn. An error says why the work ends.
	Step() error
	// Rest gives the turn back. It is called in the end.
	Rest()
}

// goesOn is Step for those who need not know why it is not to go on.
func goesOn(w Work) func() bool { return func() bool { return w.Step() == nil } }
