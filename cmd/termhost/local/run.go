package local

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/commandline"
	"termhost/cmd/termhost/local/predict"
	"termhost/cmd/termhost/tty"
	"termhost/ptypool/keyboard"
	"termhost/sshd/wire"
)

// StatusLost is the exit status of a command whose connection was lost (ssh(1), EXIT STATUS).
const StatusLost = 255

// ErrHostGone is wrapped by the error for a connection that was lost while a command ran.
var ErrHostGone = errors.New("the host has gone")

// Command is what [Client.Run] runs.
type Command struct {
	Line     string // the command line, as sh has it
	Terminal bool   // it uses the user's terminal, if In and Out are one
	Input    bool   // it reads In, which is left alone otherwise
	Dir      string // the user's working directory; "": unknown
	Config   string // the path of the configuration file that the user named; "": none
	Return   Return // how it comes back to a terminal

	Predict predict.When // keys are shown before the host has echoed them

	In       io.Reader
	Out, Err io.Writer
}

// Run runs a command as ssh does: at the user's terminal, which is raw meanwhile, or on pipes. It
// returns the command's exit status, or 128+n if signal n ended it here. If the connection was
// lost, and is not made again, the error wraps [ErrHostGone]. At most one command of a Client may
// use the terminal. A connection that is lost is closed.
func (c *Client) Run(cmd Command) (status int, err error) {
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE) // it would end this process: see refusable
	defer signal.Stop(broken)
	r := &run{cmd: cmd, t: &sessionTerminal{}}
	if cmd.Terminal {
		r.t = findTerminal(cmd.In, cmd.Out)
	}
	in := cmd.In
	if !cmd.Input {
		in = strings.NewReader("")
	}
	r.keys = newTypedKeys(in, r.t.isTerminal())
	s, err := r.open(c)
	if err != nil {
		return 0, err
	}
	if err := r.t.take(); err != nil {
		r.t.endEcho(r.echo)
		s.Close()
		return 0, err
	}
	defer r.t.giveBack()
	return r.status(r.all(c, s))
}

// run is one run of a command, on one connection after the other.
type run struct {
	cmd  Command
	t    *sessionTerminal
	keys *typedKeys
	echo *echo // of the session; nil: there is none
	back bool  // a connection was lost, and the session is on another one
}

// ending is how a session with the host has ended.
type ending struct {
	status int
	err    error     // the connection was lost
	sig    os.Signal // this one has come here; nil: none has
	left   bool      // the user does not wait for the host
}

// isLost reports whether the session may have been cut short. A host that restarts says so with a
// status that is also a program's.
func (e ending) isLost() bool { return e.sig == nil && (e.err != nil || e.status == StatusLost) }

// open begins a session for the command.
func (r *run) open(c *Client) (*gossh.Session, error) {
	s, err := c.ssh.NewSession()
	if err != nil {
		return nil, err
	}
	out := r.cmd.Out
	r.echo = nil
	r.cmd.setEnvironment(s)
	if r.t.isTerminal() {
		asked := time.Now()
		if err := r.t.request(s); err != nil {
			s.Close()
			return nil, err
		}
		_, _ = s.SendRequest(wire.InputTaken, false, nil) // fails with the connection
		if r.echo = r.t.newEcho(r.cmd.Predict, out, time.Since(asked)); r.echo != nil {
			out = r.echo
		}
	}
	s.Stdout, s.Stderr = &refusable{w: out, s: s}, r.cmd.Err
	return s, nil
}

// session runs a command line to its end, and closes s.
func (r *run) session(c *Client, s *gossh.Session, line string) ending {
	defer r.t.endEcho(r.echo)
	defer s.Close()
	ended := make(chan error, 1)
	go func() { ended <- r.runSession(c, s, line) }()
	select {
	case err := <-ended:
		status, err := exitStatus(err)
		return ending{status: status, err: err}
	case sig := <-r.t.signals:
		c.Close()
		select {
		case <-ended:
		case <-time.After(tty.WriteTime):
		}
		return ending{sig: sig}
	}
}

