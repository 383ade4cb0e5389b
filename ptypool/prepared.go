package ptypool

import (
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"termhost/ptypool/vt"
)

// NotStarted is the Code of a program that was not started, like a shell's for a program that it
// may not execute (POSIX.1-2024, Shell Command Language, 2.8.2).
const NotStarted = 126

// Prepared is a terminal whose program has not been started, and may never be. Apart from that the
// Term is complete: it accepts no input, and its size is the one that the program will find. No
// process exists.
type Prepared struct {
	t       *Term
	spec    Spec
	backend *lateBackend
}

// Prepare makes a Term as [Pool.Start] does, or if piped, as [Pool.StartPiped], without starting
// the program. It fails, as they do, if the program could not be started now.
func (p *Pool) Prepare(s Spec, piped bool, h Handler) (*Prepared, error) {
	if _, err := s.resolve(); err != nil {
		return nil, err
	}
	if err := p.reserve(); err != nil {
		return nil, err
	}
	p.complete(&s)
	b := &lateBackend{decided: make(chan struct{})}
	t := newTerm(p, b, s.Cols, s.Rows, s.VT, h)
	t.setPixels(s.Pixels)
	if piped {
		t.lines = &vt.LineEnds{}
	} else {
		t.in.to = b
	}
	t.keepLog(&s.Keep)
	if _, err := p.run(t); err != nil {
		return nil, err
	}
	return &Prepared{t, s, b}, nil
}

// Start starts the program, with the size that the terminal has by now. note replaces that of
// Spec.Keep. The Term's lock must be held. It fails with a *StartError, and then it may be called
// again; and with ErrExited when the Term has ended.
func (p *Prepared) Start(note []byte) error { return p.StartExact(note, nil) }

// StartExact is Start for a program whose output is read exactly; see [Pool.StartExact].
func (p *Prepared) StartExact(note []byte, exact io.WriteCloser) error {
	s := p.current(note)
	return p.backend.start(func() (backend, programInput, error) {
		b, err := p.t.pool.startPTY(s)
		if err != nil {
			return nil, nil, err
		}
		b.exact = exact
		return b, b, nil
	})
}

// StartPiped is Start for a program on pipes; see [Pool.StartPiped].
func (p *Prepared) StartPiped(note []byte, stdout, stderr io.WriteCloser) (*Piped, error) {
	s, piped := p.current(note), &Piped{}
	err := p.backend.start(func() (backend, programInput, error) {
		b, err := p.t.pool.startPipes(s)
		if err != nil {
			return nil, nil, err
		}
		b.exactStdout, b.exactStderr, piped.b = stdout, stderr, b
		return b, nil, nil
	})
	if err != nil {
		return nil, err
	}
	return piped, nil
}

// current returns the present Spec. The Term's lock is held.
func (p *Prepared) current(note []byte) *Spec {
	s := p.spec
	s.Cols, s.Rows = p.t.screen.Size()
	s.Pixels = p.t.pixels
	s.Keep.Note = note
	return &s
}

// Refuse ends the Term, if the program has not been started, with text as its only output and exit
// status code. The Term's lock must be held.
func (p *Prepared) Refuse(text []byte, code int) {
	select {
	case <-p.backend.decided:
		return
	default:
	}
	p.t.feedOwn(text)
	p.backend.refuse(code)
}

// feedOwn shows text that is not the program's. The lock is held.
func (t *Term) feedOwn(p []byte) {
	if t.broken || t.exited {
		return
	}
	defer t.contain("a refusal")
	t.feed(p)
}

// lateBackend is the backend of a Term whose program is started later, or never.
type lateBackend struct {
	program atomic.Pointer[lateProgram] // nil: it has not been started
	decided chan struct{}               // closed when it has been started, or never will be

	mu   sync.Mutex // of the decision; the locks of the Term and of the Pool come before and after
	over bool       // decided is closed
	code int        // of a program that is never started; set before decided is closed
}

// lateProgram is a program that was started.
type lateProgram struct {
	backend
	input programInput // nil: it runs on pipes
}

// start starts the program, unless that is decided already.
func (b *lateBackend) start(start func() (backend, programInput, error)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return ErrExited
	}
	running, input, err := start()
	if err != nil {
		return err
	}
	b.program.Store(&lateProgram{running, input})
	b.over = true
	close(b.decided)
	return nil
}

