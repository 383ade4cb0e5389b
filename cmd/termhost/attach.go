package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/cmd/termhost/share"
)

const attachUsage = "[-r] [-c FILE] [NAME]"

// attach shows a terminal of a host on this machine, through its unix socket:
// what `ssh -t HOST attach` does, without a key, for the user who runs the host.
func attach(args []string, std stdio) int {
	fs := flag.NewFlagSet("attach", flag.ContinueOnError)
	readOnly := fs.Bool("r", false, "")
	file := fs.String("c", "", "")
	if code, ok := parseFlags(fs, args, 1, attachUsage, std); !ok {
		return code
	}
	cfg, err := loadConfig(*file)
	if err != nil {
		return fail(std, exitUsage, err.Error(), "")
	}
	client, err := dialSocket(filepath.Join(cfg.StateDir, socketName))
	if err != nil {
		return fail(std, exitFailure, err.Error(), "is termhost serve running, with the same configuration?")
	}
	defer client.Close()
	if name := share.Within(client, fs.Arg(0)); name != "" {
		return fail(std, exitFailure, name+" is the terminal you are in, which would be shown inside itself", "attach to it from another window")
	}
	command := "attach"
	if *readOnly {
		command += " -r"
	}
	if fs.NArg() == 1 {
		command += " " + shellQuote(fs.Arg(0))
	}
	status, err := runRemote(client, command, std)
	if err != nil {
		return fail(std, exitFailure, err.Error(), "")
	}
	return status
}

// dialSocket returns an SSH connection through the HTTP door of a unix socket.
// The socket's path and its peer's user id stand for both sides' keys.
func dialSocket(path string) (*gossh.Client, error) {
	nc, err := net.Dial("unix", path)
	if err != nil {
		return nil, fmt.Errorf("cannot reach a host at %s: %w", path, errors.Unwrap(errors.Unwrap(err)))
	}
	req, err := http.NewRequest(http.MethodGet, "http://localhost/ssh", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "ssh")
	if err := req.Write(nc); err != nil {
		nc.Close()
		return nil, fmt.Errorf("the host at %s does not listen: %w", path, err)
	}
	r := bufio.NewReader(nc)
	resp, err := http.ReadResponse(r, req)
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("the host at %s does not answer: %w", path, err)
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		reason, _ := io.ReadAll(io.LimitReader(resp.Body, 256))
		nc.Close()
		return nil, fmt.Errorf("the host refuses: %s", strings.TrimSpace(string(reason)))
	}
	c, chans, reqs, err := gossh.NewClientConn(&readAhead{Conn: nc, r: r}, path, &gossh.ClientConfig{
		User: "socket", HostKeyCallback: gossh.InsecureIgnoreHostKey(),
	})
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("the host refuses: %w", err)
	}
	return gossh.NewClient(c, chans, reqs), nil
}

// readAhead is a connection of which something has been read already.
type readAhead struct {
	net.Conn
	r *bufio.Reader
}

func (c *readAhead) Read(p []byte) (int, error) { return c.r.Read(p) }

// errHostGone ends an attach whose connection was lost.
var errHostGone = errors.New("the host has gone")

// runRemote runs a command of the host as ssh would: with a pty and a raw
// terminal where there is one. It returns the command's exit status, or 128+n
// after signal n.
func runRemote(client *gossh.Client, command string, std stdio) (status int, err error) {
	s, err := client.NewSession()
	if err != nil {
		return 0, err
	}
	defer s.Close()
	s.Stdout, s.Stderr = std.out, std.err
	for _, name := range []string{"LANG", "LC_ALL", "LC_CTYPE", "COLORTERM"} {
		if v := os.Getenv(name); v != "" {
			_ = s.Setenv(name, v) // the host may not want it
		}
	}
	tty, err := takeTerminal(std, s)
	if err != nil {
		return 0, err
	}
	defer tty.giveBack()
	ended := make(chan error, 1)
	go func() { ended <- follow(s, command, std.in) }()
	select {
	case err = <-ended:
	case sig := <-tty.signals:
		client.Close()
		select {
		case <-ended:
		case <-time.After(lastWrite):
		}
		tty.reset()
		return 128 + int(sig.(syscall.Signal)), nil
	}
	var exit *gossh.ExitError
	var missing *gossh.ExitMissingError
	switch {
	case err == nil:
		return exitOK, nil
	case errors.As(err, &exit):
		return exit.ExitStatus(), nil
	}
	tty.reset()
	if errors.As(err, &missing) {
		return 0, errHostGone
	}
	return 0, fmt.Errorf("%w: %w", errHostGone, err)
}

// follow runs the command to its end, typing what comes from in.
func follow(s *gossh.Session, command string, in io.Reader) error {
	// Not s.Stdin: Wait would wait for a read of the terminal that nobody ends.
	typed, err := s.StdinPipe()
	if err != nil {
		return err
	}
	if err := s.Start(command); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(typed, in) // ends with either side
		typed.Close()
	}()
	return s.Wait()
}
