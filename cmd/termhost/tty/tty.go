// Package tty is the terminal of the user who runs a command: raw while the command has it, and
// afterwards as it was before.
//
// A command that is not in the foreground leaves the terminal alone. The shell has set it for
// another job, and a change from the background would stop the process (SIGTTOU).
package tty

import (
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"termhost/ptypool/ttymodes"
)

// The size of a terminal that does not tell its own.
const (
	defaultCols = 80
	defaultRows = 24
)

// WriteTime is how long a command that is about to end waits for a terminal that takes no output.
const WriteTime = time.Second

// Terminal is the user's terminal. Its methods may be called concurrently.
type Terminal struct {
	in, out     *os.File
	input, show bool // whether in and out are terminals

	mu     sync.Mutex   // held over the calls that change the terminal; nothing else is locked then
	before *term.State  // the terminal's modes at first; nil: it was never made raw
	raw    bool         // the terminal is raw
	last   unix.Winsize // the last size that the terminal told
	told   bool         // it has
}

// New returns the terminal that in and out are. Either may also be something else, such as a file.
func New(in, out *os.File) *Terminal {
	return &Terminal{in: in, out: out,
		input: term.IsTerminal(int(in.Fd())), show: term.IsTerminal(int(out.Fd())),
		last: unix.Winsize{Col: defaultCols, Row: defaultRows}}
}

// HasInput reports whether the input was a terminal when New was called. A terminal whose window
// was closed since then still counts.
func (t *Terminal) HasInput() bool { return t.input }

// HasOutput reports whether the output was a terminal when New was called. Such a terminal answers
// queries.
func (t *Terminal) HasOutput() bool { return t.show }

// Raw makes the terminal raw. It may be called again when another process has changed the terminal.
// If the input is not a terminal, Raw does nothing.
func (t *Terminal) Raw() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.input {
		return nil
	}
	state, err := term.MakeRaw(int(t.in.Fd()))
	if err != nil {
		return err
	}
	if t.before == nil {
		t.before = state
	}
	t.raw = true
	return nil
}

// Restore returns the terminal to the modes that it had before the first Raw. It does nothing if
// the terminal is not raw. In the background it leaves the modes as the shell has set them.
func (t *Terminal) Restore() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.raw && t.Foreground() {
		_ = term.Restore(int(t.in.Fd()), t.before) // this fails only if the terminal is gone
	}
	t.raw = false
}

// Foreground reports whether this process may use the terminal. Without job control every process
// may.
func (t *Terminal) Foreground() bool {
	group, err := unix.IoctlGetInt(int(t.in.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// AwaitInput waits until this process may read from the terminal and there is something to read. A
// read in the background would stop the process (SIGTTIN), which then could not handle SIGTERM.
func (t *Terminal) AwaitInput() {
	const interval = 50 * time.Millisecond // no command stays in the background for long
	fds := []unix.PollFd{{Fd: int32(t.in.Fd()), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, -1)
		switch {
		case err == unix.EINTR:
		case err != nil || n > 0 && t.Foreground():
			return
		default:
			time.Sleep(interval)
		}
	}
}

// Read reads what the user types.
func (t *Terminal) Read(p []byte) (int, error) { return t.in.Read(p) }

// Discard drops what the user has typed and nobody has read.
func (t *Terminal) Discard() {
	_ = discardInput(int(t.in.Fd())) // fails if it is gone
}

// Write writes to the output.
func (t *Terminal) Write(p []byte) (int, error) { return t.out.Write(p) }

// WriteSoon writes text, and returns after [WriteTime] even if the terminal has not taken it.
func (t *Terminal) WriteSoon(text string) {
	written := make(chan struct{})
	go func() {
		defer close(written)
		_, _ = io.WriteString(t.out, text) // fails if the terminal is gone
	}()
	select {
	case <-written:
	case <-time.After(WriteTime):
	}
}

// Modes returns the modes that the terminal has now, as in package ttymodes.
func (t *Terminal) Modes() string { return ttymodes.Encode(int(t.in.Fd())) }

// Sized reports whether the terminal has told its size.
func (t *Terminal) Sized() bool {
	t.Size()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.told
}

// Size returns the terminal's size, in cells and, if known, in pixels. A terminal that is gone has
// the last size it told. Without any, the size is 80x24.
func (t *Terminal) Size() unix.Winsize {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range []*os.File{t.out, t.in} {
		ws, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
		if err == nil && ws.Col > 0 && ws.Row > 0 {
			t.last, t.told = *ws, true
			break
		}
	}
	return t.last
}
