package local

import (
	"errors"
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
	if err := requestPTY(s, user); err != nil {
		return nil, err
	}
	t.signals = make(chan os.Signal, 1)
	signal.Notify(t.signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	if err := user.Raw(); err != nil {
		signal.Stop(t.signals)
		return nil, fmt.Errorf("cannot make the terminal raw: %w", err)
	}
	t.tty = user
	t.resized, t.stopped = make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(t.resized, syscall.SIGWINCH)
	go func() {
		defer close(t.stopped)
		for range t.resized {
			// This fails if the connection has ended.
			_, _ = s.SendRequest("window-change", false, gossh.Marshal(windowOf(user)))
		}
	}()
	return t, nil
}

// window is the size of a terminal as SSH has it (RFC 4254 section 6.7).
type window struct{ Cols, Rows, Width, Height uint32 }

// windowOf returns that of the user's terminal; zero: it is unknown.
func windowOf(user *tty.Terminal) *window {
	if !user.Sized() {
		return &window{}
	}
	size := user.Size()
	return &window{uint32(size.Col), uint32(size.Row), uint32(size.Xpixel), uint32(size.Ypixel)}
}

// requestPTY requests a pty like the user's terminal, which is not raw yet (RFC 4254 section 6.2).
func requestPTY(s *gossh.Session, user *tty.Terminal) error {
	w := windowOf(user)
	request := struct {
		Term                      string
		Cols, Rows, Width, Height uint32
		Modes                     string
	}{os.Getenv("TERM"), w.Cols, w.Rows, w.Width, w.Height, user.Modes()}
	ok, err := s.SendRequest("pty-req", true, gossh.Marshal(&request))
	if err == nil && !ok {
		err = errors.New("it allows none")
	}
	if err != nil {
		return fmt.Errorf("the host refuses a pty: %w", err)
	}
	return nil
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
