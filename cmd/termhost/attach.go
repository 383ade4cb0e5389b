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
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/term"
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

// runRemote runs a command of the host as ssh would: with a pty and a raw
// terminal where there is one. It returns the command's exit status.
func runRemote(client *gossh.Client, command string, std stdio) (status int, err error) {
	s, err := client.NewSession()
	if err != nil {
		return 0, err
	}
	defer s.Close()
	s.Stdout, s.Stderr = std.out, std.err
	// Not s.Stdin: Wait would wait for a read of the terminal that nobody ends.
	in, err := s.StdinPipe()
	if err != nil {
		return 0, err
	}
	if tty, ok := std.in.(*os.File); ok && term.IsTerminal(int(tty.Fd())) {
		restore, err := takeTerminal(tty, s)
		if err != nil {
			return 0, err
		}
		defer restore()
	}
	for _, name := range []string{"LANG", "LC_ALL", "LC_CTYPE", "COLORTERM"} {
		if v := os.Getenv(name); v != "" {
			_ = s.Setenv(name, v) // the host may not want it
		}
	}
	if err := s.Start(command); err != nil {
		return 0, err
	}
	go func() {
		_, _ = io.Copy(in, std.in) // ends with either side
		in.Close()
	}()
	err = s.Wait()
	var exit *gossh.ExitError
	switch {
	case errors.As(err, &exit):
		return exit.ExitStatus(), nil
	case err != nil:
		return 0, fmt.Errorf("the host has gone: %w", err)
	}
	return exitOK, nil
}

// takeTerminal asks for a pty like tty, whose size it keeps telling, and makes
// tty raw until restore is called.
func takeTerminal(tty *os.File, s *gossh.Session) (restore func(), err error) {
	fd := int(tty.Fd())
	cols, rows, err := term.GetSize(fd)
	if err != nil {
		return nil, fmt.Errorf("cannot tell the terminal's size: %w", err)
	}
	if err := s.RequestPty(os.Getenv("TERM"), rows, cols, gossh.TerminalModes{}); err != nil {
		return nil, fmt.Errorf("the host refuses a pty: %w", err)
	}
	old, err := term.MakeRaw(fd)
	if err != nil {
		return nil, fmt.Errorf("cannot make the terminal raw: %w", err)
	}
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for range resized {
			if cols, rows, err := term.GetSize(fd); err == nil {
				_ = s.WindowChange(rows, cols) // a connection that is over needs none
			}
		}
	}()
	return func() {
		signal.Stop(resized)
		close(resized)
		<-stopped
		_ = term.Restore(fd, old)
	}, nil
}
