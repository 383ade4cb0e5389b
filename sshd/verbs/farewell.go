package verbs

import (
	"errors"
	"fmt"
	"strings"

	"termhost/ahp/host"
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
			running = append(running, t.Name())
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
	if len(v.from) > 0 {
		text += " " + host.Printable(v.from[0])
	}
	return v.told(text)
}

// lastLine writes a line that a person sees, but no program that reads a stream.
func (v *invocation) lastLine(format string, args ...any) {
	fmt.Fprintf(v.stderr, format+"\n", args...)
}
