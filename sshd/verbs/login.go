package verbs

import (
	"context"
	"errors"
	"slices"

	"termhost/ahp/commandline"
	"termhost/sshd/viewer"
)

// Shell runs `ssh HOST` without a command: a new terminal with the user's shell, or the terminal
// that the peer has used last. Without a terminal at the peer's end a shell runs on pipes. For ctx
// and the result see Exec.
func (r *Runner) Shell(ctx context.Context, c Caller) Exit {
	v := r.invoke(ctx, c)
	return v.exit(v.shell())
}

// shell is Shell; it returns the status.
func (v *invocation) shell() int {
	if v.principal().Command != "" {
		return v.forced("")
	}
	if v.principal().Guest != "" {
		return v.guestShell()
	}
	if !v.onTerminal() {
		return v.runToEnd(v.createOptions(), false)
	}
	if v.loginLast() {
		return v.lastShell()
	}
	return v.newShell()
}

// otherLogin is the command line for the one that a login does not show: of the terminal that the
// peer has used last and a new one.
const otherLogin = "-"

// otherShell runs `ssh -t HOST -`.
func (v *invocation) otherShell() int {
	v.verb = verb{name: otherLogin, terminal: true, input: true}
	switch {
	case !v.onTerminal():
		return v.needsTerminal("or `ssh HOST` without it")
	case v.principal().Guest != "":
		return v.guestShell()
	case v.loginLast():
		return v.newShell()
	}
	return v.lastShell()
}

// loginLast reports whether a login shows the terminal that the peer has used last.
func (v *invocation) loginLast() bool { return v.LoginLast != nil && v.LoginLast() }

// newShell shows a new terminal.
func (v *invocation) newShell() int {
	v.isLogin = true
	detached := v.namesDetached()
	o := v.createOptions()
	o.Transient = true
	return v.create(o, viewer.Options{Greet: true, Greeting: detached})
}

// lastShell shows the terminal that the peer has used last or, if none runs, a new one. A host of
// the fleet that is silent keeps nobody from a shell.
func (v *invocation) lastShell() int {
	v.isLogin = true
	const line = "attach"
	attach := *v
	l, _ := parseLine(line)
	attach.take(l, true)
	at, away, _ := attach.lastElsewhere() // with an error there are several, and none is the last
	own := v.Conn.LastRunning()
	switch {
	case away && v.reaches(at.host), !away && own != nil:
		return v.execute(line)
	case own != nil: // in a fleet: with its host it is taken for no other
		return v.execute(line + " " + commandline.Quote(v.self()+"/"+own.Name()))
	}
	return v.newShell()
}

// reaches reports whether a host of the fleet answers.
func (v *invocation) reaches(name string) bool {
	ctx, cancel := context.WithTimeout(v.ctx, listTime)
	defer cancel()
	hosts, err := v.fleet().Survey(ctx)
	return err == nil && slices.ContainsFunc(hosts, func(h FleetHost) bool {
		return h.Name == name && h.Reachable
	})
}

// isFirstLogin reports whether the peer is a person who logs in for the first time and can be told
// something.
func (v *invocation) isFirstLogin() bool {
	return v.isLogin && v.Draws() && v.FirstLogin != nil && v.FirstLogin(v.principal())
}

// guestShell shows a guest a terminal that it was invited to, read-only if it has no terminal of
// its own. Guests create no terminals.
func (v *invocation) guestShell() int {
	t := v.Conn.LastUsed()
	if t == nil {
		return v.failed(errNothingHere)
	}
	o := v.attachOptions()
	o.ReadOnly = !v.onTerminal()
	a, first, err := v.Conn.Attach(t, o)
	if err != nil {
		return v.failed(err)
	}
	return v.show(a, first, viewer.Options{})
}

var errNothingHere = errors.New("what you were invited to has ended")
