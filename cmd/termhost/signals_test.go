package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/cmd/termhost/bench"
	"termhost/cmd/termhost/local"
)

// hostAtTTY is `termhost serve` as a person runs it in a terminal.
type hostAtTTY struct {
	t    *testing.T
	cmd  *exec.Cmd
	tty  *os.File
	said hosttest.Log
	gone chan error // closed after how it ended
}

func serveAtTTY(t *testing.T) *hostAtTTY {
	t.Helper()
	dir := hosttest.Dir(t)
	file := filepath.Join(dir, "c.toml")
	config := hosttest.ShConfig(hosttest.OwnedConfig(t.Name(), bench.Config(dir)))
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	h := &hostAtTTY{t: t, cmd: exec.Command("termhost", "serve", "-c", file), gone: make(chan error, 1)}
	h.cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME=")
	var err error
	if h.tty, err = pty.StartWithSize(h.cmd, &pty.Winsize{Cols: 500, Rows: 24}); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = io.Copy(&h.said, h.tty) // it ends with EIO when the host has gone
		h.gone <- h.cmd.Wait()
		close(h.gone)
	}()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("it said %q", h.said.String())
		}
		_ = h.cmd.Process.Signal(stopSignal)
		h.tty.Close()
		select {
		case <-h.gone:
		case <-time.After(patience):
			_ = h.cmd.Process.Kill()
		}
	})
	h.sees("Socket:")
	return h
}

func (h *hostAtTTY) sees(text string) {
	h.t.Helper()
	hosttest.Eventually(h.t, "it says "+text, func() bool { return strings.Contains(h.said.String(), text) })
}

// interrupt types ^C.
func (h *hostAtTTY) interrupt() { h.press("\x03") }

// asksAgain is the answer to a first ^C.
const asksAgain = "\r\n1 terminal is running; ^C again within 3 s ends it"

// interruptToTheEnd types ^C until the host says that it ends its terminal: once more than it is
// asked to, and again where the machine is so slow that the time for another one passes.
func (h *hostAtTTY) interruptToTheEnd() {
	h.t.Helper()
	for ending := false; !ending; {
		asked := strings.Count(h.said.String(), asksAgain)
		h.interrupt()
		hosttest.Eventually(h.t, "it answers ^C", func() bool {
			said := h.said.String()
			ending = strings.Contains(said, "ending 1 terminal")
			return ending || strings.Count(said, asksAgain) > asked
		})
	}
}

func (h *hostAtTTY) press(key string) {
	h.t.Helper()
	if _, err := h.tty.WriteString(key); err != nil {
		h.t.Fatal(err)
	}
}

