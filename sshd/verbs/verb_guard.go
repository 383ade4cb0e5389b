package verbs

import (
	"flag"
	"fmt"
	"strings"
	"time"

	"termhost/ahp/host"
)

// defineGuard has what agents type wait for a person's approval, or no longer.
func defineGuard(*flag.FlagSet) func(*invocation) int { return (*invocation).guard }

func (v *invocation) guard() int {
	on := true
	if len(v.args) > 1 {
		if on = v.args[1] == "on"; !on && v.args[1] != "off" {
			return v.misused("say on or off, not %s", host.Printable(v.args[1]))
		}
	}
	t, err := v.find(v.args[0])
	if err == nil {
		err = v.Conn.SetGuard(t, on)
	}
	if err != nil {
		return v.failed(err)
	}
	fmt.Fprintf(v.stderr, "termhost: %s\n", guardText(t, on))
	return StatusOK
}

// defineAsks lists what agents want to type.
func defineAsks(fs *flag.FlagSet) func(*invocation) int {
	asJSON := fs.Bool("json", false, "print a JSON array")
	return func(v *invocation) int { return v.asks(*asJSON) }
}

func (v *invocation) asks(asJSON bool) int {
	list, err := v.Conn.Asks()
	switch {
	case err != nil:
		return v.failed(err)
	case asJSON:
		return v.printJSON(list)
	case len(list) == 0:
		fmt.Fprintln(v.stderr, "nothing is held")
		return StatusOK
	}
	rows := [][]string{{"NAME", "WHO", "AGE", "LINE", "TEXT"}}
	for _, k := range list {
		head := []string{k.Terminal, k.By, host.Age(time.Since(k.Since))}
		lines, _ := visible(k.Text)
		if k.Secret {
			lines = []string{"(a secret)"}
		}
		for i, text := range lines {
			rows = append(rows, append(head, fmt.Sprint(i+1), text))
			head = []string{"", "", ""}
		}
	}
	writeTable(v.stdout, rows, 0) // nothing is cut off
	return StatusOK
}

// defineApprove types what an agent wants to type.
func defineApprove(*flag.FlagSet) func(*invocation) int {
	return func(v *invocation) int { return v.decide(host.ApproveOnce, "typed for") }
}

// defineRefuse refuses it.
func defineRefuse(*flag.FlagSet) func(*invocation) int {
	return func(v *invocation) int { return v.decide(host.RefuseOnce, "refused") }
}

func (v *invocation) decide(d host.Decision, done string) int {
	t, err := v.find(v.args[0])
	if err != nil {
		return v.failed(err)
	}
	k, err := v.Conn.Decide(t, "", d, strings.Join(v.args[1:], " "))
	if err != nil {
		return v.failed(err)
	}
	lines, _ := visible(k.Text)
	text := strings.Join(lines, " ")
	if k.Secret {
		text = "(a secret)"
	}
	fmt.Fprintf(v.stderr, "termhost: %s %s: %s\n", done, k.By, text)
	return StatusOK
}
