package host

import (
	"errors"

	"termhost/ahp"
	"termhost/authz"
	"termhost/ptypool"
)

// CreateTerminal is AHP's createTerminal. It returns once the pty has started.
func (c *Conn) CreateTerminal(p ahp.CreateTerminalParams) *ahp.Error {
	if c.ctx.Err() != nil {
		return c.ended()
	}
	o, bad := c.createOptions(p)
	if bad != nil {
		return bad
	}
	_, err := c.host.Create(c.principal, o)
	bad = createError(err, len(o.Argv) > 0)
	if bad != nil && bad.Code == ahp.CodeInternal {
		c.host.log.Error("a terminal could not be started", "principal", c.principal.Name, "err", err)
	}
	return bad
}

func (c *Conn) createOptions(p ahp.CreateTerminalParams) (CreateOptions, *ahp.Error) {
	uri, ok := ahp.NormalizeChannel(p.Channel)
	if !ok {
		return CreateOptions{}, ahp.FieldProblem("channel", "must be an absolute URI of at most 256 bytes")
	}
	if _, ok := ahp.TerminalName(uri); !ok {
		return CreateOptions{}, ahp.FieldProblem("channel", "must be a terminal's: the last path segment is its name, 1 to 64 of A-Z a-z 0-9 . _ -")
	}
	if p.Claim == nil {
		return CreateOptions{}, ahp.FieldProblem("claim", "is missing: a terminal is always held by a client or a session")
	}
	if !validClaim(*p.Claim) {
		return CreateOptions{}, ahp.FieldProblem("claim", "must name a clientId or a session of at most 256 bytes")
	}
	if p.Claim.Kind == ahp.ClaimClient && p.Claim.ClientID != c.client.id {
		return CreateOptions{}, ahp.FieldProblem("claim", "must name your own clientId")
	}
	switch p.ExecutionTarget {
	case "", ahp.ExecutorServer:
	default:
		return CreateOptions{}, ahp.FieldProblem("executionTarget", `must be "server"`)
	}
	o := CreateOptions{URI: uri, Title: p.Name, Claim: *p.Claim, Cols: defaultCols, Rows: defaultRows}
	if p.Cwd != "" {
		if o.Dir, ok = ahp.FilePath(p.Cwd); !ok {
			return o, ahp.FieldProblem("cwd", "must be a file:// URI of this host")
		}
	}
	if p.Cols != nil {
		if o.Cols = *p.Cols; o.Cols < 1 || o.Cols > MaxCols {
			return o, ahp.FieldProblem("cols", "must be 1 to 1000")
		}
	}
	if p.Rows != nil {
		if o.Rows = *p.Rows; o.Rows < 1 || o.Rows > MaxRows {
			return o, ahp.FieldProblem("rows", "must be 1 to 500")
		}
	}
	if p.Meta != nil && p.Meta.Termhost != nil {
		return o, addExtras(&o, p.Meta.Termhost)
	}
	return o, nil
}

// addExtras takes what createTerminal's _meta.termhost adds.
func addExtras(o *CreateOptions, x *ahp.CreateTerminalExtras) *ahp.Error {
	o.Login = x.Login
	if x.Command != "" {
		o.Argv = append([]string{x.Command}, x.Args...)
	} else if len(x.Args) > 0 {
		return ahp.FieldProblem("_meta.termhost.args", "needs a command")
	}
	for k, v := range x.Env {
		if !validEnv(k, v) {
			return ahp.FieldProblem("_meta.termhost.env", "has a name that is no environment variable's, or a value with a NUL")
		}
		o.Env = append(o.Env, k+"="+v)
	}
	return nil
}

// createError turns why a terminal was not created into the protocol's error.
// command: the client named what to run; else it is the host's shell.
func createError(err error, command bool) *ahp.Error {
	var (
		proto  *ahp.Error
		exists *ExistsError
		name   *NameError
		dir    *DirError
		denied *authz.Denied
		limit  *ptypool.LimitError
		start  *ptypool.StartError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &proto):
		return proto
	case errors.As(err, &exists):
		return ahp.NewError(ahp.CodeTerminalExists, err.Error())
	case errors.As(err, &name):
		return ahp.NewError(ahp.CodeInvalidParams, err.Error(), "field", "channel")
	case errors.As(err, &dir):
		return ahp.NewError(ahp.CodeInvalidParams, err.Error(), "field", "cwd")
	case errors.As(err, &denied):
		return refused(err)
	case errors.As(err, &limit):
		return ahp.NewError(ahp.CodeLimit, err.Error(), "limit", "terminal.max_terminals")
	case errors.Is(err, ptypool.ErrBadDir):
		return ahp.NewError(ahp.CodeInvalidParams, err.Error(), "field", "cwd")
	case errors.As(err, &start) && command && start.Kind != nil:
		return ahp.NewError(ahp.CodeInvalidParams, err.Error(), "field", "_meta.termhost.command")
	case errors.Is(err, ErrClosed):
		return ahp.NewError(ahp.CodeInternal, ErrClosed.Error())
	}
	return ahp.NewError(ahp.CodeInternal, "the terminal could not be started; the host's log says why")
}
