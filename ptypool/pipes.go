package ptypool

import (
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"termhost/ptypool/keeper"
	"termhost/ptypool/vt"
)

// pipeBackend is a program on three pipes. As with sshd, a pipe ends when no process has its other
// side open any more: what a background process writes after the leader's end still belongs to the
// output. Only a hangup does not wait for it.
type pipeBackend struct {
	*child
	stdin          pipeWriter
	stdout, stderr pipeReader

	exactStdout, exactStderr io.WriteCloser

	hungUp sync.Once
}

// pipeReader is our end of a pipe that the program writes to.
type pipeReader struct {
	*fdReader
	end *os.File
}

// pipeWriter is our end of a pipe that the program reads.
type pipeWriter struct {
	fdWriter
	end *os.File
}

// Piped has the input and output pipes of a Term whose program runs on pipes. Its methods may be
// called by any goroutine.
type Piped struct{ b *pipeBackend }

// StartPiped runs a program as [Pool.Start] does, but on pipes instead of a pty. Every byte that it
// prints goes to stdout or stderr first, which must not retain it, and then to the parser as it
// would come from a terminal: a lone \n as \r\n. A Write may block, which stops the program when
// its pipe is full. Both are closed at the end of their output, before the exit is reported, but
// not when the program does not start. Keys do not reach the program: see [Term.Input].
func (p *Pool) StartPiped(s Spec, stdout, stderr io.WriteCloser, h Handler) (*Term, *Piped, error) {
	if err := p.reserve(); err != nil {
		return nil, nil, err
	}
	p.complete(&s)
	b, err := p.startPipes(&s)
	if err != nil {
		p.release(nil)
		return nil, nil, err
	}
	b.exactStdout, b.exactStderr = stdout, stderr
	t := newTerm(p, b, s.Cols, s.Rows, s.VT, h)
	t.lines = &vt.LineEnds{}
	t.keepLog(&s.Keep)
	if t, err = p.run(t); err != nil {
		return nil, nil, err
	}
	return t, &Piped{b}, nil
}

// startPipes runs s on new pipes. It fails with a *StartError.
func startPipes(s *Spec, r *reaper) (*pipeBackend, error) {
	path, err := s.resolve()
	if err != nil {
		return nil, err
	}
	b := &pipeBackend{}
	var theirs [3]*os.File
	if err = b.open(&theirs); err == nil {
		b.child, err = startChild(path, s.arguments(), &syscall.ProcAttr{
			Dir:   s.Dir,
			Env:   s.environment(),
			Files: []uintptr{theirs[0].Fd(), theirs[1].Fd(), theirs[2].Fd()},
			Sys:   &syscall.SysProcAttr{Setsid: true},
		}, s.Marker, r, func() {})
	}
	for _, f := range theirs {
		if f != nil {
			f.Close()
		}
	}
	if err != nil {
		b.Close()
		return nil, s.notExecuted(path, err)
	}
	return b, nil
}

// open makes the pipes. theirs are the ends for the program, some nil if it fails.
func (b *pipeBackend) open(theirs *[3]*os.File) error {
	var err error
	if theirs[0], b.stdin.end, err = pipe(false); err != nil {
		return err
	}
	if b.stdin.fd, err = b.stdin.end.SyscallConn(); err != nil {
		return err
	}
	for i, r := range []*pipeReader{&b.stdout, &b.stderr} {
		if r.end, theirs[1+i], err = pipe(true); err != nil {
			return err
		}
		if err := r.open(); err != nil {
			return err
		}
	}
	return nil
}

// open gets ready to read from r.end.
func (r *pipeReader) open() error {
	raw, err := r.end.SyscallConn()
	if err != nil {
		return err
	}
	r.fdReader, err = newFDReader(raw, false)
	return err
}

// pipe returns a pipe of which one end, the one to read from if ourRead is true, does not block.
// Neither is in the runtime's poller: see watch.
func pipe(ourRead bool) (r, w *os.File, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, err
	}
	// os.NewFile uses the poller for descriptors that do not block; these do at this moment.
	r, w = os.NewFile(uintptr(fds[0]), "pipe"), os.NewFile(uintptr(fds[1]), "pipe")
	ours := fds[1]
	if ourRead {
		ours = fds[0]
	}
	if err := unix.SetNonblock(ours, true); err != nil {
		r.Close()
		w.Close()
		return nil, nil, err
	}
	return r, w, nil
}

// Write writes data to the program, and waits until it has accepted all of it. It fails with
// ErrInputClosed. It must not be called concurrently.
func (p *Piped) Write(data []byte) (n int, err error) {
	w := &p.b.stdin
	for {
		m, err := w.fdWriter.Write(data[n:])
		n += m
		switch {
		case err != nil:
			return n, ErrInputClosed
		case n == len(data):
			return n, nil
		}
		if w.WaitWritable() != nil {
			return n, ErrInputClosed
		}
	}
}

// CloseInput ends the input. A Write that is waiting fails.
func (p *Piped) CloseInput() {
	p.b.stdin.shut()
	p.b.closeEnd(keeper.Stdin)
}

// StopInput makes the waiting Write, and every later one, fail. The program does not see an end of
// input, so it does not take incomplete input for the whole.
func (p *Piped) StopInput() { _ = p.b.stdin.fdWriter.close() }

// CloseStdout ends the standard output: the program gets SIGPIPE when it writes more.
func (p *Piped) CloseStdout() {
	p.b.stdout.shut()
	p.b.closeEnd(keeper.Stdout)
}

func (w *pipeWriter) shut() {
	if w.end != nil {
		// An error does not matter: the pipe is closed then, or was before.
		_ = w.fdWriter.close()
		_ = w.end.Close()
	}
}

func (r *pipeReader) shut() {
	if r.fdReader != nil {
		_ = r.fdReader.close()
	}
	if r.end != nil {
		_ = r.end.Close()
	}
}

// outputs returns the outputs that are open.
func (b *pipeBackend) outputs() (open []output) {
	if b.stdout.end != nil {
		open = append(open, output{b.stdout, b.exactStdout, b.landing(0), nil})
	}
	if b.stderr.end != nil {
		open = append(open, output{b.stderr, b.exactStderr, b.landing(1), nil})
	}
	return open
}

// Hangup hangs up the child. Processes that survive that, or cannot be reached, may keep the pipes
// open; the end of the pipes is not waited for.
func (b *pipeBackend) Hangup(grace time.Duration) <-chan struct{} {
	gone := b.child.Hangup(grace)
	b.hungUp.Do(func() {
		go func() { // ends with the hangup, which the Pool waits for
			<-gone
			for _, r := range []pipeReader{b.stdout, b.stderr} {
				if r.end != nil {
					r.drain()
				}
			}
		}()
	})
	return gone
}

// Resize does nothing: the program has no window.
func (b *pipeBackend) Resize(_, _ int, _ Pixels) error { return nil }

// SignalForeground signals the leader's process group, as sshd does (RFC 4254 section 6.9).
func (b *pipeBackend) SignalForeground(sig syscall.Signal) error {
	return b.tree().signalGroup(sig)
}

func (b *pipeBackend) Close() error {
	b.stdin.shut()
	b.stdout.shut()
	b.stderr.shut()
	b.child.letGo()
	return nil
}
