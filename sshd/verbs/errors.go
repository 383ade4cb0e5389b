package verbs

import (
	"errors"
	"fmt"
	"strings"

	"termhost/ahp/host"
	"termhost/authz"
	"termhost/ptypool"
	"termhost/ptypool/keyboard"
)

const seeHelp = "`ssh HOST help` lists the commands"

// misused reports a wrong command line.
func (v *invocation) misused(format string, args ...any) int {
	fmt.Fprintf(v.stderr, "termhost: error: "+v.told(format)+"\n", args...)
	if v.verb.name != "" {
		fmt.Fprintf(v.stderr, "hint: usage: %s\n", v.told(v.verb.synopsis()))
	}
	return StatusUsage
}

// failed reports why a verb could not do what was asked, with a hint where there is one.
func (v *invocation) failed(err error) int {
	fmt.Fprintf(v.stderr, "termhost: error: %s\n", v.told(host.Printable(v.explain(err))))
	if hint := hintFor(err); hint != "" {
		fmt.Fprintf(v.stderr, "hint: %s\n", v.told(hint))
	}
	return StatusFailed
}

// notStarted reports why a terminal was not created, with the status that a shell has for it.
func (v *invocation) notStarted(err error) int {
	status := v.failed(err)
	switch {
	case errors.Is(err, ptypool.ErrNotFound):
		return StatusUnknown
	case errors.Is(err, ptypool.ErrNotExecutable):
		return StatusNotExecutable
	}
	return status
}

// explain returns an error in the words for people: a refusal says who holds the terminal and what
// to do, and no error names a package.
func (r *Runner) explain(err error) string {
	var held *host.HeldError
	switch {
	case !errors.As(err, &held):
	case held.Agent || held.Denied.Verb == authz.Dispose || r.Prefix == 0:
		return held.Error()
	default:
		return fmt.Sprintf("%s holds %s; ask with %s, or an admin can take it",
			held.Holder, held.Terminal, r.key('a'))
	}
	text := err.Error()
	for _, prefix := range []string{"ptypool: ", "keys: ", "authz: ", "host: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}

// key names what is typed while attached for the key after the prefix.
func (r *Runner) key(k rune) string { return keyboard.ControlName(r.Prefix) + " " + string(k) }

func hintFor(err error) string {
	var (
		missing *host.NotFoundError
		exists  *host.ExistsError
		limit   *ptypool.LimitError
		denied  *authz.Denied
		held    *host.HeldError
		nobody  *host.NotWatchingError
	)
	switch {
	case errors.As(err, &held) && held.Denied.Verb != authz.Dispose:
		return "`ssh -t HOST attach " + dashesBefore(held.Terminal) + "` shows it"
	case errors.As(err, &missing) && len(missing.Candidates) > 0:
		return "write more of the name"
	case errors.As(err, &missing):
		return "`ssh HOST ls` lists the terminals"
	case errors.As(err, &nobody):
		return "`ssh HOST who " + nobody.Terminal + "` lists who does"
	case errors.As(err, &exists):
		return "`ssh -t HOST attach NAME` shows it"
	case errors.As(err, &denied) && denied.Verb == authz.Create:
		return "`ssh HOST ls` lists the terminals; `ssh -t HOST attach NAME` shows one"
	case errors.As(err, &denied) && aboutTokens(denied.Verb):
		return "log in with ssh and a key of yours to make one; a program of the host's own user" +
			" needs none at the host's unix socket"
	case errors.As(err, &limit):
		return "`ssh HOST rm NAME` ends one"
	case errors.Is(err, host.ErrNoCommands):
		return "wait with --match or --idle"
	}
	return ""
}

func aboutTokens(v authz.Verb) bool {
	return v == authz.MintToken || v == authz.ListTokens || v == authz.RevokeToken
}
