package host

import (
	"cmp"
	"context"
	"errors"
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
	URI   string // normalized, with a legal NAME; "": made from Name
	Name  string // NAME; "": chosen by the host. Without meaning if there is a URI
	Base  string // what a NAME that the host chooses begins with; "": the program's name
	Fresh bool   // no other terminal gets a NAME that the host chooses, ever after
	Title string // "": the NAME
	// KeepTitle makes the title stay when the program sets another.
	KeepTitle bool
	Dir       string // from the home directory; "": that itself

	// What runs: Argv literally, or Line through the shell's -c, or the shell.
	Argv  []string
	Line  string
	Login *bool // of the shell; nil: as configured

	Cols, Rows int    // 0: 80x24; otherwise clamped to 1..MaxCols and 1..MaxRows
	Term       string // the creator's TERM; taken if this host's terminfo has it

	// ClientEnv is what a client asked for, "NAME=value" each; of it LANG, LC_*
	// and COLORTERM are taken. Env is taken as it is and wins, also over the
	// configuration.
	ClientEnv []string
	Env       []string
	NoEcho    bool   // see ptypool.Spec
	TTYVar    string // a variable to be set to the terminal's device; "": none

	Claim     ahp.Claim // the zero Claim: the clientId of the principal's SSH sessions
	Agent     string    // what the agent of a session's claim says that it is called; "": nothing
	Transient bool      // disposed once exited while its creator watches
	Forced    bool      // the principal's forced command

	// Tap, if not nil, is given all visible output as it comes, none lost and none
	// twice, under the Term's lock: it must not block, nor keep p.
	Tap func(p []byte)

	client *clientOptions // nil: the host runs it
}

// Create starts a terminal for p. It returns once the process runs. Errors are
// *authz.Denied, *ExistsError, *NameError, *DirError, *ahp.Error for a claim
// that names nobody, *ptypool.LimitError, *ptypool.StartError, and ErrClosed
// while the host goes down.
func (h *Host) Create(p authz.Principal, o CreateOptions) (*Terminal, error) {
	t, err := h.start(p, o)
	if err != nil {
		return nil, err
	}
	h.open(t)
	return t, nil
}

// CreateAttached is [Host.Create] for the connection's principal, and
// [Conn.Attach] before anything has been printed. If it cannot be attached to,
// the terminal is disposed.
func (c *Conn) CreateAttached(o CreateOptions, ao AttachOptions) (a *Attach, first []byte, err error) {
	if c.ctx.Err() != nil {
		return nil, nil, context.Cause(c.ctx)
	}
	t, err := c.host.start(c.principal, o)
	if err != nil {
		return nil, nil, err
	}
	a, first, err = c.Attach(t, ao)
	c.host.open(t)
	if err != nil {
		c.host.remove(t)
	}
	return a, first, err
}

// start makes a terminal and starts its process, whose output waits for open.
func (h *Host) start(p authz.Principal, o CreateOptions) (*Terminal, error) {
	if err := authz.Check(p, authz.Create, authz.Target{Forced: o.Forced}); err != nil {
		return nil, err
	}
	if o.URI == "" && o.Name != "" && !ahp.ValidName(o.Name) {
		return nil, &NameError{o.Name}
	}
	if o.Dir != "" && !filepath.IsAbs(o.Dir) {
		o.Dir = filepath.Join(h.homeDir(), o.Dir)
	}
	if err := checkDir(o.Dir); err != nil {
		return nil, err
	}
	if o.Cols == 0 || o.Rows == 0 {
		o.Cols, o.Rows = defaultCols, defaultRows
	}
	o.Cols, o.Rows = ptypool.ClampSize(o.Cols, o.Rows)
	if o.Claim.Kind == "" {
		o.Claim = ahp.ClientClaim(h.sshClient(p))
	}
	if !validClaim(o.Claim) {
		return nil, ahp.FieldProblem("claim", "must name a clientId or a session of at most 256 bytes")
	}
	owner, ok := h.holderOf(o.Claim, p)
	if !ok {
		return nil, ahp.FieldProblem("claim", "names a clientId that nobody here uses")
	}
	if o.Agent != "" {
		owner.agent = Printable(o.Agent)
		owner.name = owner.agent + " (" + owner.name + ")"
	}
	t := &Terminal{host: h, created: h.now(), creator: p, transient: o.Transient, forced: o.Forced, holder: owner,
		renamed: o.KeepTitle, tap: o.Tap,
		started: make(chan struct{}), done: make(chan struct{}), gone: make(chan struct{})}
	begin := h.startServer
	if o.client != nil {
		begin = h.startClient
	}
	if err := begin(t, o); err != nil {
		return nil, err
	}
	h.log.Info("terminal created", "name", t.name, "principal", p.Name)
	return t, nil
}

