package sshd

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"termhost/ahp/host"
	"termhost/authz"
	"termhost/ptypool"
)

// command is one thing that `ssh host COMMAND` does.
type command struct {
	name  string
	usage string // what follows the name
	help  string // one line
	run   func(*invocation) int
}

// commands returns the table, in the order of `help`.
func commands() []command {
	return []command{
		{"help", "", "show this", runHelp},
		{"ls", "[--json]", "list the terminals", runList},
		{"new", "[-n NAME] [-C DIR] [-d] [-- CMD ARGS...]", "make a terminal and attach to it (-d: print its NAME instead)", runNew},
		{"attach", "[-r] [-A] [NAME]", "show a terminal: your last used, or NAME (-r: read-only, -A: make it if there is none)", runAttach},
		{"run", "[-n NAME] [-C DIR] [--] CMD ARGS...", "run a command in a terminal and exit with its status", runRun},
		{"share", "[-n NAME] [--cols N --rows N] [--raw]", "show standard input as a terminal that others watch (--raw: it is a terminal's own output)", runShare},
		{"log", "[--text|--raw|--json|--commands] NAME", "what a terminal has printed", runLog},
		{"peek", "[--ansi] NAME", "what a terminal's screen shows now", runPeek},
		{"send", "[--enter] [--key KEY]... NAME [TEXT...]", "type TEXT, then the KEYs (up, ctrl-c, alt-x, f5 ...), then with --enter Enter, into a terminal", runSend},
		{"wait", "[--match REGEX] [--idle D] [--command] [--timeout D] NAME", "wait for a line, a pause, a command or the end; exit with the status of what ended", runWait},
		{"rm", "NAME...", "end terminals and forget them", runRemove},
		{"token", "[--name NAME] [--role ROLE] [--ttl 8h] | --revoke NAME", "make a bearer token for AHP, or end one", runToken},
		{"tokens", "", "list your tokens", runTokens},
		{"whoami", "[--json]", "show who you are here", runWhoami},
	}
}

// Exit statuses of the door's own commands. Those of terminals are their own.
const (
	statusOK      = 0
	statusFailed  = 1
	statusUsage   = 2
	statusTimeout = 124 // as timeout(1)
	statusUnknown = 127 // as sh, for a command that does not exist
	statusLost    = 255 // as ssh itself, for a lost connection
)

// invocation is one run of a command.
type invocation struct {
	s   *sshSession
	cmd command
	line
	stdout io.Writer
	stderr io.Writer
}

// host and conn are shorthands.
func (v *invocation) host() *host.Host { return v.s.c.srv.cfg.Host }
func (v *invocation) conn() *host.Conn { return v.s.c.host }

func (v *invocation) principal() authz.Principal { return v.s.c.principal() }

// exec runs a command line.
func (s *sshSession) exec(text string) int {
	if p := s.c.principal(); p.Command != "" {
		return s.forced(text)
	}
	v := s.invoke()
	l, err := parseLine(text)
	if err != nil {
		return v.misused("%v", err)
	}
	if len(l.words) == 0 {
		return v.misused("name a command; %s", seeHelp)
	}
	name := l.words[0]
	l.words, l.from = l.words[1:], l.from[1:]
	v.line = l
	table := commands()
	i := slices.IndexFunc(table, func(c command) bool { return c.name == name })
	if i < 0 {
		return v.unknown(name, text)
	}
	v.cmd = table[i]
	return v.cmd.run(v)
}

// invoke returns an invocation whose streams suit the peer: with a pty its
// terminal is in raw mode.
func (s *sshSession) invoke() *invocation {
	v := &invocation{s: s, stdout: s.stdout, stderr: s.stderr}
	if s.pty != nil {
		v.stdout, v.stderr = toCRLF{v.stdout}, toCRLF{v.stderr}
	}
	return v
}

const seeHelp = "`ssh HOST help` lists the commands"

func (c command) synopsis() string { return strings.TrimSpace("ssh HOST " + c.name + " " + c.usage) }

// misused reports a wrong command line.
func (v *invocation) misused(format string, args ...any) int {
	fmt.Fprintf(v.stderr, "termhost: error: "+format+"\n", args...)
	if v.cmd.name != "" {
		fmt.Fprintf(v.stderr, "hint: usage: %s\n", v.cmd.synopsis())
	}
	return statusUsage
}

// failed reports why a command could not do what was asked, in the words of the
// person who asked, with a hint where there is one.
func (v *invocation) failed(err error) int {
	fmt.Fprintf(v.stderr, "termhost: error: %s\n", host.Printable(explain(err)))
	if hint := hintFor(err); hint != "" {
		fmt.Fprintf(v.stderr, "hint: %s\n", hint)
	}
	return statusFailed
}

// explain takes the package's name off an error.
func explain(err error) string {
	text := err.Error()
	for _, prefix := range []string{"ptypool: ", "keys: ", "authz: ", "host: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}

func hintFor(err error) string {
	var (
		missing *host.NotFoundError
		exists  *host.ExistsError
		limit   *ptypool.LimitError
		denied  *authz.Denied
	)
	switch {
	case errors.As(err, &missing) && len(missing.Candidates) > 0:
		return "write more of the name"
	case errors.As(err, &missing):
		return "`ssh HOST ls` lists the terminals"
	case errors.As(err, &exists):
		return "`ssh -t HOST attach NAME` shows it"
	case errors.As(err, &denied) && denied.Verb == authz.Create:
		return "`ssh HOST ls` lists the terminals; `ssh -t HOST attach NAME` shows one"
	case errors.As(err, &limit):
		return "`ssh HOST rm NAME` ends one"
	}
	return ""
}

// runHelp prints the commands.
func runHelp(v *invocation) int {
	if _, status, done := v.parse(v.flags(), 0, 0); done {
		return status
	}
	cfg := &v.s.c.srv.cfg
	fmt.Fprintf(v.stdout, "termhost %s: terminals that outlive the connection\n\n", host.Printable(cfg.Version))
	fmt.Fprint(v.stdout, "  ssh HOST\n      a new terminal with your shell, attached\n")
	for _, c := range commands() {
		shape := c.synopsis()
		if c.name == "attach" || c.name == "new" {
			shape = strings.Replace(shape, "ssh ", "ssh -t ", 1)
		}
		fmt.Fprintf(v.stdout, "  %s\n      %s\n", shape, c.help)
	}
	fmt.Fprint(v.stdout, "  ssh HOST -s ahp\n      the Agent Host Protocol, one JSON-RPC message per line\n")
	fmt.Fprint(v.stdout, "  ssh -N -L SOCKET:ahp:80 HOST\n      a local socket that is the HTTP and WebSocket door\n")
	if cfg.DetachPrefix != 0 {
		fmt.Fprintf(v.stdout, "\nWhile attached, %s and then ? shows the keys; then d detaches.\n", keyName(cfg.DetachPrefix))
	}
	return statusOK
}