// ssh runs a command on the host.
func (h *hostAtTTY) ssh(words ...string) (output string) {
	h.t.Helper()
	for line := range strings.Lines(h.said.String()) {
		args := strings.Fields(line)
		if len(args) == 0 || args[0] != "ssh" {
			continue
		}
		args = append(append([]string{"-F", "none"}, args[1:]...), words...)
		out, err := exec.Command("ssh", args...).CombinedOutput()
		if err != nil {
			h.t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	h.t.Fatal("the greeting has no ssh command")
	return ""
}

// ends waits for the end.
func (h *hostAtTTY) ends() {
	h.t.Helper()
	select {
	case err := <-h.gone:
		if err != nil {
			h.t.Fatalf("%v: %s", err, h.said.String())
		}
	case <-time.After(slowtest.PatienceOf(h.t)):
		h.t.Fatalf("it does not end: %s", h.said.String())
	}
}

func TestInterruptAtATerminal(t *testing.T) {
	t.Parallel()
	h := serveAtTTY(t)
	h.ssh("new", "-d", "-n", "one", "--", "exec sleep 1234")
	h.interrupt()
	h.sees(asksAgain + fmt.Sprintf("\r\n"+
		"To stop the host and keep it for the next `termhost serve`: kill %d\r\n", h.cmd.Process.Pid))
	h.ssh("peek", "one")
	h.interruptToTheEnd()
	h.ends()
}

func TestQuitAtATerminalIsAnInterrupt(t *testing.T) {
	t.Parallel()
	h := serveAtTTY(t)
	h.ssh("new", "-d", "-n", "one", "--", "exec sleep 1234")
	h.press("\x1c")
	h.sees(asksAgain)
	h.ssh("peek", "one")
	h.interruptToTheEnd()
	h.ends()
}

func TestInterruptWithoutTerminalsEndsTheHostAtOnce(t *testing.T) {
	t.Parallel()
	h := serveAtTTY(t)
	slowtest.Hurry(t)
	h.interrupt()
	h.ends()
	if strings.Contains(h.said.String(), "again") {
		t.Error(h.said.String())
	}
}

// TestInterruptDuringTheShutdownDoesNotWait has a terminal whose programs take the whole grace. A
// machine that is too slow to type a ^C within the grace gets another try.
func TestInterruptDuringTheShutdownDoesNotWait(t *testing.T) {
	t.Parallel()
	const tries = 5
	for range tries {
		if h := endImpatiently(t); strings.Contains(h.said.String(), impatient) {
			return
		}
	}
	t.Errorf("in %d tries it never said %q", tries, impatient)
}

// endImpatiently ends a host with one ^C more than it takes, and its process must be gone, too.
func endImpatiently(t *testing.T) *hostAtTTY {
	t.Helper()
	h := serveAtTTY(t)
	h.ssh("new", "-d", "-n", "one", "--", "trap '' HUP; sleep 1234 & echo up $!.; wait; exec sleep 1234")
	h.ssh("wait", "--match", "'up [0-9]+[.]'", "one")
	pid := regexp.MustCompile(`up (\d+)`).FindStringSubmatch(h.ssh("peek", "one"))
	h.interruptToTheEnd()
	slowtest.Hurry(t)
	_, _ = h.tty.WriteString("\x03") // it may have ended
	h.ends()
	if stat, err := os.ReadFile("/proc/" + pid[1] + "/stat"); err == nil &&
		!strings.Contains(string(stat), ") Z ") { // a zombie is init's to collect
		t.Errorf("a process outlives the host: %s", stat)
	}
	return h
}

// TestTheEndOfTheLogsReaderDoesNotEndTheHost closes the pipes that the host writes to, as `serve |
// head` and `serve 2>&1 | grep -m1` do.
func TestTheEndOfTheLogsReaderDoesNotEndTheHost(t *testing.T) {
	t.Parallel()
	dir := hosttest.Dir(t)
	file := filepath.Join(dir, "c.toml")
	config := hosttest.OwnedConfig(t.Name(), bench.Config(dir))
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("termhost", "serve", "-c", file)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME=")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	w.Close()
	if _, err := r.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	r.Close()
	// Each SIGHUP is logged to the pipe that nobody reads.
	socket := filepath.Join(dir, ".local/state/termhost/ahp.sock")
	for range 3 {
		if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		hosttest.Eventually(t, "the host answers", func() bool {
			client, err := local.Dial(socket)
			if err == nil {
				client.Close()
			}
			return err == nil
		})
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		var exit *exec.ExitError
		errors.As(err, &exit)
		t.Errorf("the host ended with %v", exit)
	}
}

func TestTheUmaskOfTerminalsIsAtLeast022(t *testing.T) {
	t.Parallel()
	for umask, want := range map[string]string{"0": "0022\n", "077": "0077\n"} {
		dir := hosttest.Dir(t)
		file := filepath.Join(dir, "c.toml")
		config := hosttest.OwnedConfig(t.Name(), bench.Config(dir))
		if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		env := append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME=")
		serve := exec.Command("sh", "-c", "umask "+umask+"; exec termhost serve -c "+file)
		serve.Env = env
		if err := serve.Start(); err != nil {
			t.Fatal(err)
		}
		hosttest.Eventually(t, "the host answers", func() bool {
			client, err := local.Dial(filepath.Join(dir, ".local/state/termhost/ahp.sock"))
			if err == nil {
				client.Close()
			}
			return err == nil
		})
		run := exec.Command("termhost", "run", "--", "sh", "-c", "umask")
		run.Env = env
		if got, err := run.Output(); err != nil || string(got) != want {
			t.Errorf("under umask %s a program has %q, %v; want %q", umask, got, err, want)
		}
		if err := serve.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		if err := serve.Wait(); err != nil {
			t.Error(err)
		}
	}
}
