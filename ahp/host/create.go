package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"termhost/ahp"
	"termhost/ahp/store"
	"termhost/authz"
	"termhost/ptypool"
	"termhost/ptypool/vt"
)

// The size of a terminal that nobody gave one (VT100; AHP's clients send theirs).
const (
	defaultCols = 80
	defaultRows = 24
)

// CreateOptions say what to run and how.
type CreateOptions struct {
	URI   string // normalized; "": made from Name
	Name  string // NAME; "": chosen by the host
	Title string // "": the NAME
	Dir   string // absolute; "": the home directory

	// What runs: Argv literally, or Line through the shell's -c, or the shell.
	Argv  []string
	Line  string
	Login *bool // nil: as configured

	Cols, Rows int      // 0: 80x24
	Term       string   // the creator's TERM
	Env        []string // KEY=VALUE, over the host's own

	Claim     ahp.Claim
	Transient bool // disposed once exited while its creator watches
	Forced    bool // the principal's forced command
}

// ExistsError says that a NAME or a URI is taken.
type ExistsError struct{ Name string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("a terminal named %q exists; choose another name, or attach to it", e.Name)
}

// NameError says that a NAME is illegal.
type NameError struct{ Name string }

func (e *NameError) Error() string {
	return fmt.Sprintf("%q is no name for a terminal: use 1 to 64 letters, digits, dots, underscores and dashes", Printable(clip(e.Name)))
}

// DirError says that a terminal cannot start in a directory.
type DirError struct {
	Dir    string
	Reason string
}

func (e *DirError) Error() string {
	return fmt.Sprintf("cannot start in %s: %s", Printable(clip(e.Dir)), e.Reason)
}

// Create starts a terminal for p, claimed by it. Errors: *authz.Denied,
// *ExistsError, *NameError, *DirError, *ptypool.LimitError, *ptypool.StartError.
func (h *Host) Create(p authz.Principal, o CreateOptions) (*Terminal, error) {
	t, err := h.start(p, o)
	if err != nil {
		return nil, err
	}
	h.open(t)
	return t, nil
}

// CreateAttached is Create for the connection's principal, and [Conn.Attach]
// before anything has been printed.
func (c *Conn) CreateAttached(o CreateOptions, ao AttachOptions) (a *Attach, first []byte, err error) {
	t, err := c.host.start(c.principal, o)
	if err != nil {
		return nil, nil, err
	}
	a, first, err = c.Attach(t, ao)
	c.host.open(t)
	return a, first, err
}

// start makes a terminal and starts its process, whose output waits for open.
func (h *Host) start(p authz.Principal, o CreateOptions) (*Terminal, error) {
	if err := authz.Check(p, authz.Create, authz.Target{Forced: o.Forced}); err != nil {
		return nil, err
	}
	if o.Name != "" && !ahp.ValidName(o.Name) {
		return nil, &NameError{o.Name}
	}
	if err := checkDir(o.Dir); err != nil {
		return nil, err
	}
	if o.Cols == 0 || o.Rows == 0 {
		o.Cols, o.Rows = defaultCols, defaultRows
	}
	if o.Claim.Kind == "" {
		o.Claim = ahp.ClientClaim(h.sshClient(p))
	}
	owner, ok := h.holderOf(o.Claim, p)
	if !ok {
		return nil, ahp.FieldProblem("claim", "names a clientId that nobody here uses")
	}
	t := &Terminal{host: h, created: h.now(), creator: p, transient: o.Transient, forced: o.Forced, holder: owner,
		started: make(chan struct{}), done: make(chan struct{}), gone: make(chan struct{})}
	spec, base := h.spec(p, o)
	if err := h.register(t, o, base); err != nil {
		return nil, err
	}
	spec.VT.ScrollbackLines = scrollbackLines
	if _, err := h.pool.Start(spec, events{t}); err != nil {
		h.mu.Lock()
		h.forgetLocked(t)
		h.mu.Unlock()
		t.ch.Remove()
		return nil, err
	}
	h.mu.Lock()
	h.order = append(h.order, t)
	h.terminals[t.uri] = t
	h.mu.Unlock()
	t.ch.List()
	h.list.changed()
	h.log.Info("terminal created", "name", t.name, "principal", p.Name)
	return t, nil
}

