package local

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	gossh "golang.org/x/crypto/ssh"

	"termhost/cmd/termhost/tty"
	"termhost/ptypool/vt"
)

// sessionTerminal is the user's terminal while a command of the host uses it. The zero value stands
// for no terminal: its signals never come, and there is nothing to give back.
type sessionTerminal struct {
	tty     *tty.Terminal  // nil: the command runs on pipes
	modes   string         // its modes before it was raw, as in package ttymodes
	draws   bool           // escape sequences mean something to it, and its size is known
	signals chan os.Signal // those that end this process; nil until take

	given   bool // giveBack was called
	resized chan os.Signal
	stopped chan struct{} // closed when resized is not read any more

	mu      sync.Mutex     // a leaf, under which still is written to tty
	session *gossh.Session // has a pty like it; nil: none has
	echo    *echo          // draws on it; nil: nothing does
	still   string         // is shown over what a host that was lost has left there; "": nothing is
}

// findTerminal returns the terminal that in and out are. If one of them is none, that is the zero
// value.
func findTerminal(in io.Reader, out io.Writer) *sessionTerminal {
	inFile, _ := in.(*os.File)
	outFile, _ := out.(*os.File)
	if inFile == nil || outFile == nil {
		return &sessionTerminal{}
	}
	user := tty.New(inFile, outFile)
	if !user.HasInput() || !user.HasOutput() {
		return &sessionTerminal{}
	}
	size, kind := windowOf(user), os.Getenv("TERM")
	return &sessionTerminal{tty: user, modes: user.Modes(),
		draws: kind != "" && kind != "dumb" && size.Cols > 1 && size.Rows > 0}
}

// take makes the terminal raw. Until giveBack is called, the host is told of changes of its size.
func (t *sessionTerminal) take() error {
	if !t.isTerminal() {
		return nil
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	if err := t.tty.Raw(); err != nil {
		signal.Stop(signals)
		return fmt.Errorf("cannot make the terminal raw: %w", err)
	}
	t.signals = signals
	t.resized, t.stopped = make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(t.resized, syscall.SIGWINCH)
	go func() {
		defer close(t.stopped)
		for range t.resized {
			if s, e := t.shownOn(); s != nil {
				w := windowOf(t.tty)
				e.resized(w)
				// This fails if the connection has ended.
				_, _ = s.SendRequest("window-change", false, gossh.Marshal(w))
			}
			t.mu.Lock()
			t.showStill()
			t.mu.Unlock()
		}
	}()
	return nil
}

// shownOn returns the session that has a pty like the terminal, and what draws on that.
func (t *sessionTerminal) shownOn() (*gossh.Session, *echo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.session, t.echo
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

// request requests a pty like the terminal (RFC 4254 section 6.2), whose size s is told from now
// on.
func (t *sessionTerminal) request(s *gossh.Session) error {
	t.mu.Lock()
	t.session = s
	t.mu.Unlock()
	w := windowOf(t.tty)
	request := struct {
		Term                      string
		Cols, Rows, Width, Height uint32
		Modes                     string
	}{os.Getenv("TERM"), w.Cols, w.Rows, w.Width, w.Height, t.modes}
	ok, err := s.SendRequest("pty-req", true, gossh.Marshal(&request))
	if err == nil && !ok {
		err = errors.New("it allows none")
	}
	if err != nil {
		return fmt.Errorf("the host refuses a pty: %w", err)
	}
	return nil
}

// isTerminal reports whether there is a terminal.
func (t *sessionTerminal) isTerminal() bool { return t.tty != nil }

// giveBack restores the terminal's modes, once. The host undoes what the command has changed on the
// screen; if it cannot, reset or sane does.
func (t *sessionTerminal) giveBack() {
	if t.signals == nil || t.given {
		return
	}
	t.given = true
	t.endStill()
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
func (t *sessionTerminal) sane() {
	if t.draws {
		t.tty.WriteSoon(vt.Sane)
	}
}

// say writes a line for the user below what is shown.
func (t *sessionTerminal) say(format string, args ...any) {
	t.endStill()
	t.tty.WriteSoon(fmt.Sprintf("\r\ntermhost: "+format+"\r\n", args...))
}

// hold leaves the screen as a host that was lost has left it, with a line for the user on its last
// row, of which only what can be printed is shown. Where nothing can be drawn it is say.
func (t *sessionTerminal) hold(format string, args ...any) {
	text := vt.Printable(fmt.Sprintf(format, args...))
	if !t.draws {
		t.say("%s", text)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.still = " termhost: " + text
	t.showStill()
}

// showStill draws what is held. t.mu is held.
func (t *sessionTerminal) showStill() {
	if t.still != "" {
		w := windowOf(t.tty)
		t.tty.WriteSoon(string(vt.AppendStill(nil, int(w.Cols), int(w.Rows), t.still)))
	}
}

// endStill ends hold: what follows is for a shell.
func (t *sessionTerminal) endStill() {
	if t.released() {
		t.sane()
	}
}

// blank ends hold, and takes away what was held: a host draws all of it again. What the terminal
// has shown of its host is not to get into the scrollback.
func (t *sessionTerminal) blank() {
	t.released()
	if t.draws {
		t.tty.WriteSoon(string(vt.AppendBlank(nil, int(windowOf(t.tty).Rows))))
	}
}

// released ends hold, and reports whether it has begun.
func (t *sessionTerminal) released() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	held := t.still != ""
	t.still = ""
	return held
}
