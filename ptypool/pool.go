package ptypool

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"termhost/ptypool/environ"
	"termhost/ptypool/nonce"
	"termhost/ptypool/vt"
)

const (
	// DefaultMaxTerminals bounds running and virtual terminals: 64 threads and a few hundred MiB
	// suffice for them.
	DefaultMaxTerminals = 500
	// DefaultInputQueue, in bytes, is how much input waits for one program that does not read: a
	// large paste.
	DefaultInputQueue = 1 << 20
	// shutdownGrace is the time that Shutdown gives processes between SIGHUP and SIGKILL: as much
	// as they have when a terminal is disposed.
	shutdownGrace = 2 * time.Second
	// maxTerminalsKey is the configuration key that LimitError names.
	maxTerminalsKey = "terminal.max_terminals"
)

// Config sets a Pool's limits. The zero value is useful. Pools with the same Realm, such as a
// host's before and after a restart, recognise each other's terminals by the marker.
type Config struct {
	MaxTerminals int          // running and virtual terminals; 0: DefaultMaxTerminals
	InputQueue   int          // bytes of input that wait per terminal; 0: DefaultInputQueue
	Starter      Starter      // starts the programs of terminals; nil: this process does
	Realm        string       // whose terminals Find knows; "": this Pool's only
	Log          *slog.Logger // gets errors about processes, never payloads; nil: they are dropped
}

// Pool starts terminals and knows the running ones. All methods may be called from any goroutine.
type Pool struct {
	cfg    Config
	reaper *reaper
	bufs   sync.Pool // *readBuffer, borrowed while there is output
	meter  Meter

	mu        sync.Mutex // guards the fields below; no other lock is taken under it
	terms     map[*Term]struct{}
	processes map[*Process]struct{}
	ended     []*processTree // of terminals that have ended, at most maxEnded, the youngest last
	slots     int            // terminals counted against most, those being started included
	most      int            // Config.MaxTerminals, or what SetMaxTerminals has put in its place
	closed    bool
	newest    []string // markers, at most maxNewest, the youngest last

	searches searches // see FindPeer
}

// New returns a Pool. It also makes sure that children of this process start clean: inherited
// descriptors are made close-on-exec, and signals that were ignored when this process started
// (nohup, a script's &) get a handler that drops them, because an ignored signal would stay ignored
// in every child (signal(7)) and a handled one does not.
func New(cfg Config) *Pool {
	if cfg.InputQueue <= 0 {
		cfg.InputQueue = DefaultInputQueue
	}
	if cfg.Realm == "" {
		cfg.Realm = rand.Text()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if err := sealDescriptors(); err != nil {
		cfg.Log.Warn("inherited descriptors may reach children", "err", err)
	}
	unignoreSignals()
	p := &Pool{
		cfg:       cfg,
		reaper:    newReaper(cfg.Log),
		bufs:      sync.Pool{New: func() any { return new(readBuffer) }},
		meter:     Meter{much: make(chan struct{}, 1)},
		terms:     make(map[*Term]struct{}),
		processes: make(map[*Process]struct{}),
	}
	p.SetMaxTerminals(cfg.MaxTerminals)
	return p
}

// SetMaxTerminals replaces Config.MaxTerminals. If there are more already, they stay.
func (p *Pool) SetMaxTerminals(n int) {
	if n <= 0 {
		n = DefaultMaxTerminals
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.most = n
}

// Spec describes a terminal to start. All slices are copied.
type Spec struct {
	// Argv is the program and its arguments. A name without a slash is looked up in the PATH of
	// Env, one with a slash is relative to Dir.
	Argv []string
	// Argv0 is what the program sees as its own name; "": Argv[0]. A leading "-" makes a shell a
	// login shell.
	Argv0 string
	// Dir is the working directory; "": that of this process.
	Dir string
	// Env is the whole environment, "NAME=value" each; see Env. MarkerVariable is added to it.
	Env []string
	// Marker is the value of MarkerVariable, from NewMarker; "": a new one.
	Marker string
	// TTYVar, if not empty, names a variable that is set to the terminal's device (sshd's SSH_TTY).
	TTYVar string
	// Cols and Rows are clamped to 1..MaxCols and 1..MaxRows.
	Cols, Rows int
	// Pixels is how large that is; 0: unknown.
	Pixels Pixels
	// Modes are those of a new pty, as in package ttymodes; "": the system's.
	Modes string
	// VT configures the parser and the screen.
	VT vt.Options
	// Grant is the nonce of a shell on a pty; nil: it gets none. Its marks end with [nonce.Genuine]
	// where the handler and the parser see them.
	Grant *nonce.Grant
	// Keep is for Config.Starter.
	Keep Keep
}

// Start runs a program on a new pty, in a process session of its own. It fails with a *StartError,
// a *LimitError or ErrShutdown. From then on h is called; if Shutdown is called meanwhile, h may be
// called although Start fails.
func (p *Pool) Start(s Spec, h Handler) (*Term, error) { return p.StartExact(s, nil, h) }

// StartExact is Start for a program whose exact output is read beside the Term's screen: every byte
// goes to exact first, which must not retain it. A Write may block, which stops the program when
// the pty is full. After a failed Write, exact gets nothing more. It is closed at the end of the
// output, before the exit is reported, but not if the program does not start. nil: nobody reads the
// exact output.
func (p *Pool) StartExact(s Spec, exact io.WriteCloser, h Handler) (*Term, error) {
	if err := p.reserve(); err != nil {
		return nil, err
	}
	p.complete(&s)
	b, err := p.startPTY(&s)
	if err != nil {
		p.release(nil)
		return nil, err
	}
	b.exact = exact
	t := newTerm(p, b, s.Cols, s.Rows, s.VT, h)
	t.setPixels(s.Pixels)
	t.in.to = b
	t.keepLog(&s.Keep)
	return p.run(t)
}

// complete fills in defaults.
func (p *Pool) complete(s *Spec) {
	s.Pixels = s.Pixels.In(s.Cols, s.Rows)
	s.Cols, s.Rows = ClampSize(s.Cols, s.Rows)
	if s.Marker == "" {
		s.Marker = p.NewMarker()
	}
}

// arguments returns what the program gets as its arguments.
func (s *Spec) arguments() []string {
	argv := slices.Clone(s.Argv)
	if s.Argv0 != "" {
		argv[0] = s.Argv0
	}
	return argv
}

// environment returns the program's environment.
func (s *Spec) environment() []string {
	return environ.Set(slices.Clone(s.Env), MarkerVariable, s.Marker)
}

// Virtual makes a Term without a process: its owner feeds it (Term.Feed) and ends it (Term.End).
func (p *Pool) Virtual(cols, rows int, o vt.Options, h Handler) (*Term, error) {
	if err := p.reserve(); err != nil {
		return nil, err
	}
	cols, rows = ClampSize(cols, rows)
	return p.run(newTerm(p, nil, cols, rows, o, h))
}

// Len returns the number of running and virtual terminals.
func (p *Pool) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.terms)
}

