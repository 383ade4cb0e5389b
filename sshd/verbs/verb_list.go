package verbs

import (
	"flag"
	"fmt"

	"termhost/authz"
)

// defineList lists the terminals.
func defineList(fs *flag.FlagSet) func(*invocation) int {
	asJSON := fs.Bool("json", false, "print a JSON array")
	all := fs.Bool("all", false, "print whole lines, however wide the window is")
	return func(v *invocation) int { return v.list(*asJSON, *all) }
}

// wideTable is how many cells a line must have for an agent's session to be in the table besides
// its name: in fewer it would leave no room for the titles.
const wideTable = 120

func (v *invocation) list(asJSON, all bool) int {
	list, err := v.Host.List(v.principal())
	if err != nil {
		return v.failed(err)
	}
	if asJSON {
		return v.printJSON(list)
	}
	if len(list) == 0 {
		fmt.Fprintln(v.stderr, v.told("no terminals"+v.howToMakeOne()))
		return StatusOK
	}
	cols := v.Window().Cols // 0: it is no terminal
	if all {
		cols = 0
	}
	writeTable(v.stdout, v.Host.Table(list, cols == 0 || cols >= wideTable), cols)
	return StatusOK
}

// howToMakeOne says, behind what there is not, how to make a terminal; "": the peer may not.
func (v *invocation) howToMakeOne() string {
	if authz.Check(v.principal(), authz.Create, authz.Target{}) != nil {
		return ""
	}
	return "; `ssh HOST` makes one"
}
