// Package listing lays out lists of terminals: the columns of `ls`, of `top` and of the list behind
// the prefix key, and what of them fits into a window. It decides nothing and prints nothing.
package listing

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"termhost/ahp/host"
	"termhost/sshd/wording"
)

// Cell is what stands in a cell of a list. Where that is too narrow, Extra goes first, and End
// stays.
type Cell struct{ Text, End, Extra string }

func (c Cell) String() string { return c.Text + c.End + c.Extra }

// The columns of a list. One whose cells are all empty is left out.
const (
	Name = iota
	State
	Claim
	Size
	Executor
	Viewers
	Age
	Last
	Quiet // since when nothing was printed; for lists that are live
	Labels
	Folder
	Title
)

// Head returns the row of column names.
func Head() []Cell {
	return []Cell{Name: {Text: "NAME"}, State: {Text: "STATE"}, Claim: {Text: "CLAIM"},
		Size: {Text: "SIZE"}, Executor: {Text: "EXECUTOR"}, Viewers: {Text: "VIEWERS"},
		Age: {Text: "AGE"}, Last: {Text: "LAST"}, Quiet: {Text: "QUIET"},
		Labels: {Text: "LABELS"}, Folder: {Text: "FOLDER"}, Title: {Text: "TITLE"}}
}

// Row returns a terminal's row, without Quiet. wide has room for the URIs of agent sessions.
func Row(i host.Info, wide bool) []Cell {
	state := Cell{Text: wording.State(i)}
	if i.WantsYou {
		state.End = " !"
	}
	return []Cell{
		Name:     {Text: i.Name},
		State:    state,
		Claim:    {Text: wording.Holder(i, wide)},
		Size:     {Text: fmt.Sprintf("%dx%d", i.Cols, i.Rows)},
		Executor: {Text: i.Executor},
		Viewers:  {Text: strconv.Itoa(i.Viewers)},
		Age:      {Text: wording.Age(time.Since(i.CreatedAt))},
		Last:     last(i),
		Quiet:    {},
		Labels:   {Text: i.Labels.String()},
		Folder:   folder(i),
		Title:    {Text: wording.Title(i)},
	}
}

// folder returns the working directory, whose own name stays where there is little room.
func folder(i host.Info) Cell {
	path := wording.Folder(i)
	at := max(strings.LastIndexByte(path, '/'), 0)
	return Cell{Text: path[:at], End: path[at:]}
}

// Table returns the list of terminals: the row of column names, then one for each terminal, in the
// order of Compare.
func Table(list []host.Info, wide bool) [][]Cell {
	list = slices.Clone(list)
	slices.SortStableFunc(list, Compare)
	rows := make([][]Cell, 1, 1+len(list))
	rows[0] = Head()
	for _, i := range list {
		rows = append(rows, Row(i, wide))
	}
	return rows
}

// Compare is the order of all lists of terminals; the page has the same. They stand by Rank and
// then by groups, first those without one. Equal ones stay in the order in which they were made,
// and so do those that want the one who asks.
func Compare(a, b host.Info) int {
	if d := Rank(a) - Rank(b); d != 0 || a.WantsYou {
		return d
	}
	return strings.Compare(a.Group, b.Group)
}

// Rank is where a terminal stands in the list: the lower, the earlier. Those that want the one who
// asks come first, then those that run, then those that have exited.
func Rank(i host.Info) int {
	switch {
	case i.WantsYou:
		return 0
	case i.State == host.StateRunning:
		return 1
	}
	return 2
}

// last returns the last command, and at the end how it went and how long it took, from a second on:
// "make ok 41s", "make failed 2"; while it runs for how long, "make 41s". Where no shell tells of
// any, it is the terminal's program, or "-".
func last(i host.Info) Cell {
	c := i.LastCommand
	if c == nil {
		return Cell{Text: cmp.Or(i.Program, "-")}
	}
	cell := Cell{Text: c.LineText()}
	switch {
	case c.Running && i.State == host.StateRunning:
		cell.End = " " + wording.Age(time.Since(c.StartedAt))
		return cell
	case c.ExitCode == nil && i.State == host.StateExited: // the terminal's own status tells
	case c.ExitCode == nil:
		cell.End = " ?"
	case *c.ExitCode == 0:
		cell.End = " ok"
	default:
		cell.End = " failed " + wording.ExitCode(c.ExitCode)
	}
	if ms := c.DurationMs; !c.Running && ms != nil && *ms >= time.Second.Milliseconds() {
		cell.Extra = " " + wording.Age(time.Duration(*ms)*time.Millisecond)
	}
	return cell
}
