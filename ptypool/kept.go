package ptypool

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"termhost/ptypool/environ"
	"termhost/ptypool/keeper"
	"termhost/ptypool/nonce"
	"termhost/ptypool/script"
	"termhost/ptypool/vt"
)

// Starter starts programs as children of another process, which outlives this one. A [keeper.Link]
// is one.
type Starter interface {
	// Start starts p. The files of m still belong to the caller. It fails with the system's error
	// (syscall.Errno) if the program cannot be executed. If p starts after Start has failed, late
	// gets it, on a goroutine of its own.
	Start(p keeper.Program, m keeper.Memory, late func(*keeper.Child)) (*keeper.Child, error)
}

// Keep has what a keeper must know to continue a terminal without this process. The zero value is
// for a terminal without a log.
type Keep struct {
	ID     string // by which it is found again; "": the marker
	Note   []byte // for the host that takes it; at most some KiB
	Log    string // the folder of its log, absolute; "": there is none there
	Memory keeper.Memory
	Exit   string // of a log in memory: see keeper.Program
	// LogEnd returns the position after the last record of the log. It is called with the Term's
	// lock held, right before the handler gets output to log, so that output that was read but not
	// logged is found if this process is killed. nil: there is no log.
	LogEnd func() int64
	// Deferred is the log if it takes output over and writes it later; nil: it does not. Only
	// terminals on a pty use it: what programs on pipes print is logged at once.
	Deferred DeferredLog
}

// DeferredLog is a log that writes what several batches of output have brought at once. Until then
// the output is in the keeper's memory, from which it is logged if this process is killed.
type DeferredLog interface {
	// Defer passes the batch of which the handler's next Output gets the bytes. The log calls Hold,
	// and later, from any goroutine, Place and Free. The Term's lock is held.
	Defer(b keeper.Batch)
	// Flush logs what was deferred, and frees it. It may be called by any goroutine, with the
	// Term's lock or without.
	Flush()
}

// startPTY runs s on a new pty, of the keeper's if there is one. It fails with a *StartError.
func (p *Pool) startPTY(s *Spec) (*ptyBackend, error) {
	if p.cfg.Starter == nil {
		return startPTY(s, p.reaper)
	}
	k, err := p.startKept(s, false)
	if err != nil {
		return nil, err
	}
	b, err := newKeptPTY(k, s.Marker, p.reaper)
	if err != nil {
		_ = syscall.Kill(-k.Pid, syscall.SIGKILL)
		return nil, &StartError{Name: "a pseudo terminal", Err: err}
	}
	return b, nil
}

// startPipes runs s on new pipes, of the keeper's if there is one. It fails with a *StartError.
func (p *Pool) startPipes(s *Spec) (*pipeBackend, error) {
	if p.cfg.Starter == nil {
		return startPipes(s, p.reaper)
	}
	k, err := p.startKept(s, true)
	if err != nil {
		return nil, err
	}
	b, err := newKeptPipes(k, s.Marker, p.reaper)
	if err != nil {
		_ = syscall.Kill(-k.Pid, syscall.SIGKILL)
		return nil, &StartError{Name: "a program's pipes", Err: err}
	}
	return b, nil
}

// startKept has the keeper start s. It fails with a *StartError.
func (p *Pool) startKept(s *Spec, pipes bool) (*keeper.Child, error) {
	path, err := s.resolve()
	if err != nil {
		return nil, err
	}
	program := keeper.Program{
		ID: s.Keep.ID, Marker: s.Marker, Path: path, Argv: s.arguments(), Env: s.environment(),
		Dir: s.Dir, Pipes: pipes, Cols: s.Cols, Rows: s.Rows, Width: s.Pixels.Width,
		Height: s.Pixels.Height, Modes: []byte(s.Modes), TTYVar: s.TTYVar, Log: s.Keep.Log,
		Exit: s.Keep.Exit, Note: s.Keep.Note, Grant: s.Grant,
	}
	if program.ID == "" {
		program.ID = s.Marker
	}
	if s.TTYVar != "" {
		program.Env = environ.Unset(program.Env, s.TTYVar)
	}
	if program.Dir == "" { // the keeper's is another one
		if program.Dir, err = os.Getwd(); err != nil {
			return nil, startError(s.Argv[0], underlying(err))
		}
	}
	k, err := p.cfg.Starter.Start(program, s.Keep.Memory, p.EndKept)
	if errors.Is(err, syscall.ENOEXEC) {
		if argv := script.Argv(s.Dir, path, program.Argv); argv != nil {
			program.Path, program.Argv = script.Shell, argv
			k, err = p.cfg.Starter.Start(program, s.Keep.Memory, p.EndKept)
		}
	}
	if err != nil {
		return nil, s.notExecuted(path, err)
	}
	return k, nil
}

