package verbs

import (
	"flag"
	"fmt"
	"regexp"
	"strings"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/sshd/viewer"
	"termhost/sshd/wording"
)

// defineGuard turns the guard on or off: whether what agents type waits for a person's approval.
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
	fmt.Fprintf(v.stderr, "termhost: %s\n", viewer.GuardText(v.shown(t.Name()), on))
	return StatusOK
}

// defineAsks lists what agents want to type.
func defineAsks(fs *flag.FlagSet) func(*invocation) int {
	asJSON := fs.Bool("json", false, "print a JSON array")
	return func(v *invocation) int { return v.asks(*asJSON) }
}

func (v *invocation) asks(asJSON bool) int {
	only, err := v.findAll(v.args)
	if err != nil {
		return v.failed(err)
	}
	list, err := v.Conn.Asks(only...)
	if err != nil {
		return v.failed(err)
	}
	unread := v.Conn.UnreadableAsks(only...)
	if len(unread) > 0 {
		fmt.Fprintf(v.stderr, "agents want to type something in %s that you may not read\n",
			strings.Join(unread, ", "))
	}
	switch {
	case asJSON:
		return v.printJSON(heldItems(v.Caller, list))
	case len(list) == 0 && len(unread) == 0:
		fmt.Fprintln(v.stderr, "nothing is waiting for an answer")
		return StatusOK
	case len(list) == 0:
		return StatusOK
	}
	rows := [][]string{{"NAME", "ASK", "WHO", "AGE", "DOES", "LINE", "TEXT"}}
	for _, k := range list {
		does := k.DoesText()
		if k.Warning != "" {
			does += "; " + k.Warning
		}
		head := []string{v.shown(k.Terminal), k.Ask, k.By, wording.Age(time.Since(k.Since)), does}
		for i, text := range plainLines(k) {
			rows = append(rows, append(head, fmt.Sprint(i+1), text))
			head = []string{"", "", "", "", ""}
		}
	}
	writeTable(v.stdout, rows, 0) // nothing is cut
	return StatusOK
}

// defineApprove approves what an agent wants to type.
func defineApprove(*flag.FlagSet) func(*invocation) int {
	return func(v *invocation) int { return v.decide(host.ApproveOnce) }
}

// defineRefuse refuses it.
func defineRefuse(*flag.FlagSet) func(*invocation) int {
	return func(v *invocation) int { return v.decide(host.RefuseOnce) }
}

// askName matches the name of an ask. Another word with @ is a mistake, not a reason.
var askName = regexp.MustCompile(`^@[0-9]+$`)

func (v *invocation) decide(d host.Decision) int {
	name, reason := v.args[0], v.args[1:]
	ask := ""
	if len(reason) > 0 && askName.MatchString(reason[0]) {
		ask, reason = reason[0], reason[1:]
	}
	typo := ask == "" && len(reason) > 0 && strings.HasPrefix(reason[0], "@")
	if typo || d != host.RefuseOnce && len(reason) > 0 {
		return v.misused("an ask is called @N, as `asks` prints it, not %s",
			host.Printable(reason[0]))
	}
	t, err := v.find(name)
	if err != nil {
		return v.failed(err)
	}
	k, err := v.Conn.Decide(t, nil, ask, d, strings.Join(reason, " "))
	if err != nil {
		return v.failed(err)
	}
	done, then := "typed for", ""
	switch {
	case d == host.RefuseOnce:
		done = "refused"
	case k.Does == ahp.AskStarts:
		done = "started for"
	default:
		// The host has its memory for it: nobody is told that it is typed before it is.
		if n, err := t.Ahead(v.ctx); err != nil {
			return v.failed(fmt.Errorf("what %s was let type is dropped where the program had "+
				"not read it: %w", k.By, err))
		} else if n > 0 {
			done, then = "approved for", ", typed when the program reads"
		}
	}
	fmt.Fprintf(v.stderr, "termhost: %s %s%s: %s\n", done, k.By, then,
		strings.Join(plainLines(k), " "))
	return StatusOK
}
