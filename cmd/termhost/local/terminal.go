package local

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	gossh "golang.org/x/crypto/ssh"

	"termhost/cmd/termhost/tty"
	"termhost/ptypool/vt"
)

// sessionTerminal is the user's terminal while a command of the host uses it. The zero value stands
// for no terminal: its signals never come, and there is nothing to give back.
type sessionTerminal struct {
	tty     *tty.Terminal  // nil: the command runs on pipes
	signals chan os.Signal // those that end this process

	given   bool // giveBack was called
	resized chan os.Signal
	stopped chan struct{} // closed when resized is not read any more
}

// takeTerminal makes the terminal that in and out are raw, and requests a pty like it. Until
// giveBack is called, the host is told of changes of its size. If in or out is not a terminal,
// takeTerminal does nothing.
func takeTerminal(in io.Reader, out io.Writer, s *gossh.Session) (*sessionTerminal, error) {
	t := &sessionTerminal{}
	inFile, _ := in.(*os.File)
	outFile, _ := out.(*os.File)
	if inFile == nil || outFile == nil {
		return t, nil
	}
	user := tty.New(inFile, outFile)
	if !user.HasInput() || !user.HasOutput() {
		return t, nil
	}
	size := user.Size()
	err := s.RequestPty(os.Getenv("TERM"), int(size.Row), int(size.Col), gossh.TerminalModes{})
	if err != nil {
		return nil, fmt.Errorf("the host refuses a pty: %w", err)
	}
	t.signals = make(chan os.Signal, 1)
	signal.Notify(t.signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	if err = user.Raw(); err != nil {
		signal.Stop(t.signals)
		return nil, fmt.Errorf("cannot make the terminal raw: %w", err)
	}
	t.tty = user
	t.resized, t.stopped = make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(t.resized, syscall.SIGWINCH)
	go func() {
		defer close(t.stopped)
		for range t.resized {
			size := user.Size()
			// This fails if the connection has ended.
			_ = s.WindowChange(int(size.Row), int(size.Col))
		}
	}()
	return t, nil
}

// isTaken reports whether there is a terminal.
func (t *sessionTerminal) isTaken() bool { return t.tty != nil }

// giveBack restores the terminal's modes, once. The host undoes what the command has changed on the
// screen; if it cannot, reset or sane does.
func (t *sessionTerminal) giveBack() {
	if !t.isTaken() || t.given {
		return
	}
	t.given = true
	signal.Stop(t.resized)
	close(t.resized)
	<-t.stopped
	t.tty.Restore()
	signal.Stop(t.signals)
}

// reset restores the terminal's modes, and undoes what the command has changed on the screen.
func (t *sessionTerminal) reset() {
	t.tty.Restore() // first, since what follows may wait
	t.sane()
}

// sane undoes what the command has changed on the screen, in place of a host that did not.
func (t *sessionTerminal) sane() { t.tty.WriteSoon(vt.Sane) }
