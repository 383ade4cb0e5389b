package host

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"termhost/ahp"
	"termhost/ahp/commandline"
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
	URI   string // normalized, with a legal NAME; "": made from Name
	Name  string // "": the host chooses; ignored if there is a URI
	Base  string // what a NAME that the host chooses begins with; "": the program's name
	Fresh bool   // a NAME that the host chooses is never given to another terminal
	Title string // "": the NAME
	// KeepTitle makes the title stay when the program sets another.
	KeepTitle bool
	// Dir may begin with ~/ and is relative to the home directory; "": the home directory.
	Dir string

	// What runs: Argv, or else Line by the shell with -c, or else the shell.
	Argv  []string
	Line  string
	Login *bool // run the shell as a login shell; nil: as configured

	Cols, Rows int    // 0: 80x24; otherwise clamped to 1..MaxCols and 1..MaxRows
	Term       string // the creator's TERM, which is used if this host's terminfo has it

	// ClientEnv is what a client asked for, "NAME=value" each, of which LANG, LC_* and COLORTERM
	// are set. Env is set as it is and overrides all else, the configuration included.
	ClientEnv []string
	Env       []string
	TTYVar    string // a variable to be set to the terminal's device; "": none

	Claim     ahp.Claim // the zero Claim: the clientId of the principal's SSH sessions
	Agent     string    // what the agent of a session's claim calls itself; "": it has not said
	By        string    // how the one who makes it is called, see [Conn.Name]; "": as its principal
	Transient bool      // forgotten once it has exited while its creator watches
	Detached  bool      // of one on pipes: it goes on when the connection ends, see Streams.Detach
	Guarded   bool      // what agents type waits for approval, whatever the configuration
	Forced    bool      // it runs the principal's forced command
	Record    bool      // what it shows is recorded, whatever the configuration

	// DoorEnv is as Env, which overrides it: what the door adds by itself. Held, if not nil, is
	// called when the start waits for a person's yes.
	DoorEnv []string
	Held    func(*Starting)

	// Tap, if not nil, gets all visible output exactly once, as it comes. It is called with the
	// Term's lock held, so it must not block; nor may it keep p.
	Tap func(p []byte)
	// Tag is kept with the terminal, for a door that asks for it: see [Host.Tagged].
	Tag string

	conn  *Conn    // whose peer asks; nil: the host itself does, for a principal
	exec  executor // nil: a serverExecutor
	piped bool     // it runs on pipes, see CreatePiped
	exact bool     // see CreateExact
}

// by returns how the one who makes the terminal is called.
func (o *CreateOptions) by(p authz.Principal) string { return cmp.Or(o.By, nameOf(p)) }

// Create starts a terminal for p, who is no agent. It returns once the process runs. Errors are
// *authz.Denied,
// *ExistsError, *NameError, *DirError, *ahp.Error for a claim that names nobody,
// *admit.QuotaError, *ptypool.LimitError, *ptypool.StartError, and ErrClosed while the host shuts
// down.
func (h *Host) Create(p authz.Principal, o CreateOptions) (*Terminal, error) {
	t, err := h.start(p, o)
	if err != nil {
		return nil, err
	}
	h.open(t)
	return t, nil
}

// CreateAttached is [Host.Create] for the connection's principal, and then [Conn.Attach] before
// anything has been printed. If the second fails, the terminal is disposed.
func (c *Conn) CreateAttached(o CreateOptions, ao AttachOptions) (
	a *Attach, first []byte, err error,
) {
	if c.ctx.Err() != nil {
		return nil, nil, context.Cause(c.ctx)
	}
	t, err := c.start(o)
	if err != nil {
		return nil, nil, err
	}
	a, first, err = c.Attach(t, ao)
	c.host.open(t)
	if err != nil {
		c.host.remove(t, "")
	}
	return a, first, err
}

// Create is [Host.Create] for the connection's principal. If that is an agent whose program needs
// a person's yes, it waits for that, and fails with a [*NotStartedError] without it.
func (c *Conn) Create(o CreateOptions) (*Terminal, error) {
	t, err := c.start(o)
	if err != nil {
		return nil, err
	}
	c.host.open(t)
	return t, nil
}