// open lets the output of a started terminal be read.
func (h *Host) open(t *Terminal) { close(t.started) }

// scrollbackLines is how many lines the screen keeps; the content is bounded in
// bytes besides.
const scrollbackLines = 2000

// register gives t its NAME, URI and channel. It is found by others only once
// it has started.
func (h *Host) register(t *Terminal, o CreateOptions, base string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrClosed
	}
	switch {
	case o.URI != "":
		t.uri = o.URI
		t.name, _ = ahp.TerminalName(o.URI)
	case o.Name != "":
		t.name = o.Name
	default:
		t.name = h.freeNameLocked(base)
	}
	if t.uri == "" {
		t.uri = ahp.TerminalURI(t.name)
	}
	if h.names[t.name] != nil {
		return &ExistsError{t.name}
	}
	title := CleanTitle(o.Title)
	if title == "" {
		title = t.name
	}
	st := ahp.TerminalState{Title: title, Cols: o.Cols, Rows: o.Rows, Claim: o.Claim, IsPty: true}
	if o.Dir != "" {
		st.Cwd = ahp.FileURI(o.Dir)
	}
	ch, err := h.store.Add(t.uri, st)
	if errors.Is(err, store.ErrExists) {
		return &ExistsError{t.name}
	}
	if err != nil {
		return err
	}
	t.ch = ch
	h.names[t.name] = t
	return nil
}

// spec says what the pty runs, and what a NAME made from it begins with.
func (h *Host) spec(p authz.Principal, o CreateOptions) (ptypool.Spec, string) {
	shell := h.userShell()
	login := h.cfg.Login
	if o.Login != nil {
		login = *o.Login
	}
	s := ptypool.Spec{Dir: o.Dir, Cols: o.Cols, Rows: o.Rows, VT: vt.Options{Version: h.cfg.Version}}
	if s.Dir == "" {
		s.Dir = homeDir()
	}
	s.Env = h.environment(p, shell, o)
	base := filepath.Base(shell)
	switch {
	case len(o.Argv) > 0:
		s.Argv = o.Argv
		base = filepath.Base(o.Argv[0])
	case o.Line != "":
		s.Argv = []string{shell, "-c", o.Line}
		base = firstWord(o.Line)
	default:
		h.interactive(&s, shell, login)
	}
	return s, base
}

func checkDir(dir string) error {
	if dir == "" {
		return nil
	}
	if !filepath.IsAbs(dir) {
		return &DirError{dir, "it is not an absolute path"}
	}
	st, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &DirError{dir, "there is no such directory on this host"}
	case err != nil:
		return &DirError{dir, "it cannot be read"}
	case !st.IsDir():
		return &DirError{dir, "it is not a directory"}
	}
	return nil
}

// CreateTerminal is AHP's createTerminal. It returns once the pty has started.
func (c *Conn) CreateTerminal(p ahp.CreateTerminalParams) *ahp.Error {
	o, bad := c.createOptions(p)
	if bad != nil {
		return bad
	}
	_, err := c.host.Create(c.principal, o)
	return createError(err)
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
	if p.Claim.Kind == ahp.ClaimClient && p.Claim.ClientID != c.client.id {
		return CreateOptions{}, ahp.FieldProblem("claim", "must name your own clientId")
	}
	o := CreateOptions{URI: uri, Title: p.Name, Claim: *p.Claim}
	switch p.ExecutionTarget {
	case "", ahp.ExecutorServer:
	default:
		return o, ahp.FieldProblem("executionTarget", `must be "server"`)
	}
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
	if p.Cols == nil || p.Rows == nil {
		o.Cols, o.Rows = max(o.Cols, 0), max(o.Rows, 0)
		if o.Cols == 0 {
			o.Cols = defaultCols
		}
		if o.Rows == 0 {
			o.Rows = defaultRows
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
func createError(err error) *ahp.Error {
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
	case errors.As(err, &start):
		return ahp.NewError(ahp.CodeInvalidParams, err.Error(), "field", "_meta.termhost.command")
	case errors.Is(err, ErrClosed):
		return ahp.NewError(ahp.CodeInternal, "the host is shutting down")
	}
	return ahp.NewError(ahp.CodeInternal, "the terminal could not be started; the host's log says why")
}
