package verbs

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"termhost/ahp/host"
	"termhost/sshd/wording"
)

// cell is what stands in a cell of the list of terminals. Where that is too narrow, end stays.
type cell struct{ text, end string }

func (c cell) String() string { return c.text + c.end }

// The columns of [terminals].
const (
	columnName = iota
	columnState
	columnClaim
	columnSize
	columnExecutor
	columnViewers
	columnAge
	columnLast
	columnTitle
)

// terminals returns the list of terminals: a row of column names, then one for each terminal. Those
// that want the one who asks come first, then those that run, then those that have exited. wide has
// room for the URIs of agent sessions.
func terminals(list []host.Info, wide bool) [][]cell {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b host.Info) int { return rank(a) - rank(b) })
	rows := make([][]cell, 1, 1+len(list))
	rows[0] = []cell{columnName: {text: "NAME"}, columnState: {text: "STATE"},
		columnClaim: {text: "CLAIM"}, columnSize: {text: "SIZE"},
		columnExecutor: {text: "EXECUTOR"}, columnViewers: {text: "VIEWERS"},
		columnAge: {text: "AGE"}, columnLast: {text: "LAST"}, columnTitle: {text: "TITLE"}}
	for _, i := range list {
		state := cell{text: wording.State(i)}
		if i.WantsYou {
			state.end = " !"
		}
		rows = append(rows, []cell{
			columnName:     {text: i.Name},
			columnState:    state,
			columnClaim:    {text: wording.Holder(i, wide)},
			columnSize:     {text: fmt.Sprintf("%dx%d", i.Cols, i.Rows)},
			columnExecutor: {text: i.Executor},
			columnViewers:  {text: strconv.Itoa(i.Viewers)},
			columnAge:      {text: wording.Age(time.Since(i.CreatedAt))},
			columnLast:     lastCell(i),
			columnTitle:    {text: wording.Title(i)},
		})
	}
	return rows
}

// rank is where a terminal stands in the list: the lower, the earlier.
func rank(i host.Info) int {
	switch {
	case i.WantsYou:
		return 0
	case i.State == host.StateRunning:
		return 1
	}
	return 2
}

// lastCell returns the last command, and at the end how it went: "make ok", "make failed 2", and
// while it runs for how long, "make 41s". Without shell integration nothing is known: "-".
func lastCell(i host.Info) cell {
	c := i.LastCommand
	if c == nil {
		return cell{text: "-"}
	}
	end := ""
	switch {
	case c.Running && i.State == host.StateRunning:
		end = " " + wording.Age(time.Since(c.StartedAt))
	case c.ExitCode == nil && i.State == host.StateExited: // the terminal's own status tells
	case c.ExitCode == nil:
		end = " ?"
	case *c.ExitCode == 0:
		end = " ok"
	default:
		end = " failed " + wording.ExitCode(c.ExitCode)
	}
	return cell{c.LineText(), end}
}