// Begin is Create without the wait: starting, if not nil, says how the program's start goes.
func (c *Conn) Begin(o CreateOptions) (t *Terminal, starting *Starting, err error) {
	o.conn = c
	if t, err = c.host.start(c.principal, o); err != nil {
		return nil, nil, err
	}
	c.host.open(t)
	return t, t.starting, nil
}

// start is Host.start for the connection's principal. It waits for a person's yes if the start
// needs one.
func (c *Conn) start(o CreateOptions) (*Terminal, error) {
	o.conn = c
	t, err := c.host.start(c.principal, o)
	if err != nil || t.starting == nil {
		return t, err
	}
	if o.Held != nil {
		o.Held(t.starting)
	}
	return t, t.starting.Wait(c.ctx)
}

// start makes a terminal and starts its process. Its output is not read before open is called.
func (h *Host) start(p authz.Principal, o CreateOptions) (*Terminal, error) {
	owner, err := h.complete(p, &o)
	if err != nil {
		return nil, err
	}
	t := &Terminal{
		host: h, created: h.now(), creator: p, transient: o.Transient, forced: o.Forced,
		exec: o.exec, tap: o.Tap, tag: o.Tag, recorded: o.Record, holder: owner,
		renamed: o.KeepTitle,
		started: make(chan struct{}), done: make(chan struct{}), gone: make(chan struct{}),
		createdBy: o.by(p),
	}
	if owner.agent != "" {
		t.createdBy = owner.name
	}
	if len(o.Argv) > 0 || o.Line != "" {
		t.typist.last = t.createdBy // of what the program begins by itself
	}
	if t.exec == nil {
		t.exec = &serverExecutor{}
	}
	if err := t.exec.start(t, o); err != nil {
		return nil, err
	}
	h.log.Info("terminal created", "name", t.Name(), "principal", p.Name)
	return t, nil
}

// complete checks the options, fills in what they leave out, and returns who is to hold the
// terminal.
func (h *Host) complete(p authz.Principal, o *CreateOptions) (owner holder, err error) {
	if err := authz.Check(p, authz.Create, authz.Target{Forced: o.Forced}); err != nil {
		return owner, err
	}
	if o.URI == "" && o.Name != "" && !ahp.ValidName(o.Name) {
		return owner, &NameError{o.Name}
	}
	if o.Dir == "~" || strings.HasPrefix(o.Dir, "~/") {
		o.Dir = filepath.Join(h.homeDir(), o.Dir[1:])
	}
	if o.Dir != "" && !filepath.IsAbs(o.Dir) {
		o.Dir = filepath.Join(h.homeDir(), o.Dir)
	}
	if err := checkDir(o.Dir); err != nil {
		return owner, err
	}
	if o.Cols == 0 || o.Rows == 0 {
		o.Cols, o.Rows = defaultCols, defaultRows
	}
	o.Cols, o.Rows = ptypool.ClampSize(o.Cols, o.Rows)
	if o.Claim.Kind == "" {
		o.Claim = ahp.ClientClaim(h.sshClient(p))
	}
	if !validClaim(o.Claim) {
		return owner, ahp.FieldProblem("claim",
			"must name a clientId or a session of at most 256 bytes")
	}
	owner, ok := h.holderOf(o.Claim, p, o.by(p))
	if !ok {
		return owner, ahp.FieldProblem("claim", "names a clientId that nobody here uses")
	}
	if o.Agent != "" {
		owner.agent = label(o.Agent)
		owner.name = agentName(p, o.Agent)
	}
	return owner, nil
}

// run starts the Term of a registered terminal, for by, which may be nil. From then on others find
// the terminal; if it fails, the registration is taken back.
func (h *Host) run(t *Terminal, by *Conn, start func() error) error {
	t.keep()
	if err := start(); err != nil {
		close(t.started) // a process that started during a shutdown is read to its end
		h.mu.Lock()
		h.forgetLocked(t)
		h.mu.Unlock()
		h.janitor.sweep(t.journal.Remove())
		t.ch.Remove()
		if errors.Is(err, ptypool.ErrShutdown) {
			if t.term != nil {
				<-t.term.Done() // the pool is killing it
			}
			return ErrClosed
		}
		return err
	}
	t.emit(Event{Kind: EventCreated, By: t.createdBy, from: by}) // nobody else knows t yet
	h.mu.Lock()
	h.order = append(h.order, t)
	h.terminals[t.uri] = t
	if h.closed {
		t.exec.forget() // Shutdown did not see this terminal
	}
	h.mu.Unlock()
	t.ch.List()
	h.list.changed()
	h.janitor.exited() // it makes another spare
	return nil
}

