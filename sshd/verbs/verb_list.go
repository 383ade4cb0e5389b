package verbs

import (
	"flag"
	"fmt"
	"slices"

	"termhost/ahp/host"
	"termhost/authz"
)

// listFlags are the flags of `ls`.
type listFlags struct {
	json, wide               bool
	running, waiting, exited bool
}

// defineList lists the terminals.
func defineList(fs *flag.FlagSet) func(*invocation) int {
	var f listFlags
	fs.BoolVar(&f.json, "json", false, "print a JSON array")
	fs.BoolVar(&f.wide, "wide", false, "print whole lines, however wide the window is")
	fs.BoolVar(&f.wide, "all", false, "the same as --wide")
	fs.BoolVar(&f.running, "running", false, "only those whose program runs")
	fs.BoolVar(&f.waiting, "waiting", false, "only those that wait for somebody")
	fs.BoolVar(&f.exited, "exited", false, "only those that have exited")
	return func(v *invocation) int { return v.list(f) }
}

// leavesOut reports whether the flags leave out a terminal. Each state that they name is shown.
func (f listFlags) leavesOut(i host.Info) bool {
	if !f.running && !f.waiting && !f.exited {
		return false
	}
	runs := i.State == host.StateRunning
	return !(f.running && runs || f.waiting && i.Waiting != host.WaitingNone || f.exited && !runs)
}

// wideTable is the width from which on the table also shows an agent's session, beside its name: a
// narrower one would have no room for the titles.
const wideTable = 120

func (v *invocation) list(f listFlags) int {
	list, err := v.Conn.List()
	if err != nil {
		return v.failed(err)
	}
	all := len(list)
	list = slices.DeleteFunc(list, f.leavesOut)
	switch {
	case f.json:
		return v.printJSON(list)
	case all == 0:
		fmt.Fprintln(v.stderr, v.told("no terminals"+v.howToMakeOne()))
		return StatusOK
	case len(list) == 0:
		fmt.Fprintln(v.stderr, "no such terminals")
		return StatusOK
	}
	cols := v.Window().Cols // 0: it is no terminal
	if f.wide {
		cols = 0
	}
	table := terminals(list, cols == 0 || cols >= wideTable)
	writeTable(v.stdout, fitted(table, cols), 0)
	return StatusOK
}

// howToMakeOne says how to make a terminal, after a message that there is none; "": the peer may
// not.
func (v *invocation) howToMakeOne() string {
	if authz.Check(v.principal(), authz.Create, authz.Target{}) != nil {
		return ""
	}
	return "; `ssh HOST` makes one"
}
