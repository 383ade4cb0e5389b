package bench

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// patience bounds every wait for a server. It is far more than anything takes.
const patience = 60 * time.Second

// Host is a running `termhost serve`.
type Host struct {
	Cmd      *exec.Cmd
	File     string        // its configuration
	text     []byte        // which said this when it was started
	Greeting string        // what it printed when it could be connected to
	Ended    chan struct{} // closed when it has ended
	Err      error         // how; set before Ended is closed
	Farewell string        // what it printed after the greeting; likewise
}

// StartHost runs `program serve` with a configuration file, in the file's folder, with an
// environment and a log, and waits for its greeting.
func StartHost(program, file string, env []string, log io.Writer) (*Host, error) {
	cmd := exec.Command(program, "serve", "-c", file)
	cmd.Dir, cmd.Env, cmd.Stderr = filepath.Dir(file), env, log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	h := &Host{Cmd: cmd, File: file, text: text, Ended: make(chan struct{})}
	greeting := make(chan string, 1)
	go func() { // until the host closes its output, which it does when it ends
		defer close(h.Ended)
		var text strings.Builder
		greeted := 0 // the length of the greeting
		for lines := bufio.NewScanner(out); lines.Scan(); {
			text.WriteString(lines.Text() + "\n")
			if strings.HasPrefix(lines.Text(), "Socket:") {
				greeted = text.Len()
				greeting <- text.String()
			}
		}
		h.Farewell = text.String()[greeted:]
		h.Err = cmd.Wait()
	}()
	select {
	case h.Greeting = <-greeting:
		return h, nil
	case <-h.Ended:
		return nil, fmt.Errorf("the host ended: %w", h.Err)
	case <-time.After(patience):
		h.Kill()
		return nil, errors.New("the host does not say that it is up")
	}
}

// Stop sends the host a signal and returns how it ended.
func (h *Host) Stop(sig os.Signal) error {
	if err := h.Cmd.Process.Signal(sig); err != nil {
		return err
	}
	select {
	case <-h.Ended:
		return h.Err
	case <-time.After(patience):
		return errors.New("the host does not end")
	}
}

// Kill ends whatever is left of the host, its terminals and its keeper, also when another host has
// taken its place. It may be called again.
func (h *Host) Kill() {
	file := h.File + ".stop" // somebody may have made mistakes in the other one since
	if err := os.WriteFile(file, h.text, 0o600); err != nil {
		file = h.File
	}
	stop := exec.Command(h.Cmd.Path, "stop", "-c", file)
	stop.Args[0], stop.Dir, stop.Env = h.Cmd.Args[0], h.Cmd.Dir, h.Cmd.Env
	if out, err := stop.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "termhost stop: %v: %s\n", err, out)
		_ = h.Cmd.Process.Kill() // it may have ended
	}
	<-h.Ended
}

// Find returns the first word of the greeting that begins with prefix; "": none does.
func (h *Host) Find(prefix string) string {
	for _, word := range strings.Fields(h.Greeting) {
		if strings.HasPrefix(word, prefix) {
			return word
		}
	}
	return ""
}

// SSHCommand returns the words of the ssh command in the greeting.
func (h *Host) SSHCommand() []string {
	for line := range strings.Lines(h.Greeting) {
		if words := strings.Fields(line); len(words) > 0 && words[0] == "ssh" {
			return words
		}
	}
	return nil
}

// SSHAddress returns the name and port in that command.
func (h *Host) SSHAddress() (name, port string) {
	words := h.SSHCommand()
	for i, word := range words[:len(words)-1] {
		if word == "-p" {
			port = words[i+1]
		}
	}
	return words[len(words)-1], port
}

// SSHConfig returns an ssh_config in which the host is called "host".
func (h *Host) SSHConfig() string {
	var b strings.Builder
	b.WriteString("Host host\n")
	words := h.SSHCommand()
	for i := 1; i < len(words); i++ {
		switch words[i] {
		case "-i":
			i++
			fmt.Fprintf(&b, "  IdentityFile %s\n", words[i])
		case "-p":
			i++
			fmt.Fprintf(&b, "  Port %s\n", words[i])
		case "-o":
			i++
			fmt.Fprintf(&b, "  %s\n", strings.Replace(words[i], "=", " ", 1))
		default:
			fmt.Fprintf(&b, "  HostName %s\n", words[i])
		}
	}
	return b.String() + "  BatchMode yes\n  LogLevel ERROR\n"
}

// address returns where its SSH server listens.
func (h *Host) address() string { return net.JoinHostPort(h.SSHAddress()) }
