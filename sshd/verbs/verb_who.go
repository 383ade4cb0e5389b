package verbs

import (
	"flag"
	"fmt"
)

// defineWho lists who watches a terminal.
func defineWho(fs *flag.FlagSet) func(*invocation) int {
	asJSON := fs.Bool("json", false, "print a JSON array")
	return func(v *invocation) int { return v.who(*asJSON) }
}

func (v *invocation) who(asJSON bool) int {
	t, err := v.find(v.args[0])
	if err != nil {
		return v.failed(err)
	}
	list, err := v.Host.Viewers(v.principal(), t)
	switch {
	case err != nil:
		return v.failed(err)
	case asJSON && list == nil:
		return v.printJSON([]struct{}{})
	case asJSON:
		return v.printJSON(list)
	case len(list) == 0:
		fmt.Fprintf(v.stderr, "nobody watches %s\n", t.Name())
		return StatusOK
	}
	writeTable(v.stdout, v.Host.ViewerTable(list), v.Window().Cols)
	return StatusOK
}
