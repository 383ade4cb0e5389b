package verbs

import (
	"flag"
	"fmt"
)

// defineRename gives a terminal another NAME.
func defineRename(*flag.FlagSet) func(*invocation) int { return (*invocation).rename }

func (v *invocation) rename() int {
	t, err := v.find(v.args[0])
	if err != nil {
		return v.failed(err)
	}
	was, err := v.Conn.GiveName(t, v.args[1])
	if err != nil {
		return v.failed(err)
	}
	if was == t.Name() {
		fmt.Fprintf(v.stderr, "termhost: it is called %s already\n", was)
		return StatusOK
	}
	fmt.Fprintf(v.stderr, "termhost: %s is called %s now\n", was, t.Name())
	return StatusOK
}