// open has the output of a terminal read that start has made.
func (h *Host) open(t *Terminal) {
	close(t.started)
	t.term.Lock()
	defer t.term.Unlock()
	t.stir()
	t.stirQuiet()
}

// defaultScrollbackBytes is how much output is retained unless the configuration says otherwise:
// ten thousand lines of text.
const defaultScrollbackBytes = 1 << 20

// defaultLogBytes is the size of a log unless the configuration says otherwise.
const defaultLogBytes = 4 << 20

func (h *Host) logBytes() int { return cmp.Or(h.cfg().LogBytes, defaultLogBytes) }

// screen returns the options of a screen for programs that have term as their TERM. Its history is
// bounded in bytes like the content, so that both reach back about as far.
func (h *Host) screen(term string) vt.Options {
	most := cmp.Or(h.cfg().ScrollbackBytes, defaultScrollbackBytes)
	return vt.Options{
		Version: h.cfg().Version, Term: term, ScrollbackLines: most, ScrollbackBytes: most,
	}
}

// register gives t its NAME, URI and channel. cwd is the directory that it starts in, a file URI,
// and base what a NAME that the host chooses begins with. Others find t once it has started.
func (h *Host) register(t *Terminal, o CreateOptions, cwd, base string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrClosed
	}
	name := ""
	switch {
	case o.URI != "":
		t.uri = o.URI
		name, _ = ahp.TerminalName(o.URI)
	case o.Name != "":
		name = o.Name
	default:
		name = h.freeNameLocked(base, o.Fresh)
	}
	if h.names[name] != nil {
		return &ExistsError{name}
	}
	if t.uri == "" {
		t.uri = h.freeURILocked(name)
	}
	t.id, _ = ahp.TerminalName(t.uri)
	t.naming.Store(&naming{name: name})
	if err := h.mayCreateLocked(t.creator); err != nil {
		return err
	}
	title := CleanTitle(o.Title)
	if title == "" {
		title = name
	}
	st := ahp.TerminalState{
		Title: title, Cwd: cwd, Cols: o.Cols, Rows: o.Rows, Claim: o.Claim,
		Client: t.Client(), IsPty: t.exec.isPty(),
	}
	t.lastCwd = st.Cwd
	keyboard := t.exec.kind() == authz.Server && !t.Piped()
	h.guardNewLocked(t, o, keyboard)
	st.Termhost.Guarded, st.Termhost.Holder = t.guard.on, t.holder.text()
	st.Termhost.Name = t.otherName()
	ch, err := h.store.Add(t.uri, st)
	if errors.Is(err, store.ErrExists) {
		return &ExistsError{name}
	}
	if err != nil {
		return err
	}
	t.ch = ch
	h.names[name] = t
	return nil
}

// spec returns what runs on a pty or pipes, and what a NAME made from it begins with.
func (h *Host) spec(o CreateOptions) (s ptypool.Spec, base string) {
	shell := h.userShell()
	login := h.cfg().Login
	if o.Login != nil {
		login = *o.Login
	}
	term := ""
	switch {
	case o.exact && o.Term != "":
		term = o.Term
	case !o.piped:
		term = h.termFor(o.Term)
	}
	s = ptypool.Spec{
		Dir: o.Dir, Cols: o.Cols, Rows: o.Rows, Env: h.environment(shell, term, o),
		TTYVar: o.TTYVar, VT: h.screen(term),
	}
	if s.Dir == "" {
		s.Dir = h.homeDir()
	}
	switch {
	case len(o.Argv) > 0:
		s.Argv, base = o.Argv, commandline.Program(o.Argv)
	case o.Line != "":
		s.Argv = []string{shell, "-c", o.Line} // as sshd does; no login shell
		base = commandline.ProgramOf(o.Line)
	default:
		s.Argv, base = []string{shell}, filepath.Base(shell)
		if login {
			s.Argv0 = "-" + base
		}
	}
	// A shell that reads a pipe has no prompt and no commands to tell of.
	if !o.piped && !o.exact {
		h.integrate(&s, o, login)
	}
	return s, base
}

// checkDir returns a *DirError unless dir is "" or a directory of this host.
func checkDir(dir string) error {
	if dir == "" {
		return nil
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
