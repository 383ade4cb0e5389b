package verbs

import (
	"errors"
	"fmt"
	"slices"

	"termhost/ahp/host"
)

// LostError says that another host, or the connection to it, was lost before what ran there ended.
type LostError struct {
	Host string
	Why  error
	// Told: the host has said what becomes of its terminals, before it ended itself.
	Told bool
}

// Error implements error.
func (e *LostError) Error() string { return e.Host + ": " + e.Why.Error() }

// Unwrap returns why it was lost.
func (e *LostError) Unwrap() error { return e.Why }

// LeftError says that a person has not waited for another host, which is silent or has gone.
type LeftError struct{ Why error }

// Error implements error.
func (e *LeftError) Error() string { return e.Why.Error() }

// left tells a person who has left a terminal of another host how to come back.
func (v *invocation) left(why *LeftError, at stop) int {
	becomes := ""
	if at.name != "" {
		shown := host.Printable(at.host + "/" + at.name)
		becomes = fmt.Sprintf("; %s goes on unless its machine has stopped; `%s` comes back", shown,
			v.comeBack(shown))
	}
	v.lastLine("[left: %s%s]", host.Printable(why.Error()), becomes)
	return StatusLost
}

// RefusedError says that another host does not let a person in.
type RefusedError struct{ Host, Why string }

// Error implements error.
func (e *RefusedError) Error() string { return e.Host + " refuses: " + e.Why }

// failedThere reports an error of what was to run on another host, and returns the exit status. A
// host that was lost is told as this one tells that it restarts: see cutShort.
func (v *invocation) failedThere(err error) int {
	var lost *LostError
	if !errors.As(err, &lost) {
		return v.failed(err)
	}
	becomes, next := v.afterLoss(lost.Host)
	if lost.Told {
		becomes = ""
	}
	if !v.stillHas(lost.Host) {
		v.lastLine("[%s%s: log in to %s itself]", host.Printable(err.Error()), becomes, lost.Host)
		return StatusLost
	}
	v.lastLine("[%s%s: `%s`]", host.Printable(err.Error()), becomes, next)
	return StatusLost
}

// stillHas reports whether a host is in this one's fleet now.
func (v *invocation) stillHas(host string) bool {
	f := v.Fleet()
	return f != nil && slices.ContainsFunc(f.Hosts(),
		func(h FleetHost) bool { return h.Name == host })
}

// afterLoss returns, for a host that was lost, the fate of the verb's object there and the command
// that goes on. A verb that has perhaps been carried out there is not to be repeated.
func (v *invocation) afterLoss(on string) (becomes, next string) {
	becomes = "; its terminals go on unless its machine has stopped"
	next = v.told("ssh HOST ls " + on)
	switch v.verb.name {
	case "asks", "attach", "events", "grep", "log", "peek", "replay", "wait", "who":
		next = v.again()
	}
	if v.endsWithConnection() {
		becomes = "; its command ends with the connection, as without --keep"
	}
	return becomes, next
}

// endsWithConnection reports whether the verb runs a command that does.
func (v *invocation) endsWithConnection() bool {
	return v.verb.name == "run" && v.fs.Lookup("keep").Value.String() != "true" && !v.onTerminal()
}
