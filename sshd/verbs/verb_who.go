package verbs

import (
	"flag"
	"fmt"
	"time"

	"termhost/ahp/host"
	"termhost/sshd/wording"
)

// defineWho lists a terminal's viewers, or all viewers with their terminals.
func defineWho(fs *flag.FlagSet) func(*invocation) int {
	asJSON := fs.Bool("json", false, "print a JSON array")
	return func(v *invocation) int {
		if len(v.args) == 0 {
			return v.whoAll(*asJSON)
		}
		return v.who(*asJSON)
	}
}

func (v *invocation) who(asJSON bool) int {
	t, err := v.find(v.args[0])
	if err != nil {
		return v.failed(err)
	}
	list, err := v.Conn.Viewers(t)
	switch {
	case err != nil:
		return v.failed(err)
	case asJSON && list == nil:
		return v.printJSON([]struct{}{})
	case asJSON:
		return v.printJSON(list)
	case len(list) == 0:
		fmt.Fprintf(v.stderr, "nobody watches %s\n", v.shown(t.Name()))
		return StatusOK
	}
	writeTable(v.stdout, viewers(list), v.Window().Cols)
	return StatusOK
}

// viewers returns the table of who watches: a row of column names, then one for each viewer.
func viewers(list []host.Viewer) [][]string {
	rows := [][]string{viewerColumns()}
	for _, v := range list {
		rows = append(rows, viewerRow(v))
	}
	return rows
}

// viewerColumns returns the names of the columns that viewerRow fills.
func viewerColumns() []string {
	return []string{"NAME", "ROLE", "HOW", "SINCE", "SIZE", "KEYBOARD"}
}

func viewerRow(v host.Viewer) []string {
	size, keyboard := "-", "-"
	if v.Cols > 0 {
		size = fmt.Sprintf("%dx%d", v.Cols, v.Rows)
	}
	switch {
	case v.Holds:
		keyboard = "holds it"
	case v.ReadOnly:
		keyboard = "read-only"
	}
	return []string{v.Name, v.Role, v.How, wording.Age(time.Since(v.Since)), size, keyboard}
}
