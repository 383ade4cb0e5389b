package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/term"

	"termhost/ptypool/vt"
)

// lastWrite is how long a terminal that takes no output holds up the end.
const lastWrite = time.Second

// takenTerminal is the user's terminal while the host writes to it.
type takenTerminal struct {
	// signals are those that end the program. It is nil without a terminal: then
	// there is nothing to give back.
	signals chan os.Signal

	fd      int
	before  *term.State
	out     io.Writer // nil: not a terminal
	resized chan os.Signal
	stopped chan struct{} // closed when nobody reads resized any more
}

// takeTerminal asks for a pty like the terminal that standard input is, whose size
// it keeps telling, and makes it raw until giveBack is called.
func takeTerminal(std stdio, s *gossh.Session) (*takenTerminal, error) {
	t := &takenTerminal{}
	tty, ok := std.in.(*os.File)
	if !ok || !term.IsTerminal(int(tty.Fd())) {
		return t, nil
	}
	t.fd = int(tty.Fd())
	if out, ok := std.out.(*os.File); ok && term.IsTerminal(int(out.Fd())) {
		t.out = out
	}
	cols, rows, err := term.GetSize(t.fd)
	if err != nil {
		return nil, fmt.Errorf("cannot tell the terminal's size: %w", err)
	}
	if err := s.RequestPty(os.Getenv("TERM"), rows, cols, gossh.TerminalModes{}); err != nil {
		return nil, fmt.Errorf("the host refuses a pty: %w", err)
	}
	t.signals = make(chan os.Signal, 1)
	signal.Notify(t.signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	if t.before, err = term.MakeRaw(t.fd); err != nil {
		signal.Stop(t.signals)
		return nil, fmt.Errorf("cannot make the terminal raw: %w", err)
	}
	t.resized, t.stopped = make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(t.resized, syscall.SIGWINCH)
	go func() {
		defer close(t.stopped)
		for range t.resized {
			if cols, rows, err := term.GetSize(t.fd); err == nil {
				_ = s.WindowChange(rows, cols) // a connection that is over needs none
			}
		}
	}()
	return t, nil
}

// giveBack makes the terminal as it was; what the program left on the screen is the
// host's to undo, or reset's.
func (t *takenTerminal) giveBack() {
	if t.signals == nil {
		return
	}
	signal.Stop(t.resized)
	close(t.resized)
	<-t.stopped
	_ = term.Restore(t.fd, t.before)
	signal.Stop(t.signals)
}

// reset undoes what the program has made of the terminal, where the host did not. It
// returns even if the terminal takes no output.
func (t *takenTerminal) reset() {
	if t.signals == nil {
		return
	}
	_ = term.Restore(t.fd, t.before) // before anything that may wait
	if t.out == nil {
		return
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		_, _ = io.WriteString(t.out, vt.Sane) // a terminal that is gone needs nothing
	}()
	select {
	case <-written:
	case <-time.After(lastWrite):
	}
}
