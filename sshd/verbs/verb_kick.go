package verbs

import (
	"flag"
	"fmt"
)

// defineKick detaches somebody else from a terminal.
func defineKick(*flag.FlagSet) func(*invocation) int { return (*invocation).kick }

func (v *invocation) kick() int {
	t, err := v.find(v.args[0])
	if err != nil {
		return v.failed(err)
	}
	name, n, err := v.Conn.Kick(t, v.args[1])
	if err != nil {
		return v.failed(err)
	}
	fmt.Fprintf(v.stderr, "termhost: %s no longer watches %s (views ended: %d)\n",
		name, v.shown(t.Name()), n)
	return StatusOK
}
