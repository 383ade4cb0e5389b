package verbs

import (
	"errors"
	"fmt"

	"termhost/ahp/host"
	"termhost/authz"
	"termhost/ptypool"
	"termhost/sshd/viewer"
)

const seeHelp = "`ssh HOST help` lists the commands"

// misused reports a wrong command line.
func (v *invocation) misused(format string, args ...any) int {
	fmt.Fprintf(v.stderr, "termhost: error: "+v.told(format)+"\n", args...)
	if v.verb.name != "" {
		fmt.Fprintf(v.stderr, "hint: usage: %s\n", v.told(v.verb.described().Synopsis()))
	}
	return StatusUsage
}

// failed reports why a verb could not do what was asked, with a hint where there is one.
func (v *invocation) failed(err error) int {
	v.Conn.Denied(err)
	text := v.explain(v.asShown(err))
	fmt.Fprintf(v.stderr, "termhost: error: %s\n", v.told(host.Printable(text)))
	if hint := v.hintFor(err); hint != "" {
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

// asShown returns an error with NAMEs as the peer writes them: see [Caller.shown].
func (v *invocation) asShown(err error) error {
	var (
		missing *host.NotFoundError
		held    *host.HeldError
		exists  *host.ExistsError
		nobody  *host.NotWatchingError
		gone    *host.GoneError
		unseen  *host.UnseenError
	)
	switch {
	case v.Carried == "":
	case errors.As(err, &missing):
		shown := *missing
		shown.Name, shown.Candidates = v.shown(missing.Name), nil
		for _, name := range missing.Candidates {
			shown.Candidates = append(shown.Candidates, v.shown(name))
		}
		return &shown
	case errors.As(err, &held):
		shown := *held
		shown.Terminal = v.shown(held.Terminal)
		return &shown
	case errors.As(err, &exists):
		return &host.ExistsError{Name: v.shown(exists.Name)}
	case errors.As(err, &nobody):
		shown := *nobody
		shown.Terminal = v.shown(nobody.Terminal)
		return &shown
	case errors.As(err, &gone):
		shown := *gone
		shown.Terminal = v.shown(gone.Terminal)
		return &shown
	case errors.As(err, &unseen):
		return &host.UnseenError{Terminal: v.shown(unseen.Terminal)}
	}
	return err
}

// explain returns an error's text for people.
func (v *invocation) explain(err error) string { return viewer.Explain(err, v.prefix()) }

func (v *invocation) hintFor(err error) string {
	var (
		missing *host.NotFoundError
		exists  *host.ExistsError
		limit   *ptypool.LimitError
		denied  *authz.Denied
		held    *host.HeldError
		nobody  *host.NotWatchingError
		gone    *host.GoneError
	)
	switch {
	case errors.As(err, &held) && held.Denied.Verb != authz.Dispose:
		return "`" + v.command("attach", held.Terminal) + "` shows it"
	case errors.As(err, &missing) && len(missing.Candidates) > 0:
		return "write more of the name"
	case errors.As(err, &missing):
		return "`ssh HOST ls` lists the terminals"
	case errors.As(err, &gone) && gone.Newer:
		return "`ssh HOST asks` shows what is"
	case errors.As(err, &nobody):
		return "`" + v.command("who", nobody.Terminal) + "` lists who does"
	case errors.As(err, &exists):
		return "`" + v.command("attach", "NAME") + "` shows it"
	case errors.As(err, &denied) && denied.Verb == authz.Create:
		return "`ssh HOST ls` lists the terminals; `" + v.command("attach", "NAME") + "` shows one"
	case errors.As(err, &denied) && aboutTokens(denied.Verb):
		return tokenHint(v.principal())
	case errors.As(err, &limit):
		return "`" + v.command("rm", "NAME") + "` ends one"
	case errors.Is(err, host.ErrNoCommands) && v.verb.name == "log":
		return "bash, zsh and fish do if termhost starts them;" +
			" `" + v.command("log --tail N", "NAME") + "` prints the end of its log"
	case errors.Is(err, host.ErrNoCommands):
		return "wait with --match or --idle; `" + v.command("log --tail N", "NAME") +
			"` prints the end of its log"
	}
	return ""
}

// tokenHint says what a principal can do that is refused something about tokens: see the tables of
// package authz.
func tokenHint(p authz.Principal) string {
	switch {
	case p.Inside:
		return ""
	case p.Fingerprint == "" || p.Token != "":
		return "log in with ssh and a key of yours to make one; a program of the host's own user" +
			" needs none at the host's unix socket"
	case p.Role >= authz.Operator && !p.ReadOnly && p.Guest == "":
		return "`ssh HOST token` makes one with the role operator"
	}
	return "an agent of yours needs none: `ssh HOST -s ahp` gives it what your key may do"
}

func aboutTokens(v authz.Verb) bool {
	return v == authz.MintToken || v == authz.ListTokens || v == authz.RevokeToken
}
