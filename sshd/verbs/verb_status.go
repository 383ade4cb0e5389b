package verbs

import (
	"flag"
	"fmt"
	"strings"

	"termhost/ahp/host"
)

// defineStatus says how a terminal's program stands, or prints what it has said.
func defineStatus(*flag.FlagSet) func(*invocation) int { return (*invocation).status }

func (v *invocation) status() int {
	t, err := v.find(v.args[0])
	if err != nil {
		return v.failed(err)
	}
	if len(v.args) == 1 {
		if s := t.Info(v.principal()).Status; s.State != host.StatusNone {
			fmt.Fprintln(v.stdout, strings.TrimSpace(string(s.State)+" "+s.Text))
		}
		return StatusOK
	}
	state, text := host.State(v.args[1]), strings.Join(v.args[2:], " ")
	if err := v.Conn.SetStatus(t, state, text); err != nil {
		return v.failed(err)
	}
	return StatusOK
}
