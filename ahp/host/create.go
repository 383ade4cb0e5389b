package host

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"termhost/ahp"
	"termhost/ahp/commandline"
	"termhost/ahp/store"
	"termhost/authz"
	"termhost/ptypool"
)

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
	return t, t.approvals.starting, nil
}

// start is Host.start for the connection's principal. It waits for a person's yes if the start
// needs one.
func (c *Conn) start(o CreateOptions) (*Terminal, error) {
	o.conn = c
	t, err := c.host.start(c.principal, o)
	if err != nil || t.approvals.starting == nil {
		return t, err
	}
	if o.Held != nil {
		o.Held(t.approvals.starting)
	}
	return t, t.approvals.starting.Wait(c.ctx)
}

// start makes a terminal and starts its process. Its output is not read before open is called.
func (h *Host) start(p authz.Principal, o CreateOptions) (*Terminal, error) {
	owner, err := h.complete(p, &o)
	if err != nil {
		return nil, err
	}
	t := &Terminal{
		host: h, exec: o.exec, tap: o.Tap, tag: o.Tag, renamed: o.KeepTitle,
		origin: origin{created: h.now(), creator: p, createdBy: o.by(p), forced: o.Forced},
	}
	t.begin()
	t.life.transient, t.recorder.recorded, t.keyboard.holder = o.Transient, o.Record, owner
	if owner.agent != "" {
		t.origin.createdBy = owner.name
	}
	if len(o.Argv) > 0 || o.Line != "" {
		t.commands.typist.last = t.origin.createdBy // of what the program begins by itself
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
	t.log.keep()
	if err := start(); err != nil {
		close(t.life.started) // a process that started during a shutdown is read to its end
		h.mu.Lock()
		h.forgetLocked(t)
		h.mu.Unlock()
		h.janitor.sweep(t.log.journal.Remove())
		t.ch.Remove()
		if errors.Is(err, ptypool.ErrShutdown) {
			if t.term != nil {
				<-t.term.Done() // the pool is killing it
			}
			return ErrClosed
		}
		return err
	}
	t.emit(Event{Kind: EventCreated, By: t.origin.createdBy, from: by}) // nobody else knows t yet
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
	close(t.life.started)
	t.term.Lock()
	defer t.term.Unlock()
	t.waiting.noteActivity()
	t.waiting.noteOutput()
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
	if err := h.mayCreateLocked(t.origin.creator); err != nil {
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
	t.output.lastCwd = st.Cwd
	keyboard := t.exec.kind() == authz.Server && !t.Piped()
	h.guardNewLocked(t, o, keyboard)
	st.Termhost.Guarded, st.Termhost.Holder = t.approvals.on, t.keyboard.holder.text()
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