// Shutdown starts no more terminals, hangs up all of them, kills what is left after a grace, and
// waits until every Term is done and every process is gone. If ctx ends first, the grace ends with
// it, and the error says how many terminals are left.
func (p *Pool) Shutdown(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	terms := make([]*Term, 0, len(p.terms))
	for t := range p.terms {
		terms = append(terms, t)
	}
	processes := slices.Collect(maps.Keys(p.processes))
	p.mu.Unlock()
	for _, process := range processes {
		process.Hangup(shutdownGrace)
	}
	for _, t := range terms {
		if !t.over() { // what an ended one has left in the background stays
			t.Hangup(shutdownGrace)
		}
	}
	for _, t := range terms {
		select {
		case <-t.done:
		case <-ctx.Done():
			p.killAll()
			return fmt.Errorf("ptypool: shutdown: %d terminals are still running: %w",
				p.Len(), context.Cause(ctx))
		}
	}
	select {
	case <-p.reaper.idle():
		return nil
	case <-ctx.Done():
		p.killAll()
		return fmt.Errorf("ptypool: shutdown: processes of ended terminals are still running: %w",
			context.Cause(ctx))
	}
}

// killAll ends all graces and waits for up to killAllTime until no process is left: this process
// may be about to end, and no program should outlive it.
func (p *Pool) killAll() {
	p.reaper.hurry()
	t := time.NewTimer(killAllTime)
	defer t.Stop()
	select {
	case <-p.reaper.idle():
	case <-t.C:
	}
}

// killAllTime is enough for some scans of the process table.
const killAllTime = 500 * time.Millisecond

// reserve takes a slot for one more terminal.
func (p *Pool) reserve() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ErrShutdown
	}
	if p.slots >= p.most {
		return &LimitError{Key: maxTerminalsKey, Limit: p.most}
	}
	p.slots++
	return nil
}

// release releases t's slot; t is nil if no Term was made.
func (p *Pool) release(t *Term) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slots--
	if t != nil {
		delete(p.terms, t)
		p.rememberLocked(t.processTree())
	}
}

// run registers t and starts its goroutines. A Shutdown that began meanwhile has not seen t, so run
// hangs it up.
func (p *Pool) run(t *Term) (*Term, error) {
	t.mu.Lock()
	t.h.Started(t)
	t.mu.Unlock()
	p.mu.Lock()
	p.terms[t] = struct{}{}
	closed := p.closed
	p.mu.Unlock()
	if t.backend != nil {
		go t.run()
	}
	if closed {
		t.Hangup(0)
		return nil, ErrShutdown
	}
	return t, nil
}
