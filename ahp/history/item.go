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
	// Resized is a new size. It is the first item, too.
	Resized Kind = "resized"
	// Began is the begin of a command, Finished its end. What is printed in between is the
	// command's.
	Began    Kind = "command"
	Finished Kind = "finished"
	// Gap says that output is missing. What follows draws the screen as it is after the gap.
	Gap Kind = "gap"
	// Exited is the end of the terminal. Nothing follows.
	Exited Kind = "exited"
)

// Item is something that a terminal's log holds.
type Item struct {
	// At is where in the log the item is: how many bytes had been printed when the record that it
	// comes from was made. It stays the same when the host is restarted.
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

// Place is a place in a history: behind the first Items of the items at the position At. It stays
// the same when the terminal goes on and when the host is restarted.
type Place struct {
	At    int64 `json:"at"`
	Items int   `json:"items"`
}

// behind reports whether p comes behind o.
func (p Place) behind(o Place) bool { return p.At > o.At || p.At == o.At && p.Items > o.Items }

// next returns the place behind an item at a position that comes at p.
func (p Place) next(at int64) Place {
	if at != p.At {
		return Place{at, 1}
	}
	return Place{at, p.Items + 1}
}

// draw draws the item on a screen.
func (i *Item) draw(screen *vt.Screen) {
	switch i.Kind {
	case Data:
		screen.Feed(i.Data, nil)
	case Resized:
		screen.Resize(i.Cols, i.Rows)
	case Gap:
		screen.Feed(i.gapText(), nil)
	}
}

// gapText is what is shown where output is missing. CAN ends whatever sequence was begun.
func (i *Item) gapText() []byte {
	return fmt.Appendf(nil, "\x18\x1b[m\r\n%s\r\n", GapText(i.Missing, i.Reason))
}

// GapText says where output is missing how many bytes of it are, if that is known, and why.
func GapText(missing int64, why string) string {
	if missing <= 0 {
		return "[termhost: output is missing here: " + why + "]"
	}
	return fmt.Sprintf("[termhost: %d bytes are missing here: %s]", missing, why)
}

// Command is a command that a shell has run, as listings show it; its JSON is an element of
// `log --commands --json`.
type Command struct {
	Line       string    `json:"line"`      // as it was typed, so it may have control characters
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

// LineText returns the line for people, on one line.
func (c *Command) LineText() string {
	return vt.Printable(strings.ReplaceAll(c.Line, "\n", " "))
}

// wire returns the command as AHP's state has it.
func (c *Command) wire() *ahp.Command {
	return &ahp.Command{ID: c.id, Line: c.Line, By: c.By, Timestamp: c.StartedAt.UnixMilli(),
		Complete: !c.Running, ExitCode: c.ExitCode, DurationMs: c.DurationMs}
}
