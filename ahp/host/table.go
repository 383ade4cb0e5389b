package host

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Cell is what stands in a cell of a table for people. Where that is too narrow, End stays.
type Cell struct{ Text, End string }

func (c Cell) String() string { return c.Text + c.End }

// The columns of [Host.Table].
const (
	ColumnName = iota
	ColumnState
	ColumnClaim
	ColumnSize
	ColumnExecutor
	ColumnViewers
	ColumnAge
	ColumnLast
	ColumnTitle
)

// Table returns the listing for people: a row of column names, then one for each terminal. Those
// that want the one who asks come first, then those that run, then those that have exited. wide has
// room for the URIs of agent sessions.
func (h *Host) Table(list []Info, wide bool) [][]Cell {
	now := h.now()
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Info) int { return a.rank() - b.rank() })
	rows := make([][]Cell, 1, 1+len(list))
	rows[0] = []Cell{ColumnName: {Text: "NAME"}, ColumnState: {Text: "STATE"},
		ColumnClaim: {Text: "CLAIM"}, ColumnSize: {Text: "SIZE"},
		ColumnExecutor: {Text: "EXECUTOR"}, ColumnViewers: {Text: "VIEWERS"},
		ColumnAge: {Text: "AGE"}, ColumnLast: {Text: "LAST"}, ColumnTitle: {Text: "TITLE"}}
	for _, i := range list {
		state := Cell{Text: i.StateText()}
		if i.WantsYou {
			state.End = " !"
		}
		rows = append(rows, []Cell{
			ColumnName:     {Text: i.Name},
			ColumnState:    state,
			ColumnClaim:    {Text: i.HolderText(wide)},
			ColumnSize:     {Text: fmt.Sprintf("%dx%d", i.Cols, i.Rows)},
			ColumnExecutor: {Text: i.Executor},
			ColumnViewers:  {Text: strconv.Itoa(i.Viewers)},
			ColumnAge:      {Text: Age(now.Sub(i.CreatedAt))},
			ColumnLast:     i.lastCell(now),
			ColumnTitle:    {Text: i.TitleText()},
		})
	}
	return rows
}

// rank is where a terminal stands in the table: the lower, the earlier.
func (i Info) rank() int {
	switch {
	case i.WantsYou:
		return 0
	case i.State == StateRunning:
		return 1
	}
	return 2
}

// StateText returns the state for people: "running", "waits" or "waits: secret" where a person has
// to do something, and of an exited terminal its exit code: "exited 1", or "exited ?". What else
// holds stands behind it: "running (disk full, recorded, guarded)", "exited 1 (log damaged)".
func (i Info) StateText() string {
	text := i.State
	var is []string
	if i.LogDamaged {
		is = append(is, damagedLog)
	}
	switch {
	case i.State == StateExited:
		text += " " + codeText(i.ExitCode)
		i.NotKept, i.Recording, i.Guarded = "", false, false
	case i.Waiting == WaitingInput:
		text = "waits"
	case i.Waiting != WaitingNone:
		text = "waits: " + string(i.Waiting)
	}
	if i.NotKept != "" {
		is = append(is, i.NotKept)
	}
	if !i.AwaySince.IsZero() {
		is = append(is, "away since "+ClockText(i.AwaySince))
	}
	if i.Quiet {
		is = append(is, "quiet")
	}
	if len(i.AskedBy) > 0 {
		is = append(is, i.AskedBy[0]+" asks for the keyboard")
	}
	if i.Recording {
		is = append(is, "recorded")
	}
	if i.Guarded {
		is = append(is, "guarded")
	}
	if len(is) > 0 {
		text += " (" + strings.Join(is, ", ") + ")"
	}
	return text
}

// ClockText shows a time of the last day, by the host's clock.
func ClockText(at time.Time) string { return at.Local().Format("15:04:05") }

// codeText shows an exit code.
func codeText(code *int) string {
	if code == nil {
		return "?"
	}
	return strconv.Itoa(*code)
}

// lastCell returns the last command, and at the end how it went: "make ok", "make failed 2", and
// while it runs for how long, "make 41s". Without shell integration nothing is known: "-".
func (i Info) lastCell(now time.Time) Cell {
	c := i.LastCommand
	if c == nil {
		return Cell{Text: "-"}
	}
	end := ""
	switch {
	case c.Running && i.State == StateRunning:
		end = " " + Age(now.Sub(c.StartedAt))
	case c.ExitCode == nil && i.State == StateExited: // what it was is the terminal's own status
	case c.ExitCode == nil:
		end = " ?"
	case *c.ExitCode == 0:
		end = " ok"
	default:
		end = " failed " + codeText(c.ExitCode)
	}
	return Cell{c.LineText(), end}
}

// TitleText returns the title, and why the terminal ended if its program did not exit by itself.
func (i Info) TitleText() string {
	if i.State == StateExited && i.Ended != "" {
		return i.Title + " (ended " + i.Ended + ")"
	}
	return i.Title
}

// AboutText returns the title with the last command where the title does not name it.
func (i Info) AboutText() string {
	text := i.TitleText()
	if i.LastCommand != nil {
		if line := i.LastCommand.LineText(); line != "" && line != i.Title {
			text += ": " + line
		}
	}
	return text
}
