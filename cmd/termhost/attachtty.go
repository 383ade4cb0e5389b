package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"termhost/ptypool/vt"
)

// writeTime is how long to wait, at the end, for a terminal that takes no output.
const writeTime = time.Second

// takenTerminal is the user's terminal while a command of the host uses it.
type takenTerminal struct {
	// signals receives the signals that end this process. If the standard streams are no terminal,
	// it is nil, and there is nothing to give back.
	signals chan os.Signal

	given   bool // giveBack was called
	fd      int
	before  *term.State
	out     io.Writer
	resized chan os.Signal
	stopped chan struct{} // closed when resized is not read any more
}

// takeTerminal requests a pty like the terminal that standard input and output are, if they are
// one. Until giveBack is called, the terminal is raw, and the host is told of changes of its size.
func takeTerminal(std stdio, s *gossh.Session) (*takenTerminal, error) {
	t := &takenTerminal{out: std.out}
	for _, stream := range []any{std.out, std.in} {
		tty, ok := stream.(*os.File)
		if !ok || !term.IsTerminal(int(tty.Fd())) {
			return &takenTerminal{}, nil
		}
		t.fd = int(tty.Fd())
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
				_ = s.WindowChange(rows, cols) // fails if the connection has ended
			}
		}
	}()
	return t, nil
}

// giveBack restores the terminal's modes, once. The host undoes what the command has changed on the
// screen; if it cannot, reset or sane does.
func (t *takenTerminal) giveBack() {
	if t.signals == nil || t.given {
		return
	}
	t.given = true
	signal.Stop(t.resized)
	close(t.resized)
	<-t.stopped
	_ = term.Restore(t.fd, t.before)
	signal.Stop(t.signals)
}

// reset restores the terminal's modes, and undoes what the command has changed on the screen.
func (t *takenTerminal) reset() {
	if t.signals == nil {
		return
	}
	_ = term.Restore(t.fd, t.before) // first, since what follows may wait
	t.sane()
}

// sane undoes what the command has changed on the screen, in place of a host that did not.
func (t *takenTerminal) sane() { t.say(vt.Sane) }

// discard drops what was typed and nobody has read.
func (t *takenTerminal) discard() { _ = unix.IoctlSetInt(t.fd, unix.TCFLSH, unix.TCIFLUSH) }

// say writes text. It returns even if the terminal takes no output.
func (t *takenTerminal) say(text string) {
	written := make(chan struct{})
	go func() {
		defer close(written)
		_, _ = io.WriteString(t.out, text) // fails if the terminal is gone
	}()
	select {
	case <-written:
	case <-time.After(writeTime):
	}
}