// runSession runs a command line, with the user's keys as its input.
func (r *run) runSession(c *Client, s *gossh.Session, line string) error {
	// If s.Stdin were set, Wait would wait for a read of the terminal that nothing ends.
	typed, err := s.StdinPipe()
	if err != nil {
		return err
	}
	began := make(chan struct{})
	s.Stdout = &announced{w: s.Stdout, first: func() {
		<-began
		if r.back {
			r.t.blank()
		}
		r.keys.acceptSettled(typed)
	}}
	s.Stderr = &announced{w: s.Stderr, first: r.t.endStill}
	err = s.Start(line)
	if err == nil {
		r.keys.to(typed, c.taken, r.echo)
	}
	close(began)
	if err != nil {
		return err
	}
	c.taken.follow(r.echo)
	go r.acceptKeys(c, typed)
	return s.Wait()
}

// announced passes a command's output on, and calls first before that is seen.
type announced struct {
	w     io.Writer
	first func() // nil: it was called
}

func (a *announced) Write(p []byte) (int, error) {
	if a.first != nil {
		a.first()
		a.first = nil
	}
	return a.w.Write(p)
}

// acceptKeys has keys passed to w again once the terminal is shown, and nobody is in the middle of
// a line whose beginning was dropped.
func (r *run) acceptKeys(c *Client, w io.WriteCloser) {
	if r.keys.dropping() {
		select {
		case <-c.taken.came:
		case <-c.taken.ended:
			return
		}
		r.keys.settle(time.Time{}, nil, r.bell)
	}
	r.keys.accept(w)
}

// status returns the exit status for how a run has ended, and gives the terminal back.
func (r *run) status(end ending) (int, error) {
	switch {
	case end.sig != nil:
		r.t.reset()
		return signalStatus(end.sig), nil
	case !end.isLost() || !r.t.isTerminal():
		return end.status, end.err
	}
	var sig os.Signal
	if !end.left {
		say := func() { r.t.say("%s", keysDropped) }
		sig = r.keys.settle(time.Now(), r.t.signals, say)
	}
	r.t.tty.Discard()
	r.t.giveBack()
	if text := r.keys.notTyped(); text != "" {
		fmt.Fprintf(r.cmd.Err, "termhost: %s\n", text)
	}
	if sig != nil {
		return signalStatus(sig), nil
	}
	return end.status, end.err
}

// keysDropped tells the user that a key was lost with the host, or was typed after that.
const keysDropped = "the connection has ended; keys are dropped until you type none for a second"

// setEnvironment sets the variables that the host takes. It may refuse any of them.
func (cmd *Command) setEnvironment(s *gossh.Session) {
	names := []string{"LANG", "LC_ALL", "LC_CTYPE", "COLORTERM", keyboard.PrefixVariable,
		keyboard.StatusVariable}
	for _, name := range names {
		if v := os.Getenv(name); v != "" {
			_ = s.Setenv(name, v)
		}
	}
	if cmd.Dir != "" {
		_ = s.Setenv("PWD", cmd.Dir)
	}
	if path, err := filepath.Abs(cmd.Config); cmd.Config != "" && err == nil {
		_ = s.Setenv(wire.ConfigVariable, commandline.Quote(path))
	}
}

// exitStatus returns the exit status that an error of runSession stands for. If there is none, the
// connection was lost.
func exitStatus(err error) (int, error) {
	var exit *gossh.ExitError
	var missing *gossh.ExitMissingError
	switch {
	case err == nil:
		return 0, nil
	case errors.As(err, &exit):
		return exit.ExitStatus(), nil
	case errors.As(err, &missing):
		return 0, ErrHostGone
	}
	return 0, fmt.Errorf("%w: %w", ErrHostGone, err)
}

// signalStatus returns a shell's exit status for a command that a signal has ended.
func signalStatus(sig os.Signal) int { return 128 + int(sig.(syscall.Signal)) }

// refusable passes a command's output on until nobody reads it. Then it tells the host, as
// OpenSSH's ssh does (PROTOCOL, section 2.1: eow@openssh.com), so that the command ends as in a
// pipe.
type refusable struct {
	w io.Writer
	s *gossh.Session
	// refused: the host was told. Only the goroutine that copies the output uses it.
	refused bool
}

func (r *refusable) Write(p []byte) (int, error) {
	if r.refused {
		return len(p), nil
	}
	if _, err := r.w.Write(p); err != nil {
		r.refused = true
		_, _ = r.s.SendRequest("eow@openssh.com", false, nil) // fails with the connection
	}
	return len(p), nil
}
