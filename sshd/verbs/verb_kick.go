package verbs

import (
	"flag"
	"fmt"

	"termhost/ahp/host"
)

// defineKick ends what somebody else sees of a terminal.
func defineKick(*flag.FlagSet) func(*invocation) int { return (*invocation).kick }

func (v *invocation) kick() int {
	t, err := v.find(v.args[0])
	if err != nil {
		return v.failed(err)
	}
	n, err := v.Host.Kick(v.principal(), t, v.args[1])
	if err != nil {
		return v.failed(err)
	}
	fmt.Fprintf(v.stderr, "termhost: %s watches %s no more (views ended: %d)\n",
		host.Printable(v.args[1]), t.Name(), n)
	return StatusOK
}
