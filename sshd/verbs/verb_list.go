package verbs

import (
	"flag"
	"fmt"
	"slices"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/authz"
)

// listFlags are the flags of `ls`.
type listFlags struct {
	json, wide               bool
	running, waiting, exited bool
	labels                   ahp.Selector
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
	selectorFlag(fs, &f.labels)
	return func(v *invocation) int { return v.list(f) }
}

// leavesOut reports whether the flags leave out a terminal. Each state that they name is shown.
func (f listFlags) leavesOut(i host.Info) bool {
	if !f.labels.Selects(i.Labels) {
		return true
	}
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
	if v.fleet() == nil {
		if status, done := v.counted(v.args, 0, 0); done {
			return status
		}
	}
	list, notes, err := v.listOn(v.args)
	if err != nil {
		return v.failed(err)
	}
	all := len(list)
	list = slices.DeleteFunc(list, func(i listed) bool { return f.leavesOut(i.Info) })
	if v.Conn.NotesDamaged() {
		notes = append(notes, "what the last host knew of its clients could not all be read:"+
			" its log says why")
	}
	defer func() {
		for _, note := range notes {
			fmt.Fprintln(v.stderr, note)
		}
	}()
	switch {
	case f.json:
		for i := range list {
			if list[i].raw == nil { // it is this host's
				list[i].Usage = v.Conn.Usage(list[i].URI)
			}
		}
		return v.printJSON(list)
	case len(list) == 0 && len(notes) > 0: // which say what nobody knows
		return StatusOK
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
	writeTable(v.stdout, hostColumn(list, cols == 0 || cols >= wideTable, cols), 0)
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