// Take restores a terminal of an earlier process from the keeper's child. s has what this process
// must know: Marker, size, VT and Keep. There may be more terminals than Config.MaxTerminals then.
// It fails with ErrShutdown, or if there is no pty to read; it closes k then.
func (p *Pool) Take(k *keeper.Child, s Spec, h Handler) (*Term, error) {
	if s.VT.Nonce == nonce.Genuine && k.Secret == "" {
		k.Secret = nonce.NewSecret() // no shell has it, so no mark is genuine from now on
	}
	return p.take(k, &s, func() (*Term, error) {
		b, err := newKeptPTY(k, s.Marker, p.reaper)
		if err != nil {
			return nil, err
		}
		// The earlier process may have been killed after it changed the pty's size. Setting the
		// present size again does nothing (tty_ioctl in Linux).
		px := b.pixels(s.Cols, s.Rows)
		_ = b.Resize(s.Cols, s.Rows, px) // it fails when the program has ended
		t := newTerm(p, b, s.Cols, s.Rows, s.VT, h)
		t.setPixels(px)
		t.in.to = b
		return t, nil
	})
}

// TakePiped is Take for a program on pipes. The Term has no exact reader, and the program's input
// ends, because some of it may be lost.
func (p *Pool) TakePiped(k *keeper.Child, s Spec, h Handler) (*Term, error) {
	return p.take(k, &s, func() (*Term, error) {
		b, err := newKeptPipes(k, s.Marker, p.reaper)
		if err != nil {
			return nil, err
		}
		(&Piped{b}).CloseInput()
		t := newTerm(p, b, s.Cols, s.Rows, s.VT, h)
		t.lines = &vt.LineEnds{}
		return t, nil
	})
}

// take is Take, with a Term that makeTerm makes.
func (p *Pool) take(
	k *keeper.Child, s *Spec, makeTerm func() (*Term, error),
) (*Term, error) {
	p.mu.Lock()
	closed := p.closed
	if !closed {
		p.slots++
	}
	p.mu.Unlock()
	if closed {
		k.Close()
		return nil, ErrShutdown
	}
	p.complete(s)
	k.Place(s.Keep.Log, s.Keep.Exit)
	t, err := makeTerm()
	if err != nil {
		p.release(nil)
		return nil, fmt.Errorf("ptypool: taking a terminal: %w", err)
	}
	t.keepLog(&s.Keep)
	return p.run(t)
}

// EndKept ends all processes of a terminal that was taken from the keeper: SIGHUP and, after a
// grace, SIGKILL. It waits until none is left.
func (p *Pool) EndKept(k *keeper.Child) {
	c := keptChild(k, k.Marker, p.reaper, func() {})
	<-c.Hangup(shutdownGrace)
	c.letGo()
}

// EndLeft ends the processes of an earlier host's terminal that no keeper has: SIGHUP and, after a
// grace, SIGKILL. It returns at once; Shutdown waits for the end. It ignores terminals of another
// realm, such as that of the state folder of which ours is a copy.
func (p *Pool) EndLeft(marker string) {
	if !strings.HasPrefix(marker, p.markerPrefix()) {
		return
	}
	tree := newProcessTree(nobody, marker)
	tree.collected(0)
	p.reaper.add(tree, shutdownGrace)
}

