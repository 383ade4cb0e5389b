package host

import (
	"errors"
	"net/url"
	"path"
	"strings"
	"time"

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
	switch p.ExecutionTarget {
	case "", ahp.ExecutorServer, ahp.ExecutorClient:
	default:
		return CreateOptions{}, ahp.FieldProblem("executionTarget", `must be "server" or "client"`)
	}
	if bad := c.checkClaim(p); bad != nil {
		return CreateOptions{}, bad
	}
	o := CreateOptions{URI: uri, Title: p.Name, Claim: *p.Claim, Cols: defaultCols, Rows: defaultRows}
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

// checkClaim checks who is to hold the terminal: a client-executed one is its
// owner's, because there is nobody else to run it.
func (c *Conn) checkClaim(p ahp.CreateTerminalParams) *ahp.Error {
	own := p.Claim != nil && p.Claim.Kind == ahp.ClaimClient && p.Claim.ClientID == c.client.id
	switch {
	case p.Claim == nil:
		return ahp.FieldProblem("claim", "is missing: a terminal is always held by a client or a session")
	case p.ExecutionTarget == ahp.ExecutorClient && !own:
		const reason = "a client-executed terminal is held by the client that runs it: the claim must name your own clientId"
		return ahp.NewError(ahp.CodeInvalidParams, reason, "field", "claim", "reason", reason)
	case !validClaim(*p.Claim):
		return ahp.FieldProblem("claim", "must name a clientId or a session of at most 256 bytes")
	case p.Claim.Kind == ahp.ClaimClient && !own:
		return ahp.FieldProblem("claim", "must name your own clientId")
	}
	return nil
}

// addClient takes what createTerminal says of a client-executed terminal.
func (c *Conn) addClient(o *CreateOptions, p ahp.CreateTerminalParams) *ahp.Error {
	client := &clientOptions{owner: c, cwd: p.Cwd}
	o.client = client
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
		return ahp.FieldProblem("_meta.termhost", "says what to run, but the client runs this terminal itself")
	}
	client.stream = x.IsPty != nil && !*x.IsPty
	if x.Grace != "" {
		grace, err := time.ParseDuration(x.Grace)
		if err != nil || grace < 0 {
			return ahp.FieldProblem("_meta.termhost.grace", `must be a duration, such as "30s"`)
		}
		client.grace = min(grace, c.host.cfg.ClientGrace)
	}
	return nil
}

// isFileURI reports whether cwd is a directory somewhere, on whatever machine.
func isFileURI(cwd string) bool {
	u, err := url.Parse(cwd)
	return err == nil && u.Scheme == "file" && path.IsAbs(u.Path) && len(cwd) <= maxCwd
}

// maxCwd bounds a working directory's URI, in bytes: PATH_MAX of Linux with some
// escapes.
const maxCwd = 8 << 10

// addSize takes the size that createTerminal asks for.
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

// addExtras takes what createTerminal's _meta.termhost adds.
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
	}
	if errors.As(err, &start) { // answers wait in memory: no name of a megabyte in them
		short := *start
		short.Name = clip(start.Name)
		err = &short
	}
	switch {
	case errors.Is(err, ptypool.ErrBadDir):
		return ahp.NewError(ahp.CodeInvalidParams, err.Error(), "field", "cwd")
	case start != nil && command && start.Kind != nil:
		return ahp.NewError(ahp.CodeInvalidParams, err.Error(), "field", "_meta.termhost.command")
	case errors.Is(err, ErrClosed):
		return ahp.NewError(ahp.CodeInternal, ErrClosed.Error())
	}
	return ahp.NewError(ahp.CodeInternal, "the terminal could not be started; the host's log says why")
}
