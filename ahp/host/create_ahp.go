package host

import (
	"context"
	"errors"
	"net/url"
	"path"
	"strings"
	"time"

	"termhost/ahp"
	"termhost/ptypool"
)

// CreateTerminal is AHP's createTerminal. It returns once the program has started, or if that needs
// a person's yes, once the terminal is there; the answer is then that of PendingStart.End.
func (c *Conn) CreateTerminal(p ahp.CreateTerminalParams) (*PendingStart, *ahp.Error) {
	if e := c.Ended(); e != nil {
		return nil, e
	}
	o, bad := c.createOptions(p)
	if bad != nil {
		return nil, bad
	}
	_, starting, err := c.Begin(o)
	if err != nil {
		return nil, c.startProblem(o, err)
	}
	if starting == nil {
		return nil, nil
	}
	return &PendingStart{c, o, starting}, nil
}

// PendingStart is a createTerminal whose program waits for a person's yes.
type PendingStart struct {
	conn     *Conn
	o        CreateOptions
	starting *Starting
}

// End waits for the decision, once, and returns why the program was not started. Then the terminal
// is gone.
func (p *PendingStart) End(ctx context.Context) *ahp.Error {
	return p.conn.startProblem(p.o, p.starting.Wait(ctx))
}

// startProblem returns what the peer is told when a terminal with o could not be made; nil for nil.
func (c *Conn) startProblem(o CreateOptions, err error) *ahp.Error {
	var start *ptypool.StartError
	named := len(o.Argv) > 0 // else it is the host's own shell that does not start
	if named && errors.As(err, &start) && start.Kind != nil && start.Kind != ptypool.ErrBadDir {
		return startProblem(start, "_meta.termhost.command")
	}
	return c.ProtocolError(err)
}

func (c *Conn) createOptions(p ahp.CreateTerminalParams) (CreateOptions, *ahp.Error) {
	uri, ok := ahp.NormalizeChannel(p.Channel)
	if !ok {
		return CreateOptions{}, ahp.FieldProblem("channel",
			"must be an absolute URI of at most 256 bytes")
	}
	if _, ok := ahp.TerminalName(uri); !ok {
		return CreateOptions{}, ahp.FieldProblem("channel",
			"must be a terminal's: the last path segment is its name, 1 to 64 of A-Z a-z 0-9 . _ -")
	}
	switch p.ExecutionTarget {
	case "", ahp.ExecutorServer, ahp.ExecutorClient:
	default:
		return CreateOptions{}, ahp.FieldProblem("executionTarget", `must be "server" or "client"`)
	}
	if bad := c.checkClaim(p); bad != nil {
		return CreateOptions{}, bad
	}
	o := CreateOptions{
		URI: uri, Title: p.Name, Claim: *p.Claim, Cols: defaultCols, Rows: defaultRows,
		By: c.Name(),
	}
	if p.ExecutionTarget == ahp.ExecutorClient {
		return o, c.addClient(&o, p)
	}
	if p.Cwd != "" {
		if o.Dir, ok = ahp.FilePath(p.Cwd); !ok {
			return o, ahp.FieldProblem("cwd", "must be a file:// URI of this host")
		}
	}
	if bad := addSize(&o, p); bad != nil {
		return o, bad
	}
	if p.Meta != nil && p.Meta.Termhost != nil {
		return o, addExtras(&o, p.Meta.Termhost)
	}
	return o, nil
}

// checkClaim checks who is to hold the terminal. A client-executed one is its owner's.
func (c *Conn) checkClaim(p ahp.CreateTerminalParams) *ahp.Error {
	own := p.Claim != nil && p.Claim.Kind == ahp.ClaimClient && p.Claim.ClientID == c.client.id
	switch {
	case p.Claim == nil:
		return ahp.FieldProblem("claim",
			"is missing: a terminal is always held by a client or a session")
	case p.ExecutionTarget == ahp.ExecutorClient && !own:
		const reason = "a client-executed terminal is held by the client that runs it: " +
			"the claim must name your own clientId"
		return ahp.NewError(ahp.CodeInvalidParams, reason, "field", "claim", "reason", reason)
	case !validClaim(*p.Claim):
		return ahp.FieldProblem("claim", "must name a clientId or a session of at most 256 bytes")
	case p.Claim.Kind == ahp.ClaimClient && !own:
		return ahp.FieldProblem("claim", "must name your own clientId")
	}
	return nil
}

// addClient adds what createTerminal says of a client-executed terminal.
func (c *Conn) addClient(o *CreateOptions, p ahp.CreateTerminalParams) *ahp.Error {
	e := &clientExecutor{client: c.client, cwd: p.Cwd}
	o.exec = e
	if p.Cwd != "" && !isFileURI(p.Cwd) {
		return ahp.FieldProblem("cwd", "must be a file:// URI")
	}
	if bad := addSize(o, p); bad != nil {
		return bad
	}
	if p.Meta == nil || p.Meta.Termhost == nil {
		return nil
	}
	x := p.Meta.Termhost
	if x.Command != "" || len(x.Args) > 0 || len(x.Env) > 0 || x.Login != nil {
		return ahp.FieldProblem("_meta.termhost",
			"says what to run, but the client runs this terminal itself")
	}
	e.stream = x.IsPty != nil && !*x.IsPty
	if x.Grace != "" {
		grace, err := time.ParseDuration(x.Grace)
		if err != nil || grace < 0 {
			return ahp.FieldProblem("_meta.termhost.grace", `must be a duration, such as "30s"`)
		}
		e.grace = min(grace, c.host.cfg().ClientGrace)
	}
	return nil
}

// isFileURI reports whether cwd names a directory, on whatever machine.
func isFileURI(cwd string) bool {
	u, err := url.Parse(cwd)
	return err == nil && u.Scheme == "file" && path.IsAbs(u.Path) && len(cwd) <= maxCwd
}

// maxCwd bounds a working directory's URI, in bytes: Linux's PATH_MAX, with room for escapes.
const maxCwd = 8 << 10

// addSize adds the size that createTerminal asks for.
func addSize(o *CreateOptions, p ahp.CreateTerminalParams) *ahp.Error {
	if p.Cols != nil {
		if o.Cols = *p.Cols; o.Cols < 1 || o.Cols > MaxCols {
			return ahp.FieldProblem("cols", "must be 1 to 1000")
		}
	}
	if p.Rows != nil {
		if o.Rows = *p.Rows; o.Rows < 1 || o.Rows > MaxRows {
			return ahp.FieldProblem("rows", "must be 1 to 500")
		}
	}
	return nil
}

// addExtras adds what createTerminal's _meta.termhost says.
func addExtras(o *CreateOptions, x *ahp.CreateTerminalExtras) *ahp.Error {
	o.Login = x.Login
	for _, word := range append([]string{x.Command}, x.Args...) {
		if strings.IndexByte(word, 0) >= 0 {
			return ahp.FieldProblem("_meta.termhost.command", "and its args may not contain a NUL")
		}
	}
	if x.Command != "" {
		o.Argv = append([]string{x.Command}, x.Args...)
	} else if len(x.Args) > 0 {
		return ahp.FieldProblem("_meta.termhost.args", "needs a command")
	}
	for k, v := range x.Env {
		if !validEnv(k, v) {
			return ahp.FieldProblem("_meta.termhost.env",
				"has a name that is no environment variable's, or a value with a NUL")
		}
		o.Env = append(o.Env, k+"="+v)
	}
	return nil
}
