package ptypool

import (
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"termhost/ptypool/vt"
)

// MaxCols and MaxRows bound a window: more than any display has, and little enough for the screen's
// memory.
const (
	MaxCols = 1000
	MaxRows = 500
)

// ClampSize clamps a window size to 1..MaxCols and 1..MaxRows.
func ClampSize(cols, rows int) (int, int) {
	return min(max(cols, 1), MaxCols), min(max(rows, 1), MaxRows)
}

// maxPixels bounds the pixels of a window in each direction: what a winsize has room for.
const maxPixels = 1<<16 - 1

// Pixels is the size of a window in pixels; 0: it is unknown.
type Pixels struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

// Known reports whether the size is known.
func (px Pixels) Known() bool { return px.Width > 0 && px.Height > 0 }

// In returns the pixels of what ClampSize leaves of a window of cols by rows cells.
func (px Pixels) In(cols, rows int) Pixels {
	if c, r := ClampSize(cols, rows); c < cols || r < rows {
		px = Pixels{px.Width * c / cols, px.Height * r / rows}
	}
	return Pixels{min(max(px.Width, 0), maxPixels), min(max(px.Height, 0), maxPixels)}
}

// Term is one terminal: a backend (none if it is virtual), the parser with its screen, and on a pty
// queues for input.
type Term struct {
	pool    *Pool
	h       Handler
	backend backend // nil: virtual
	in      inputQueue
	held    heldQueue
	logEnd  func() int64 // see Keep; nil: there is no log
	// deferred is the log of a terminal on a pty; nil: output is logged when the handler gets it.
	deferred DeferredLog
	done     chan struct{}
	inHand   atomic.Int32 // batches that may have been read and are not on the screen yet

	// mu guards the screen, every call of h but Ready, and the fields below. While it is held, h
	// may take its own locks (the store's), and this package those of the input queues, the Pool
	// and the reaper. None of these is held while mu is taken.
	mu      sync.Mutex
	screen  *vt.Screen
	pixels  Pixels       // of the window
	lines   *vt.LineEnds // of a program on pipes, for the screen; nil: it has a terminal's already
	flusher *time.Timer  // runs flush; made on first use
	flushAt time.Time    // when the held-back bytes are due; flush does nothing before that
	broken  bool         // the handler or parser panicked: output is discarded
	exited  bool

	ticker *time.Timer // runs tick; made on first use
	tickAt time.Time   // when that is due
}

// newTerm makes a Term without starting anything.
func newTerm(p *Pool, b backend, cols, rows int, o vt.Options, h Handler) *Term {
	o.HideFrames = true
	t := &Term{
		pool: p, h: h, backend: b, screen: vt.New(cols, rows, o), done: make(chan struct{}),
	}
	t.in.limit = p.cfg.InputQueue
	t.held.in, t.held.changed = &t.in, make(chan struct{}, 1)
	return t
}

// Lock takes the lock that guards Screen, Resize, Feed, End and all Handler calls. The store's lock
// comes after it.
func (t *Term) Lock() { t.mu.Lock() }

// Unlock releases Lock.
func (t *Term) Unlock() { t.mu.Unlock() }

// Screen returns the parser and screen, to be used with the lock held only.
func (t *Term) Screen() *vt.Screen { return t.screen }

// Resize sets the window of program and screen, clamped to 1..MaxCols and 1..MaxRows, whose pixels
// are unknown. The lock must be held. After the end it fails with ErrExited.
func (t *Term) Resize(cols, rows int) error { return t.ResizeTo(cols, rows, Pixels{}) }

// Pixels returns how large the window is in pixels. The lock must be held.
func (t *Term) Pixels() Pixels { return t.pixels }

// ResizeTo is Resize for a window whose size in pixels is known.
func (t *Term) ResizeTo(cols, rows int, px Pixels) error {
	if t.exited {
		return ErrExited
	}
	px = px.In(cols, rows)
	cols, rows = ClampSize(cols, rows)
	if t.backend != nil {
		if err := t.backend.Resize(cols, rows, px); err != nil {
			return err
		}
	}
	t.screen.Resize(cols, rows)
	t.setPixels(px)
	return nil
}

// setPixels records the size of the window in pixels.
func (t *Term) setPixels(px Pixels) {
	t.pixels = px
	t.screen.SetPixels(px.Width, px.Height)
}

// Feed feeds output to a virtual terminal. The lock must be held. p is not retained. Feeding a
// terminal that has a process, or has ended, does nothing. A panic of the parser or the handler
// ends only this terminal, with UnknownExit.
func (t *Term) Feed(p []byte) {
	if t.backend != nil || t.exited || t.broken {
		return
	}
	defer t.contain("output")
	t.feed(p)
}

// End ends a virtual terminal: the handler gets what the parser held back, and then Exited(st). The
// lock must be held. On any other terminal, and the second time, it does nothing.
func (t *Term) End(st ExitStatus) {
	if t.backend != nil || t.exited {
		return
	}
	t.exit(st)
	t.pool.release(t)
	close(t.done)
}

// Signal sends sig to every process of the terminal, from any goroutine. It reads /proc, which
// takes milliseconds.
func (t *Term) Signal(sig syscall.Signal) error {
	if t.backend == nil {
		return ErrNoProcess
	}
	return t.backend.Signal(sig)
}

// SignalForeground sends sig to the foreground process group only: the program that the user of a
// shell is running.
func (t *Term) SignalForeground(sig syscall.Signal) error {
	if t.backend == nil {
		return ErrNoProcess
	}
	return t.backend.SignalForeground(sig)
}

// Hangup ends the terminal: SIGHUP to all of its processes, and SIGKILL to those left after the
// grace, until none is left. It returns at once. It may be called from any goroutine, without the
// lock, and again: the earlier deadline counts. A virtual terminal ends with UnknownExit. After the
// end of the terminal, Hangup ends the background processes that it left.
func (t *Term) Hangup(grace time.Duration) {
	if t.backend == nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.End(ExitStatus{Code: UnknownExit})
		return
	}
	t.DiscardInput()
	t.backend.Hangup(max(grace, 0))
}

// over reports whether the terminal has ended, also if it is not [Term.Done] yet.
func (t *Term) over() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.exited
}

// Done is closed when Exited has returned and the descriptors are closed. Processes that a Hangup
// must still kill may be left; Pool.Shutdown waits for them.
func (t *Term) Done() <-chan struct{} { return t.done }

// Pid returns the process id of the program that was started; 0 for a virtual terminal. After the
// end it may belong to another process.
func (t *Term) Pid() int {
	if t.backend == nil {
		return 0
	}
	return t.backend.Pid()
}

// Outlives reports whether the terminal survives this process's end, because a keeper has it.
func (t *Term) Outlives() bool {
	b, ok := t.backend.(interface{ outlives() bool })
	return ok && b.outlives()
}

// processTree returns the terminal's process tree; nil: it has no processes on this machine.
func (t *Term) processTree() *processTree {
	if t.backend == nil {
		return nil
	}
	return t.backend.tree()
}
