package verbs

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"termhost/ahp/commandline"
	"termhost/ahp/host"
	"termhost/sshd/verbs/helptext"
)

// cut reports whether the peer's connection is being ended, or its streams have ended.
func (v *invocation) cut() bool { return v.ctx.Err() != nil || v.Conn.Context().Err() != nil }

// cutShort tells a peer whose connection the host ends, in one line, why, which of its terminals
// keep running, and the command that continues what it did. It returns the exit status.
func (v *invocation) cutShort(terminals ...*host.Terminal) int {
	why := v.ended()
	if why == nil {
		return StatusLost // the peer has gone
	}
	var running []string
	for _, t := range terminals {
		if _, exited := t.Exit(); !exited {
			running = append(running, v.shown(t.Name()))
		}
	}
	leaving, becomes := errors.Is(why, host.ErrLeaving), ""
	switch n := len(running); {
	case n == 1:
		becomes = "; " + running[0] + " goes on"
	case n > 1:
		becomes = "; " + strings.Join(running, ", ") + " go on"
	case leaving && len(terminals) == 0:
		becomes = "; its terminals go on"
	}
	if leaving {
		becomes += ": `" + v.again() + "`"
	}
	v.lastLine("[%s%s]", whyLost(why), becomes)
	return StatusLost
}

// cutOff is cutShort for a peer of another host, which has shown the terminal at; without a name,
// it has shown none.
func (v *invocation) cutOff(at stop) int {
	why := v.ended()
	if why == nil {
		return StatusLost
	}
	becomes, next := v.afterLoss(at.host)
	shown := host.Printable(at.host + "/" + at.name)
	leaving := errors.Is(why, host.ErrLeaving)
	switch {
	case at.name != "" && leaving:
		becomes, next = "; "+shown+" goes on", v.comeBack(shown)
	case at.name != "":
		becomes = "; " + shown + " goes on running"
	case !v.endsWithConnection():
		becomes = ""
	}
	if leaving {
		becomes += ": `" + next + "`"
	}
	v.lastLine("[%s%s]", whyLost(why), becomes)
	return StatusLost
}

// whyLost says why the host ends a connection, but not what happens to its terminals.
func whyLost(why error) string {
	if errors.Is(why, host.ErrLeaving) {
		return "the host restarts"
	}
	return host.Printable(why.Error())
}

// again returns the peer's command line, for the peer to repeat.
func (v *invocation) again() string {
	text := "ssh HOST " + v.verb.name
	if (v.verb.terminal || helptext.Looks(v.verb.name, v.words)) && v.onTerminal() {
		text = "ssh -t HOST " + v.verb.name
	}
	line := ""
	if v.Carried != "" {
		at := v.named()
		_, line, _ = strings.Cut(v.edited(func(i int, word string) string {
			if slices.Contains(at, i) {
				return commandline.Quote(v.shown(v.words[i]))
			}
			return word
		}), " ")
	} else if len(v.from) > 0 {
		line = v.from[0]
	}
	return v.told(strings.TrimSuffix(text+" "+host.Printable(line), " "))
}

// lastLine writes a line that a person sees, but no program that reads a stream.
func (v *invocation) lastLine(format string, args ...any) {
	fmt.Fprintf(v.stderr, format+"\n", args...)
}