// startServer registers t and starts its process.
func (h *Host) startServer(t *Terminal, o CreateOptions) error {
	spec, base := h.spec(o)
	if err := h.register(t, o, ahp.FileURI(spec.Dir), cmp.Or(o.Base, base)); err != nil {
		return err
	}
	t.mark = h.pool.NewMark()
	spec.Mark = t.mark
	h.origins.add(t.mark, origin{t.creator, h.proofOf(t.creator)})
	err := h.run(t, func() error {
		_, err := h.pool.Start(spec, events{t})
		return err
	})
	if err != nil {
		h.origins.end(t.mark)
	}
	return err
}

// run starts the Term of a registered terminal, which is then found by others, or
// takes the registration back.
func (h *Host) run(t *Terminal, start func() error) error {
	if err := start(); err != nil {
		close(t.started) // it may have started before a shutdown was noticed
		h.mu.Lock()
		h.forgetLocked(t)
		h.mu.Unlock()
		t.ch.Remove()
		if errors.Is(err, ptypool.ErrShutdown) {
			if t.term != nil {
				<-t.term.Done() // it is being killed
			}
			return ErrClosed
		}
		return err
	}
	h.mu.Lock()
	h.order = append(h.order, t)
	h.terminals[t.uri] = t
	if h.closed {
		t.brake.release() // Shutdown has not seen it
	}
	h.mu.Unlock()
	t.ch.List()
	h.list.changed()
	return nil
}

// open lets the output of a started terminal be read.
func (h *Host) open(t *Terminal) { close(t.started) }

// defaultScrollbackBytes is how much output is kept unless the configuration says
// otherwise: ten thousand lines of text.
const defaultScrollbackBytes = 1 << 20

// screen returns the options of a screen whose programs are told that they run in
// term. Its history is bounded in bytes as the content is, so that both reach
// about as far back.
func (h *Host) screen(term string) vt.Options {
	most := cmp.Or(h.cfg.ScrollbackBytes, defaultScrollbackBytes)
	return vt.Options{Version: h.cfg.Version, Term: term, ScrollbackLines: most, ScrollbackBytes: most}
}

// register gives t its NAME, URI and channel. cwd is where it starts, a file URI,
// and base what a NAME that the host chooses begins with. It is found by others
// only once it has started.
func (h *Host) register(t *Terminal, o CreateOptions, cwd, base string) error {
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
		t.name = h.freeNameLocked(base, o.Fresh)
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
	st := ahp.TerminalState{Title: title, Cwd: cwd, Cols: o.Cols, Rows: o.Rows, Claim: o.Claim,
		Client: o.client != nil, IsPty: o.client == nil || !o.client.stream}
	t.lastCwd = st.Cwd
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
func (h *Host) spec(o CreateOptions) (s ptypool.Spec, base string) {
	shell := h.userShell()
	login := h.cfg.Login
	if o.Login != nil {
		login = *o.Login
	}
	term := h.termFor(o.Term)
	s = ptypool.Spec{Dir: o.Dir, Cols: o.Cols, Rows: o.Rows, Env: h.environment(shell, term, o), TTYVar: o.TTYVar, NoEcho: o.NoEcho,
		VT: h.screen(term)}
	if s.Dir == "" {
		s.Dir = h.homeDir()
	}
	switch {
	case len(o.Argv) > 0:
		s.Argv = o.Argv
		return s, filepath.Base(o.Argv[0])
	case o.Line != "":
		s.Argv = []string{shell, "-c", o.Line} // as sshd does; no login shell
		return s, firstWord(o.Line)
	}
	h.interactive(&s, shell, login)
	return s, filepath.Base(shell)
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