// keepLog sets the log. It is called before there is output, after lines is set.
func (t *Term) keepLog(k *Keep) {
	if t.logEnd = k.LogEnd; t.lines == nil {
		t.deferred = k.Deferred
	}
}

// nobody is no process, nor a process session.
const nobody = -1

// newKeptPTY returns a backend for k's pty. When it fails, k is closed.
func newKeptPTY(k *keeper.Child, marker string, r *reaper) (*ptyBackend, error) {
	master, err := ownFD(k, keeper.Master)
	var b *ptyBackend
	if err == nil {
		b, err = newPTYBackend(master)
	}
	if err != nil {
		k.Close()
		return nil, err
	}
	for _, l := range k.Landings {
		l.Seal(k.Secret)
	}
	b.child = keptChild(k, marker, r, b.drain)
	return b, nil
}

// newKeptPipes returns a backend for k's pipes, of which some may have been closed. When it fails,
// k is closed.
func newKeptPipes(k *keeper.Child, marker string, r *reaper) (*pipeBackend, error) {
	b := &pipeBackend{}
	var err error
	if b.stdin.end, err = ownFD(k, keeper.Stdin); err == nil {
		b.stdin.fd, err = b.stdin.end.SyscallConn()
	}
	for _, out := range []struct {
		r    *pipeReader
		name string
	}{{&b.stdout, keeper.Stdout}, {&b.stderr, keeper.Stderr}} {
		if err != nil && !errors.Is(err, errNoEnd) {
			break
		}
		if out.r.end, err = ownFD(k, out.name); err == nil {
			err = out.r.open()
		}
	}
	if err != nil && !errors.Is(err, errNoEnd) {
		b.Close()
		k.Close()
		return nil, err
	}
	for _, l := range k.Landings {
		l.Apart()
	}
	b.child = keptChild(k, marker, r, func() {})
	return b, nil
}

// errNoEnd says that a pipe is closed.
var errNoEnd = errors.New("the keeper no longer has it")

// ownFD returns k's descriptor of that name as a file that does not block. It is not in the
// runtime's poller: see watch.
func ownFD(k *keeper.Child, name string) (*os.File, error) {
	fd := k.TakeFD(name)
	if fd < 0 {
		return nil, fmt.Errorf("%s: %w", name, errNoEnd)
	}
	// os.NewFile uses the poller for descriptors that do not block. The flag is shared with the
	// keeper, which does not use the descriptor now.
	err := unix.SetNonblock(fd, false)
	f := os.NewFile(uintptr(fd), name)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// keptChild returns the child for a program of the keeper's. onExit is called, on a goroutine of
// its own, when it has ended and Wait no longer blocks.
func keptChild(k *keeper.Child, marker string, r *reaper, onExit func()) *child {
	c := &child{
		processTree: newProcessTree(k.Pid, marker), reaper: r, kept: k,
		reaped: make(chan struct{}),
	}
	go c.waitKept(onExit) // ends with the leader
	return c
}

// waitKept is wait for a keeper's child.
func (c *child) waitKept(onExit func()) {
	exit, err := c.kept.Wait()
	c.processTree.collected(exit.Ticks)
	if err != nil {
		c.err = err
	} else {
		c.status = exitStatusOf(exit.Status)
	}
	close(c.reaped)
	onExit()
}

// landing returns the landing of output i; nil: it has none.
func (c *child) landing(i int) *keeper.Landing {
	if c.kept == nil || i >= len(c.kept.Landings) {
		return nil
	}
	return c.kept.Landings[i]
}

// closeEnd has the keeper, if there is one, close its end of a pipe.
func (c *child) closeEnd(name string) {
	if c.kept != nil {
		c.kept.CloseEnd(name)
	}
}

// letGo releases a keeper's child here and at the keeper. Its landings must no longer be in use.
func (c *child) letGo() {
	if c != nil && c.kept != nil {
		c.kept.Forget()
		c.kept.Close()
	}
}
