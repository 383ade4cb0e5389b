package verbs

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"

	"termhost/ahp/host"
	"termhost/authz"
	"termhost/keys"
	"termhost/ptypool"
	"termhost/sshd/viewer"
)

// Runner runs verbs. Its fields are set before its first use; its methods may be called
// concurrently.
type Runner struct {
	// Prefix is the control character that begins a command while attached; 0: there are no
	// commands.
	Prefix byte
	// Quiet reports whether viewers are not told that other terminals need attention; nil: they
	// are, on the screen and by a notification.
	Quiet func() bool
	// Status reports whether viewers have a status line unless their person has chosen; nil: they
	// have none.
	Status func() bool
	// Version is termhost's own, for `help`.
	Version string
	// Address returns where the host listens for SSH, "host:port"; nil: it is not known.
	Address func() string
	// HostKey returns the fingerprint of the host key that clients see first, and its known_hosts
	// line for a host at addr, "host:port"; "" without one. nil: neither is known.
	HostKey func(addr string) (fingerprint, knownHosts string)
	// GitHub is the source of guests' keys.
	GitHub keys.GitHub
	// FileServer is the command line of a program that serves SFTP.
	FileServer []string
	// Fleet returns the hosts that this one is in a fleet with; nil, or returning nil: there are
	// none.
	Fleet func() Fleet
	// NoFleet says why Fleet returns nil; nil: the host is in no fleet.
	NoFleet func() error
	// TestNotify is as in the SSH server's configuration; nil: nobody is notified.
	TestNotify func(ctx context.Context, p authz.Principal) (
		lines []string, ok bool, err error)
	// LoginLast reports whether a login shows the terminal that the peer has used last; nil: it
	// shows a new one.
	LoginLast func() bool
	// FirstLogin reports whether somebody has not logged in before, and remembers it; nil:
	// everybody has.
	FirstLogin func(p authz.Principal) bool
	// Nameless is [authz.Authority.Nameless]; nil: nobody is.
	Nameless func() string
	// Ordinary reports whether a command that is no verb is run as sshd would; nil: it is not.
	Ordinary func() bool

	buffers   viewer.Buffers
	seen      seen
	uses      uses
	following followings
}

// Exit statuses of the verbs themselves. Those of terminals are their own.
const (
	StatusOK      = 0
	StatusFailed  = 1
	StatusUsage   = 2
	StatusTimeout = 124 // as timeout(1)
	// As sh, for a command that cannot be executed and for one that does not exist.
	StatusNotExecutable = 126
	StatusUnknown       = 127
	StatusLost          = 255 // as ssh itself, for a lost connection
)

// ErrHungUp is the cause of a context that ends because the peer has closed its end: nobody is left
// to read why.
var ErrHungUp = errors.New("the channel was closed by the peer")

// invocation is one run of a verb.
type invocation struct {
	*Runner
	Caller
	ctx context.Context // ends with the peer's streams; its cause may be shown
	line
	verb verb
	fs   *flag.FlagSet // of the verb
	args []string      // words that are no flags
	run  program       // the command, of a verb that runs one
	// flagWords is how many of the words before it are flags and their values, of `run`.
	flagWords int
	typing    typing    // what `send` types
	stdout    io.Writer // for text: on a terminal, which is in raw mode, \n becomes \r\n
	stderr    io.Writer // likewise

	statusLine *viewer.Status
	notHeeded  []string // see unheeded
	// isLogin: no terminal was named.
	isLogin bool
	// isPart: the verb runs on several hosts. The peer is told once why its connection ends.
	isPart bool

	inFleet Fleet              // see fleet
	died    ptypool.ExitStatus // how a command ended that ran as under sshd; zero: none did
}

// Exit tells a peer how its command has ended.
type Exit struct {
	Status int // 0 to 255
	// Signal ended a command that ran as under sshd, and counts instead of the Status; 0: none did.
	Signal syscall.Signal
	Core   bool // it has left a core dump
}

// exit returns the Exit of a verb, or another command, that ends with a status. Verbs say 128+n for
// signal n, as shells do.
func (v *invocation) exit(status int) Exit {
	return Exit{Status: status, Signal: v.died.Signal, Core: v.died.Core}
}

// invoke returns an invocation without a verb.
func (r *Runner) invoke(ctx context.Context, c Caller) *invocation {
	v := &invocation{Runner: r, Caller: c, ctx: ctx, stdout: c.Stdout(), stderr: c.Stderr()}
	v.notHeeded = v.unheeded() // before the variable says how it is
	v.chooseStatus()
	if v.onTerminal() {
		v.stdout, v.stderr = toCRLF{v.stdout}, toCRLF{v.stderr}
	}
	if v.Fleet != nil && v.Carried == "" && v.principal().Guest == "" {
		v.inFleet = v.Fleet()
	}
	return v
}

// Exec runs a command line and returns how it ended. A peer with a forced command only gets that
// one. ctx must end with the peer's streams, with a cause that the peer may be shown, or with
// ErrHungUp.
func (r *Runner) Exec(ctx context.Context, c Caller, text string) Exit {
	v := r.invoke(ctx, c)
	return v.exit(v.execute(text))
}

