package acp

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/authz"
	"termhost/ptypool"
)

// sessionScheme begins the URI of an agent session, which claims the terminals.
const sessionScheme = "ahp-session:/"

// sessionURI names an agent session by its id.
func sessionURI(id string) string { return sessionScheme + url.PathEscape(id) }

// The exit codes of a command that could not be started, as shells have them
// (POSIX.1-2024, Shell Command Language, 2.8.2).
const (
	exitNotFound      = 127
	exitNotExecutable = 126
)

// create is terminal/create.
func (s *Terminals) create(p *createParams) (*createResult, *ahp.Error) {
	o, bad := s.options(p)
	if bad != nil {
		return nil, bad
	}
	t := &terminal{session: p.SessionID, out: &tail{limit: outputLimit(p.OutputByteLimit)}, kept: make(chan struct{}), released: make(chan struct{})}
	o.Tap = t.out.write
	if bad := s.reserve(); bad != nil {
		return nil, bad
	}
	var err error
	if t.host, err = s.start(p, &o); err != nil {
		if bad := t.fail(err); bad != nil {
			s.unreserve()
			if bad.Code == ahp.CodeInternal {
				s.log.Error("an agent's command could not be started", "principal", s.conn.Principal().Name, "err", err)
			}
			return nil, bad
		}
	}
	return s.add(t, o.Base), nil
}

// start runs the command: literally, or where that is no program and can only be
// a command line, through sh, which it notes in o.
func (s *Terminals) start(p *createParams, o *host.CreateOptions) (*host.Terminal, error) {
	t, err := s.host.Create(s.conn.Principal(), *o)
	var start *ptypool.StartError
	missing := errors.As(err, &start) && start.Kind == ptypool.ErrNotFound && start.Interpreter == ""
	if !missing || !isLine(p) {
		return t, err
	}
	o.Argv = []string{"/bin/sh", "-c", p.Command}
	o.Base = baseOf(o.Argv)
	return s.host.Create(s.conn.Principal(), *o)
}

// isLine reports whether a command may be a command line.
func isLine(p *createParams) bool {
	return len(p.Args) == 0 && strings.ContainsAny(p.Command, " \t\n")
}

func (s *Terminals) options(p *createParams) (o host.CreateOptions, bad *ahp.Error) {
	switch {
	case p.SessionID == "":
		return o, ahp.FieldProblem("sessionId", "is missing")
	case p.Command == "":
		return o, ahp.FieldProblem("command", "is missing")
	case strings.IndexByte(p.Command, 0) >= 0:
		return o, ahp.FieldProblem("command", "must not contain a NUL")
	case p.Cwd != "" && p.Cwd[0] != '/':
		return o, ahp.FieldProblem("cwd", "must be an absolute path")
	}
	for _, a := range p.Args {
		if strings.IndexByte(a, 0) >= 0 {
			return o, ahp.FieldProblem("args", "must not contain a NUL")
		}
	}
	session := sessionURI(p.SessionID)
	if len(session) > ahp.MaxURI {
		return o, ahp.FieldProblem("sessionId", "is too long to name the terminal's holder; use at most 200 characters")
	}
	env, bad := environment(p.Env)
	if bad != nil {
		return o, bad
	}
	agent := clipped(host.Printable(p.Meta.Termhost.Agent))
	argv := append([]string{p.Command}, p.Args...)
	return host.CreateOptions{
		Argv:      argv,
		Base:      baseOf(argv),
		Fresh:     true, // what shows it by its NAME never shows another
		Title:     titleOf(argv, cmp.Or(agent, s.conn.Principal().Name)),
		KeepTitle: true, // it says whose it is
		Dir:       p.Cwd,
		Env:       env,
		Claim:     ahp.Claim{Kind: ahp.ClaimSession, Session: session},
		Agent:     agent,
	}, nil
}

// maxAgentName is how much of an agent's name is shown, in bytes.
const maxAgentName = 60

func clipped(agent string) string {
	return strings.ToValidUTF8(agent[:min(len(agent), maxAgentName)], "")
}

func outputLimit(asked *byteLimit) int {
	if asked == nil || *asked > MaxOutput {
		return MaxOutput
	}
	return int(*asked)
}

// fail makes t the terminal of a command that could not be started, or returns
// why terminal/create itself fails.
func (t *terminal) fail(err error) *ahp.Error {
	var (
		start  *ptypool.StartError
		dir    *host.DirError
		denied *authz.Denied
		limit  *ptypool.LimitError
		proto  *ahp.Error
	)
	switch {
	case errors.As(err, &proto):
		return proto
	case errors.As(err, &dir):
		return ahp.NewError(ahp.CodeInvalidParams, err.Error(), "field", "cwd")
	case errors.Is(err, ptypool.ErrBadDir):
		return ahp.NewError(ahp.CodeInvalidParams, "the working directory cannot be entered", "field", "cwd")
	case errors.As(err, &denied):
		return ahp.NewError(ahp.CodeNotPermitted, denied.Error(), "rule", denied.Rule)
	case errors.As(err, &limit):
		return ahp.NewError(ahp.CodeLimit, err.Error(), "limit", "terminal.max_terminals")
	case errors.Is(err, host.ErrClosed):
		return ahp.NewError(ahp.CodeInternal, host.ErrClosed.Error())
	case !errors.As(err, &start) || start.Kind == nil:
		return ahp.NewError(ahp.CodeInternal, "the command could not be started; the host's log says why")
	}
	code, why := exitNotExecutable, start.Kind.Error()
	switch {
	case start.Interpreter != "": // the program is there
		why = "its interpreter " + quoted(host.Printable(start.Interpreter)) + " does not exist"
	case errors.Is(err, ptypool.ErrNotFound):
		code = exitNotFound
	}
	t.failed = &exitStatus{ExitCode: &code}
	t.out.write(fmt.Appendf(nil, "cannot run %s: %s\r\n", quoted(host.Printable(start.Name)), why))
	return nil
}

// newID returns the id of a terminal: its beginning is for people, its end for
// nobody to guess or meet again.
func newID(base string) string {
	const enough = 8 // of base32: 40 bits, for one connection
	return base + "-" + strings.ToLower(rand.Text()[:enough])
}
