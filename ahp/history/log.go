package history

import (
	"errors"
	"time"

	"termhost/ahp"
	"termhost/ptypool/termlog"
)

// Log is a terminal's output, or a recording of it. Its methods may be called concurrently.
type Log struct {
	// ID is the terminal's ID. The IDs of its commands begin with it.
	ID string
	// Nonce is the nonce of its shell integration: see [vt.Options].
	Nonce string
	// Piped says that its program runs on pipes and prints \n where a terminal needs \r\n.
	Piped bool
	// Whole says that nothing is missing before the first record: a recording may begin at any
	// position.
	Whole bool

	Format Format
	// Allowed is called before the log is read; its error refuses the reading. nil: reading is
	// always allowed.
	Allowed func() error
	// Records calls visit with the log's records, oldest first, until visit returns false. from
	// gets the log's start and returns where to begin. It must not block: a lock may be held.
	// Payloads are valid only during the call. If there is no log, it fails with [ErrNotLogged]
	// before it calls visit.
	Records Records
	// Outline returns the initial state of a log that does not begin with a checkpoint.
	Outline func() Checkpoint
	// Retained returns the output of a terminal without a log; nil: there is none.
	Retained func() (Retained, error)
	// Ended returns how the terminal has ended; nil: it runs. If the function itself is nil, the
	// log says so.
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

// ErrNotLogged says that a terminal has no log.
var ErrNotLogged = errors.New("history: the terminal's output is not in its log")

// errEnded says that a log became unreadable while it was read.
var errEnded = errors.New("history: the log has ended while it was read")

// Format decodes the payloads that the host has written into a log.
type Format interface {
	Checkpoint(payload []byte) (c Checkpoint, ok bool)
	// Event returns an action; nil: an unknown one. parsed: it was parsed from the output before
	// it, so parsing that output yields it again.
	Event(payload []byte) (a ahp.Action, parsed bool)
	Exit(payload []byte) *End // nil: it is none
}

// Checkpoint is a state from which the following records can be interpreted.
type Checkpoint struct {
	Cols, Rows int
	Commands   int                          // number of commands reported by the shell
	Running    *ahp.TerminalCommandExecuted // the command that runs; nil: none does
	Marks      string                       // restores a parser's state of shell integration
	Redraw     []byte                       // draws the screen on a blank screen of that size
}

// End is how a terminal has ended.
type End struct {
	At       time.Time
	ExitCode *int // nil: unknown
}

// Retained is the output that a host retains of a terminal without a log.
type Retained struct {
	State           ahp.TerminalState
	Truncated       bool // the beginning is gone
	Created, Exited time.Time
}

// Work schedules a long request, which is done in pieces.
type Work interface {
	// Step is called before each piece of work, which takes up to some milliseconds. It may block
	// until it is the request's turn. An error ends the work.
	Step() error
	// Rest ends the turn. It is called at the end.
	Rest()
}

// goesOn returns a function that calls Step and reports whether the work goes on.
func goesOn(w Work) func() bool { return func() bool { return w.Step() == nil } }