// execute is Exec; it returns the status.
func (v *invocation) execute(text string) int {
	if v.principal().Command != "" {
		return v.forced(text)
	}
	l, err := parseLine(text)
	named := len(l.words) > 0 && l.words[0] == ownName
	if named {
		l.words, l.raw, l.from = l.words[1:], l.raw[1:], l.from[1:]
	}
	if len(l.words) == 1 && l.words[0] == otherLogin && v.Carried == "" {
		return v.otherShell()
	}
	known := len(l.words) > 0 && v.take(l, err == nil)
	switch {
	case known:
	case !named && v.ordinaryToo() && !(err == nil && len(l.words) > 0 && v.misspelt(l)):
		o := v.createOptions()
		o.Line = text
		return v.ordinary(o)
	case err != nil:
		return v.misused("%v", err)
	case len(l.words) == 0:
		return v.misused("name a command; " + seeHelp)
	case named:
		return v.unknown(l.words[0], "")
	default:
		return v.unknown(l.words[0], text)
	}
	if v.verb.personal && v.Carried != "" {
		return v.failed(fmt.Errorf("%s is not for other hosts: log in to %s",
			v.verb.name, v.Carried))
	}
	if !v.verb.input && !(v.verb.keys && v.onTerminal()) {
		v.DiscardInput()
	}
	v.fs = flag.NewFlagSet(v.verb.name, flag.ContinueOnError)
	v.fs.SetOutput(io.Discard)
	run := v.verb.define(v.fs)
	v.choosePrefix()
	if status, done := v.elsewhere(); done {
		return status
	}
	if status, done := v.parse(); done {
		return status
	}
	return run(v)
}

// ownName marks a verb as such, as in `ssh HOST termhost ls`.
const ownName = "termhost"

// ordinaryToo reports whether a command that is no verb is run as sshd would run it. A local peer
// has a shell already, and another host carries verbs only: one that is not known here is of a
// later version.
func (v *invocation) ordinaryToo() bool {
	return !v.Local && v.Carried == "" && v.Ordinary != nil && v.Ordinary()
}

// take finds the verb at the beginning of a line. Where a quote is not closed, it takes a verb that
// types text only.
func (v *invocation) take(l line, closed bool) bool {
	all := table()
	i := slices.IndexFunc(all, func(c verb) bool { return c.name == l.words[0] })
	if i < 0 || !closed && !all[i].text {
		return false
	}
	l.words, l.raw, l.from = l.words[1:], l.raw[1:], l.from[1:]
	v.line, v.verb = l, all[i]
	return true
}

func (v *invocation) principal() authz.Principal { return v.Conn.Principal() }

// onTerminal reports whether the peer has a terminal.
func (v *invocation) onTerminal() bool {
	_, ok := v.Terminal()
	return ok
}

// ended returns why the host ends the peer's connection, for the peer to read; nil if it does not,
// if the peer has hung up, or if another invocation tells it.
func (v *invocation) ended() error {
	switch why := context.Cause(v.ctx); {
	case v.isPart, errors.Is(why, ErrHungUp):
		return nil
	case why != nil:
		return why
	}
	return context.Cause(v.Conn.Context())
}

// told rewrites a text about ssh HOST for a peer that runs termhost instead.
func (c *Caller) told(text string) string {
	switch {
	case c.Inner:
		return strings.ReplaceAll(text, "ssh -t HOST attach", "termhost attach --ssh HOST")
	case !c.Local:
		return text
	}
	program := "termhost "
	if c.Config != "" {
		program += "-c " + c.Config + " "
	}
	return strings.NewReplacer("`ssh HOST`", "`"+program+"new`", "ssh -t HOST ", program,
		"ssh HOST ", program).Replace(text)
}

// comeBack returns the command line with which the peer attaches to a terminal again.
func (c *Caller) comeBack(name string) string { return c.command("attach", name) }

// dashesBefore returns a NAME for a command line, where it must not be taken for a flag.
func dashesBefore(name string) string {
	if strings.HasPrefix(name, "-") {
		return "-- " + name
	}
	return name
}

// command returns a command line with a terminal's NAME for the peer.
func (c *Caller) command(verb, name string) string {
	name = dashesBefore(c.shown(name))
	if verb == "attach" {
		return c.told("ssh -t HOST attach " + name)
	}
	return c.told("ssh HOST " + verb + " " + name)
}

// needsTerminal refuses a verb that needs a terminal at the peer's end.
func (v *invocation) needsTerminal(instead string) int {
	fmt.Fprintf(v.stderr, "termhost: error: %s needs a terminal at your end\n", v.verb.name)
	how := "ssh -t HOST " + v.verb.name + " ..."
	if v.Local {
		how = "run `termhost " + v.verb.name + "` in one"
	}
	fmt.Fprintf(v.stderr, "hint: %s, %s\n", how, instead)
	return StatusUsage
}

// needsScreen refuses a verb that draws on the peer's terminal, which is dumb or has no size.
func (v *invocation) needsScreen(instead string) int {
	fmt.Fprintf(v.stderr, "termhost: error: %s draws on a screen, and your terminal has none\n",
		v.verb.name)
	fmt.Fprintf(v.stderr, "hint: %s\n", v.told(instead))
	return StatusUsage
}

// Fail tells a peer why a request failed, as a verb would, and returns the exit status.
func (r *Runner) Fail(ctx context.Context, c Caller, err error) int {
	return r.invoke(ctx, c).failed(err)
}

// find returns the terminal of a NAME.
func (v *invocation) find(name string) (*host.Terminal, error) {
	return v.Conn.Find(name)
}

// findAll returns the terminals of NAMEs, each once.
func (v *invocation) findAll(names []string) (list []*host.Terminal, err error) {
	for _, name := range names {
		t, err := v.find(name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	return list, nil
}

// printed writes pieces to w, or reports err, and returns the exit status.
func (v *invocation) printed(w io.Writer, err error, pieces ...[]byte) int {
	if err != nil {
		return v.failed(err)
	}
	for _, p := range pieces {
		if _, err := w.Write(p); err != nil {
			return StatusFailed
		}
	}
	return StatusOK
}
