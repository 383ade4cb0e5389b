package sshcmd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"syscall"
)

// Page makes the host's HTTP door a port of this machine, until ctx ends or ssh does. Meanwhile the
// command that the function command returns runs on the host: it is given the URL of that port, and
// prints the URL to open, which Page passes to show. What ssh has to tell its user goes to stderr.
// At the end of ctx there is no error; an ssh that has failed is an error with an *exec.ExitError
// in it.
func (t Target) Page(ctx context.Context, command func(at string) string, show func(url string),
	stderr io.Writer,
) error {
	port, err := freePort()
	if err != nil {
		return fmt.Errorf("there is no free port: %w", err)
	}
	argv := t.page(port, command(fmt.Sprintf("http://127.0.0.1:%d/", port)))
	if _, err := exec.LookPath(argv[0]); err != nil {
		return fmt.Errorf("cannot run ssh: %w", err)
	}
	ssh := exec.CommandContext(ctx, "/bin/sh",
		append([]string{"-c", ignoreInterrupt, "sh"}, argv...)...)
	ssh.Cancel = func() error { return ssh.Process.Signal(syscall.SIGTERM) }
	ssh.Stderr = stderr
	out, err := ssh.StdoutPipe()
	if err == nil {
		err = ssh.Start()
	}
	if err != nil {
		return fmt.Errorf("cannot run ssh: %w", err)
	}
	lines := bufio.NewReader(out)
	if url, err := lines.ReadString('\n'); err == nil {
		show(strings.TrimSpace(url))
		_, _ = io.Copy(io.Discard, lines)
	}
	if err := ssh.Wait(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("ssh ended: %w", err)
	}
	return nil
}

// ignoreInterrupt runs a command that leaves Ctrl-C to this program, which gets it at the same time
// and ends ssh itself: ssh does not handle a signal that it finds ignored (OpenSSH's clientloop.c).
// It would end with a failure, perhaps before ctx does.
const ignoreInterrupt = `trap "" INT; exec "$@"`

// freePort returns a port of this machine on which nobody listens.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// page returns the command line that makes the host's HTTP door a port of this machine, and keeps
// it there while command runs on the host. The user's own forwardings come with it, because ssh
// clears all or none.
func (t Target) page(port int, command string) []string {
	argv := append(append([]string{}, t.program...), "-T", "-o", "RemoteCommand=none")
	argv = append(append(argv, t.options...), "-S", "none", "-o", "ServerAliveInterval=15")
	return append(argv, "-L", fmt.Sprintf("127.0.0.1:%d:ahp:80", port), t.Dest, command)
}
