package history

import (
	"fmt"
	"strings"
	"time"

	"termhost/ahp"
	"termhost/ptypool/vt"
)

// Kind says what an [Item] is.
type Kind string

// The kinds of items, in the words of `termhost/history`.
const (
	// Data is output, as viewers get it: without queries and marks of shell integration.
	Data Kind = "data"
	// Resized is a new size. The first item of a log is one.
	Resized Kind = "resized"
	// Began is the beginning of a command, Finished its end. The output in between is the
	// command's.
	Began    Kind = "command"
	Finished Kind = "finished"
	// Gap is missing output. The next item draws the screen as it is after the gap.
	Gap Kind = "gap"
	// Cleared is where somebody cleared the terminal. Only [Log.TextLines] has it: other readers
	// discard what is before it.
	Cleared Kind = "cleared"
	// Exited is the terminal's exit, and the last item.
	Exited Kind = "exited"
)

// Item is one entry of a terminal's history.
type Item struct {
	// At is the item's position in the log: how many bytes had been printed when its record was
	// made. It is the same after a restart of the host.
	At   int64
	Time time.Time
	Kind Kind

	Data       []byte   // Data; valid only during the call
	Cols, Rows int      // Resized
	Command    *Command // Began and Finished
	Missing    int64    // Gap: how many bytes
	Reason     string   // Gap: why
	ExitCode   *int     // Exited; nil: unknown
}

// Place is a place in a history: after the first Items of those at the position At. It stays valid
// while the terminal runs and after a restart of the host.
type Place struct {
	At    int64 `json:"at"`
	Items int   `json:"items"`
}

// behind reports whether p comes after o.
func (p Place) behind(o Place) bool { return p.At > o.At || p.At == o.At && p.Items > o.Items }

// next returns the place after an item at the position at, where p is the place before the item.
func (p Place) next(at int64) Place {
	if at != p.At {
		return Place{at, 1}
	}
	return Place{at, p.Items + 1}
}

// draw draws the item on a screen, and marks commands there: see [Shown.Commands].
func (i *Item) draw(screen *vt.Screen) {
	switch i.Kind {
	case Began:
		screen.Feed([]byte("\x1b]133;C\a"), nil)
	case Finished:
		screen.Feed([]byte("\x1b]133;D\a"), nil)
	case Data:
		screen.Feed(i.Data, nil)
	case Resized:
		screen.Resize(i.Cols, i.Rows)
	case Gap:
		screen.Feed(i.gapText(), nil)
	}
}

// gapText returns the line that is shown where output is missing. CAN ends a partial sequence.
func (i *Item) gapText() []byte {
	return fmt.Appendf(nil, "\x18\x1b[m\r\n%s\r\n", GapText(i.Missing, i.Reason))
}

// GapText returns a text for display that says that output is missing, why, and how many bytes (0:
// unknown).
func GapText(missing int64, why string) string {
	if missing <= 0 {
		return "[termhost: output is missing here: " + why + "]"
	}
	return fmt.Sprintf("[termhost: %d bytes are missing here: %s]", missing, why)
}

// Command is a command that a shell has run, as listings show it; its JSON is an element of
// `log --commands --json`.
type Command struct {
	Line       string    `json:"line"`      // as typed: it may have control characters
	By         string    `json:"by"`        // who typed it, or [ahp.Nobody]
	StartedAt  time.Time `json:"startedAt"` // in UTC
	DurationMs *int64    `json:"durationMs,omitempty"`
	ExitCode   *int      `json:"exitCode,omitempty"` // nil: unknown, or it runs
	Running    bool      `json:"-"`

	id string // AHP's
}

// NewCommand returns a command of a terminal's state as listings show it.
func NewCommand(c *ahp.Command) *Command {
	return &Command{
		id: c.ID, Line: c.Line, By: c.Who(), StartedAt: time.UnixMilli(c.Timestamp).UTC(),
		DurationMs: c.DurationMs, ExitCode: c.ExitCode, Running: !c.Complete,
	}
}

// LineText returns the command line for display, on one line.
func (c *Command) LineText() string {
	return vt.Printable(strings.ReplaceAll(c.Line, "\n", " "))
}

// wire returns the command as AHP's state has it.
func (c *Command) wire() *ahp.Command {
	return &ahp.Command{ID: c.id, Line: c.Line, By: c.By, Timestamp: c.StartedAt.UnixMilli(),
		Complete: !c.Running, ExitCode: c.ExitCode, DurationMs: c.DurationMs}
}
