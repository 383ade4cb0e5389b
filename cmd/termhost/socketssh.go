package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/sshd"
	"termhost/sshd/verbs"
)

// hostClient is an SSH connection to a host on this machine.
type hostClient struct {
	*gossh.Client
	taken *inputTaken
}

// dialSocket returns an SSH connection to the host whose unix socket is at path. Neither side uses
// a key: the client trusts the folder of the socket, and the host the user id of its peer.
func dialSocket(path string) (*hostClient, error) {
	nc, err := net.Dial("unix", path)
	if err != nil {
		return nil, fmt.Errorf("cannot reach a host at %s: %w",
			path, errors.Unwrap(errors.Unwrap(err)))
	}
	upgraded, err := upgrade(nc, path)
	if err != nil {
		nc.Close()
		return nil, err
	}
	c, chans, reqs, err := gossh.NewClientConn(upgraded, path, &gossh.ClientConfig{
		User: "socket", HostKeyCallback: gossh.InsecureIgnoreHostKey(),
	})
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("the host refuses: %w", err)
	}
	taken := &inputTaken{ended: make(chan struct{})}
	return &hostClient{gossh.NewClient(c, chans, taken.watch(reqs)), taken}, nil
}

// upgrade asks the HTTP server at path to speak SSH on the connection.
func upgrade(nc net.Conn, path string) (net.Conn, error) {
	req, err := http.NewRequest(http.MethodGet, "http://localhost/ssh", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "ssh")
	if err := req.Write(nc); err != nil {
		return nil, fmt.Errorf("the host at %s does not listen: %w", path, err)
	}
	r := bufio.NewReader(nc)
	resp, err := http.ReadResponse(r, req)
	if err != nil {
		return nil, fmt.Errorf("the host at %s does not answer: %w", path, err)
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		reason, _ := io.ReadAll(io.LimitReader(resp.Body, 256))
		return nil, fmt.Errorf("the host refuses: %s", strings.TrimSpace(string(reason)))
	}
	return &bufferedConn{Conn: nc, r: r}, nil
}

// bufferedConn is a connection whose first bytes may already be in a buffer.
type bufferedConn struct {
	net.Conn
	r *bufio.Reader
}

func (c *bufferedConn) Read(p []byte) (int, error) { return c.r.Read(p) }

// errHostGone is the error for a connection that was lost while a command ran.
var errHostGone = errors.New("the host has gone")

// remoteCommand is what runRemote runs.
type remoteCommand struct {
	line     string // the command line, as sh has it
	terminal bool   // it uses the user's terminal, if that is what the standard streams are
	input    bool   // it reads standard input, which is left alone otherwise
	dir      string // where the user is; "": unknown
	config   string // the path of the configuration that the user has named; "": none
}

// runRemote runs a command on the host as ssh does, with a pty and a raw terminal or on pipes. It
// returns the command's exit status, or 128+n if signal n ended it here.
func runRemote(client *hostClient, cmd remoteCommand, std stdio) (status int, err error) {
	s, err := client.NewSession()
	if err != nil {
		return 0, err
	}
	defer s.Close()
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE) // which would end this process: see refusable
	defer signal.Stop(broken)
	s.Stdout, s.Stderr = &refusable{w: std.out, s: s}, std.err
	for _, name := range []string{"LANG", "LC_ALL", "LC_CTYPE", "COLORTERM"} {
		if v := os.Getenv(name); v != "" {
			_ = s.Setenv(name, v) // the host may refuse it
		}
	}
	if cmd.dir != "" {
		_ = s.Setenv("PWD", cmd.dir)
	}
	if path, err := filepath.Abs(cmd.config); cmd.config != "" && err == nil {
		_ = s.Setenv(sshd.ConfigVariable, shellQuote(path))
	}
	tty := &takenTerminal{}
	if cmd.terminal {
		if tty, err = takeTerminal(std, s); err != nil {
			return 0, err
		}
		_, _ = s.SendRequest(sshd.Taken, false, nil) // fails with the connection
	}
	defer tty.giveBack()
	in := std.in
	if !cmd.input {
		in = strings.NewReader("")
	}
	ended := make(chan error, 1)
	keys := newLocalKeys(in, tty.signals != nil, client.taken)
	go func() { ended <- runSession(s, cmd.line, keys) }()
	select {
	case err = <-ended:
	case sig := <-tty.signals:
		client.Close()
		select {
		case <-ended:
		case <-time.After(writeTime):
		}
		tty.reset()
		return 128 + int(sig.(syscall.Signal)), nil
	}
	var exit *gossh.ExitError
	var missing *gossh.ExitMissingError
	if exited := errors.As(err, &exit); tty.signals != nil && err != nil &&
		(!exited || exit.ExitStatus() == verbs.StatusLost) {
		client.Close()
		if !exited {
			tty.sane()
		}
		sig := keys.settle(tty.signals, func() { tty.say(notTaken) })
		tty.discard()
		tty.giveBack()
		fmt.Fprint(std.err, keys.notTyped())
		if sig != nil {
			return 128 + int(sig.(syscall.Signal)), nil
		}
	}
	switch {
	case err == nil:
		return exitOK, nil
	case exit != nil:
		return exit.ExitStatus(), nil
	}
	if errors.As(err, &missing) {
		return 0, errHostGone
	}
	return 0, fmt.Errorf("%w: %w", errHostGone, err)
}

// notTaken is said when a key is lost with the host, or typed when that has gone.
const notTaken = "\r\ntermhost: the connection has ended;" +
	" keys are dropped until you type none for a second\r\n"

// refusable passes on a command's output until nobody reads it. Then the host is told, as OpenSSH's
// ssh does (PROTOCOL, section 2.1: eow@openssh.com), so that the command ends as in a pipe.
type refusable struct {
	w io.Writer
	s *gossh.Session
	// refused says that the host has been told. Only the goroutine that copies the output uses it.
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

// runSession runs a command to its end, with the user's keys as its input.
func runSession(s *gossh.Session, command string, keys *localKeys) error {
	// If s.Stdin were set, Wait would wait for a read of the terminal that nothing ends.
	typed, err := s.StdinPipe()
	if err != nil {
		return err
	}
	if err := s.Start(command); err != nil {
		return err
	}
	go func() {
		keys.passTo(typed) // until either side ends
		typed.Close()
	}()
	return s.Wait()
}
