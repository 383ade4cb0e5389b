package acp

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"termhost/ahp"
	"termhost/ahp/acp/wire"
	"termhost/ahp/commandline"
	"termhost/ahp/host"
	"termhost/ahp/rpc"
	"termhost/ptypool"
)

// The exit codes of a command that could not be started, as shells have them
// (POSIX.1-2024, Shell Command Language, 2.8.2).
const (
	exitNotFound      = 127
	exitNotExecutable = 126
)

// create is terminal/create.
func (s *Terminals) create(p *wire.CreateParams) (*wire.CreateResult, *ahp.Error) {
	o, bad := s.options(p)
	if bad != nil {
		return nil, bad
	}
	key, bad := keyOf(p)
	if bad != nil {
		return nil, bad
	}
	t := newTerminal(tag{Client: s.conn.ClientID(), Session: p.SessionID, Key: key,
		Limit: outputLimit(p.OutputByteLimit)})
	o.Tap, o.Tag = t.out.write, t.tag.text()
	if bad := s.reserve(); bad != nil {
		return nil, bad
	}
	var err error
	if t.host, err = s.start(p, &o); err != nil && !t.fail(err) {
		s.unreserve()
		return nil, rpc.Error(s.conn, err)
	}
	return s.add(t, o.Base), nil
}

// start runs the command of p. Without arguments, and if there is no program of that name, the
// command is taken for a command line, which sh runs; o is changed accordingly.
func (s *Terminals) start(p *wire.CreateParams, o *host.CreateOptions) (*host.Terminal, error) {
	made, err := s.conn.Create(*o)
	var start *ptypool.StartError
	if !errors.As(err, &start) || start.Kind != ptypool.ErrNotFound || start.Interpreter != "" {
		return made.Terminal, err
	}
	if !isLine(p) {
		return nil, err
	}
	o.Argv = []string{"/bin/sh", "-c", p.Command}
	o.Base = commandline.Program(o.Argv)
	made, err = s.conn.Create(*o)
	return made.Terminal, err
}

// isLine reports whether p's command may be a command line.
func isLine(p *wire.CreateParams) bool {
	return len(p.Args) == 0 && strings.ContainsAny(p.Command, " \t\n")
}

// options returns how p's terminal is to be created, or what is wrong with p.
func (s *Terminals) options(p *wire.CreateParams) (o host.CreateOptions, bad *ahp.Error) {
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
	session := wire.SessionURI(p.SessionID)
	if len(session) > ahp.MaxURI {
		const why = "is too long to name the terminal's holder; use at most 200 characters"
		return o, ahp.FieldProblem("sessionId", why)
	}
	env, bad := environment(p.Env)
	if bad != nil {
		return o, bad
	}
	agent := clipped(host.Printable(p.Meta.Termhost.Agent))
	argv := append([]string{p.Command}, p.Args...)
	return host.CreateOptions{
		Argv:      argv,
		Base:      commandline.Program(argv),
		Fresh:     true, // an editor's view that asks for the NAME later must not get another one
		Title:     titleOf(argv, cmp.Or(agent, s.conn.Name())),
		KeepTitle: true, // the title says whose it is, and the program must not hide that
		Dir:       p.Cwd,
		DoorEnv:   unattended(),
		Env:       env,
		Claim:     ahp.Claim{Kind: ahp.ClaimSession, Session: session},
		Agent:     agent,
		Later:     true,
	}, nil
}

// maxAgentName is how much of an agent's name is shown, in bytes.
const maxAgentName = 60

// clipped returns an agent's name, cut to its bound at a rune's boundary.
func clipped(agent string) string {
	return strings.ToValidUTF8(agent[:min(len(agent), maxAgentName)], "")
}

// outputLimit returns how much output is kept, in bytes, for an agent that asked for so much.
func outputLimit(asked *wire.ByteLimit) int {
	if asked == nil || *asked > MaxOutput {
		return MaxOutput
	}
	return int(*asked)
}

// fail makes t the terminal of a command that could not be started. It returns false, and does not
// change t, if err says something else.
func (t *terminal) fail(err error) bool {
	var start *ptypool.StartError
	if !errors.As(err, &start) || start.Kind == nil || start.Kind == ptypool.ErrBadDir {
		return false
	}
	code, why := exitNotExecutable, start.Kind.Error()
	switch {
	case start.Interpreter != "": // the program is there
		why = "its interpreter " + quoted(host.Printable(start.Interpreter)) + " does not exist"
	case errors.Is(err, ptypool.ErrNotFound):
		code = exitNotFound
	}
	t.failed = &wire.ExitStatus{ExitCode: &code}
	t.out.write(fmt.Appendf(nil, "cannot run %s: %s\r\n", quoted(host.Printable(start.Name)), why))
	return true
}

// created is termhost/created.
func (s *Terminals) created(p *wire.CreatedParams) (*wire.CreateResult, *ahp.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.byID {
		if t.tag.Key == p.Key && t.tag.Session == p.SessionID {
			return t.result(), nil
		}
	}
	return nil, wire.NoTerminal()
}

// result is what the agent gets for t's creation.
func (t *terminal) result() *wire.CreateResult {
	r := &wire.CreateResult{TerminalID: t.id}
	if t.host != nil {
		r.Meta.Termhost.Name, r.Meta.Termhost.URI = t.host.Name(), t.host.URI()
	}
	return r
}

// idOf returns the id of a terminal: a beginning that people recognise, and an end that does not
// come again.
func idOf(base, key string) string { return host.Printable(base) + "-" + key }

// The bounds of a key, in characters.
const (
	minKey = 8 // of base32 that is 40 bits; nobody can guess it, and one connection has the id
	maxKey = 32
)

// keyOf returns the key that ends the id of p's terminal: p's own, or a new one.
func keyOf(p *wire.CreateParams) (string, *ahp.Error) {
	key := p.Meta.Termhost.Key
	if key == "" {
		return strings.ToLower(rand.Text()[:minKey]), nil
	}
	other := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }
	if len(key) < minKey || len(key) > maxKey || strings.ContainsFunc(key, other) {
		const why = "must be 8 to 32 letters a to z and digits"
		return "", ahp.FieldProblem("_meta.termhost.key", why)
	}
	return key, nil
}
