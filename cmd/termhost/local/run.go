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

	In       io.Reader
	Out, Err io.Writer
}

// Run runs a command as ssh does: at the user's terminal, which is raw meanwhile, or on pipes. It
// returns the command's exit status, or 128+n if signal n ended it here. If the connection was
// lost, the error wraps [ErrHostGone]. At most one command of a Client may use the terminal.
func (c *Client) Run(cmd Command) (status int, err error) {
	s, err := c.ssh.NewSession()
	if err != nil {
		return 0, err
	}
	defer s.Close()
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE) // it would end this process: see refusable
	defer signal.Stop(broken)
	s.Stdout, s.Stderr = &refusable{w: cmd.Out, s: s}, cmd.Err
	cmd.setEnvironment(s)
	t := &sessionTerminal{}
	if cmd.Terminal {
		if t, err = takeTerminal(cmd.In, cmd.Out, s); err != nil {
			return 0, err
		}
		_, _ = s.SendRequest(wire.InputTaken, false, nil) // fails with the connection
	}
	defer t.giveBack()
	in := cmd.In
	if !cmd.Input {
		in = strings.NewReader("")
	}
	ended := make(chan error, 1)
	keys := newTypedKeys(in, t.isTaken(), c.taken)
	go func() { ended <- runSession(s, cmd.Line, keys) }()
	select {
	case err = <-ended:
		status, err = exitStatus(err)
	case sig := <-t.signals:
		c.Close()
		select {
		case <-ended:
		case <-time.After(tty.WriteTime):
		}
		t.reset()
		return signalStatus(sig), nil
	}
	if t.isTaken() && (err != nil || status == StatusLost) {
		c.Close()
		if err != nil {
			t.sane()
		}
		sig := keys.settle(t.signals, func() { t.tty.WriteSoon(keysDropped) })
		t.tty.Discard()
		t.giveBack()
		fmt.Fprint(cmd.Err, keys.notTyped())
		if sig != nil {
			return signalStatus(sig), nil
		}
	}
	return status, err
}

// keysDropped tells the user that a key was lost with the host, or was typed after that.
const keysDropped = "\r\ntermhost: the connection has ended;" +
	" keys are dropped until you type none for a second\r\n"

// setEnvironment sets the variables that the host takes. It may refuse any of them.
func (cmd *Command) setEnvironment(s *gossh.Session) {
	names := []string{"LANG", "LC_ALL", "LC_CTYPE", "COLORTERM", keyboard.PrefixVariable}
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

// runSession runs a command to its end, with the user's keys as its input.
func runSession(s *gossh.Session, line string, keys *typedKeys) error {
	// If s.Stdin were set, Wait would wait for a read of the terminal that nothing ends.
	typed, err := s.StdinPipe()
	if err != nil {
		return err
	}
	if err := s.Start(line); err != nil {
		return err
	}
	go func() {
		keys.passTo(typed) // until either side ends
		typed.Close()
	}()
	return s.Wait()
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