// refuse decides that the program is never started, unless that is decided already.
func (b *lateBackend) refuse(code int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return
	}
	b.over, b.code = true, code
	close(b.decided)
}

// outputs waits for the decision.
func (b *lateBackend) outputs() []output {
	<-b.decided
	if p := b.program.Load(); p != nil {
		return p.outputs()
	}
	return nil
}

// Resize does nothing before the program starts; the program then gets the size of the screen.
func (b *lateBackend) Resize(cols, rows int, px Pixels) error {
	if p := b.program.Load(); p != nil {
		return p.Resize(cols, rows, px)
	}
	return nil
}

func (b *lateBackend) SignalForeground(sig syscall.Signal) error {
	if p := b.program.Load(); p != nil {
		return p.SignalForeground(sig)
	}
	return os.ErrProcessDone
}

func (b *lateBackend) Signal(sig syscall.Signal) error {
	if p := b.program.Load(); p != nil {
		return p.Signal(sig)
	}
	return os.ErrProcessDone
}

// Hangup of a program that has not been started means that it never is.
func (b *lateBackend) Hangup(grace time.Duration) (gone <-chan struct{}) {
	b.refuse(NotStarted)
	if p := b.program.Load(); p != nil {
		return p.Hangup(grace)
	}
	none := make(chan struct{})
	close(none)
	return none
}

func (b *lateBackend) Wait() (ExitStatus, error) {
	<-b.decided
	if p := b.program.Load(); p != nil {
		return p.Wait()
	}
	return ExitStatus{Code: b.code}, nil
}

func (b *lateBackend) Close() error {
	if p := b.program.Load(); p != nil {
		return p.Close()
	}
	return nil
}

func (b *lateBackend) Pid() int {
	if p := b.program.Load(); p != nil {
		return p.Pid()
	}
	return 0
}

func (b *lateBackend) tree() *processTree {
	if p := b.program.Load(); p != nil {
		return p.tree()
	}
	return nil
}

// outlives: an unstarted program cannot outlive anything.
func (b *lateBackend) outlives() bool {
	p := b.program.Load()
	if p == nil {
		return false
	}
	kept, ok := p.backend.(interface{ outlives() bool })
	return ok && kept.outlives()
}

// keyboard returns the program's input; nil: there is none yet.
func (b *lateBackend) keyboard() programInput {
	if p := b.program.Load(); p != nil {
		return p.input
	}
	return nil
}

// WaitWritable is called only with input that was queued, so the program has been started.
func (b *lateBackend) WaitWritable() error {
	if in := b.keyboard(); in != nil {
		return in.WaitWritable()
	}
	return ErrNotStarted
}

func (b *lateBackend) Write(p []byte) (int, error) {
	if in := b.keyboard(); in != nil {
		return in.Write(p)
	}
	return 0, ErrNotStarted
}

func (b *lateBackend) SignalChars() signalChars {
	if in := b.keyboard(); in != nil {
		return in.SignalChars()
	}
	return nil
}

func (b *lateBackend) LineKeys() (k lineKeys) {
	if in := b.keyboard(); in != nil {
		return in.LineKeys()
	}
	return k
}

func (b *lateBackend) Line() (Line, error) {
	if in := b.keyboard(); in != nil {
		return in.Line()
	}
	return Line{}, ErrNotStarted
}

func (b *lateBackend) Readable() bool {
	in := b.keyboard()
	return in != nil && in.Readable()
}

func (b *lateBackend) StopKeys() (stop, start byte) {
	if in := b.keyboard(); in != nil {
		return in.StopKeys()
	}
	return 0, 0
}

func (b *lateBackend) Stopped() bool {
	in := b.keyboard()
	return in != nil && in.Stopped()
}

func (b *lateBackend) Interrupt(chars []byte) error {
	if in := b.keyboard(); in != nil {
		return in.Interrupt(chars)
	}
	return ErrNotStarted
}

func (b *lateBackend) DiscardInput() error {
	if in := b.keyboard(); in != nil {
		return in.DiscardInput()
	}
	return nil
}
