package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"path"
	"strings"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ptypool"
)

func (p *peer) createTerminal(r *request) *ahp.Error {
	var params struct {
		ahp.CreateTerminalParams
		Claim json.RawMessage `json:"claim"`
	}
	if e := ahp.DecodeParams(r.params, &params); e != nil {
		return e
	}
	if params.Claim != nil && string(params.Claim) != "null" {
		var claim ahp.Claim
		if err := json.Unmarshal(params.Claim, &claim); err != nil {
			return ahp.FieldProblem("claim", "cannot be read: "+err.Error())
		}
		params.CreateTerminalParams.Claim = &claim
	}
	if e := require(field{"channel", params.Channel != ""}); e != nil {
		return e
	}
	if m := params.Meta; m != nil && m.Termhost != nil && m.Termhost.On != "" {
		if done, e := p.createOn(r, params.Channel, m.Termhost.On); done || e != nil {
			return e
		}
	}
	pending, e := CreateTerminal(p.conn, params.CreateTerminalParams)
	switch {
	case e != nil:
		return e
	case pending == nil:
		p.respond(r.id, appendNull)
	default:
		started := func() (json.RawMessage, *ahp.Error) {
			return json.RawMessage("null"), pending.End(p.ctx)
		}
		p.answerLater(r.id, started, func() {})
	}
	return nil
}

// CreateTerminal is AHP's createTerminal on a connection. It returns once the program has started,
// or if that needs a person's yes, once the terminal is there; the answer is then that of
// [PendingStart.End].
func CreateTerminal(c *host.Conn, p ahp.CreateTerminalParams) (*PendingStart, *ahp.Error) {
	if err := c.Ended(); err != nil {
		return nil, Error(c, err)
	}
	o, bad := createOptions(c, p)
	if bad != nil {
		return nil, bad
	}
	o.Later = true
	named := len(o.Argv) > 0
	made, err := c.Create(o)
	if err != nil {
		return nil, startError(c, named, err)
	}
	if made.Starting == nil {
		return nil, nil
	}
	return &PendingStart{c, named, made.Starting}, nil
}

// PendingStart is a createTerminal whose program waits for a person's yes.
type PendingStart struct {
	conn     *host.Conn
	named    bool // the peer has named the program
	starting *host.Starting
}

// End waits for the decision, once, and returns why the program was not started. Then the terminal
// is gone.
func (p *PendingStart) End(ctx context.Context) *ahp.Error {
	return startError(p.conn, p.named, p.starting.Wait(ctx))
}

// startError is [Error] for a terminal that could not be made. named: the peer has named the
// program; else it is the host's own shell that does not start.
func startError(c *host.Conn, named bool, err error) *ahp.Error {
	var start *ptypool.StartError
	if named && errors.As(err, &start) && start.Kind != nil && start.Kind != ptypool.ErrBadDir {
		return startProblem(start, "_meta.termhost.command")
	}
	return Error(c, err)
}

// createOptions returns how a terminal is to be created, or what is wrong with the params.
func createOptions(c *host.Conn, p ahp.CreateTerminalParams) (
	o host.CreateOptions, bad *ahp.Error,
) {
	uri, ok := c.ChannelURI(p.Channel)
	if !ok {
		return o, badURI
	}
	if _, ok := ahp.TerminalName(uri); !ok {
		return o, ahp.FieldProblem("channel",
			"must be a terminal's: the last path segment is its name, 1 to 64 of A-Z a-z 0-9 . _ -")
	}
	switch p.ExecutionTarget {
	case "", ahp.ExecutorServer, ahp.ExecutorClient:
	default:
		return o, ahp.FieldProblem("executionTarget", `must be "server" or "client"`)
	}
	if p.Claim == nil {
		return o, ahp.FieldProblem("claim",
			"is missing: a terminal is always held by a client or a session")
	}
	o = host.CreateOptions{
		URI: uri, Title: p.Name, Claim: *p.Claim, Cols: host.DefaultCols, Rows: host.DefaultRows,
	}
	if p.Meta != nil && p.Meta.Termhost != nil {
		o.Labels = p.Meta.Termhost.Labels
	}
	if p.ExecutionTarget == ahp.ExecutorClient {
		return o, addClient(&o, p)
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

// addClient adds what createTerminal says of a client-executed terminal.
func addClient(o *host.CreateOptions, p ahp.CreateTerminalParams) *ahp.Error {
	o.Client = &host.ClientOptions{Cwd: p.Cwd}
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
	o.Client.Stream = x.IsPty != nil && !*x.IsPty
	if x.Grace != "" {
		grace, err := time.ParseDuration(x.Grace)
		if err != nil || grace < 0 {
			return ahp.FieldProblem("_meta.termhost.grace", `must be a duration, such as "30s"`)
		}
		o.Client.Grace = grace
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
func addSize(o *host.CreateOptions, p ahp.CreateTerminalParams) *ahp.Error {
	if p.Cols != nil {
		if o.Cols = *p.Cols; o.Cols < 1 || o.Cols > host.MaxCols {
			return ahp.FieldProblem("cols", "must be 1 to 1000")
		}
	}
	if p.Rows != nil {
		if o.Rows = *p.Rows; o.Rows < 1 || o.Rows > host.MaxRows {
			return ahp.FieldProblem("rows", "must be 1 to 500")
		}
	}
	return nil
}

// addExtras adds what createTerminal's _meta.termhost says.
func addExtras(o *host.CreateOptions, x *ahp.CreateTerminalExtras) *ahp.Error {
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
		if !host.ValidEnv(k, v) {
			return ahp.FieldProblem("_meta.termhost.env",
				"has a name that no environment variable can have, or a value with a NUL")
		}
		o.Env = append(o.Env, k+"="+v)
	}
	return nil
}
