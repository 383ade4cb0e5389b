package mcptest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/cmd/termhost/bench"
)

// site is a host, with a folder for it and its clients.
type site struct {
	t    testing.TB
	dir  string
	host *bench.Host
	log  hosttest.Log
}

// newSite starts a host on free ports.
func newSite(t testing.TB) *site {
	t.Helper()
	slowtest.Programs(t, "ssh", "bash")
	s := &site{t: t, dir: hosttest.Dir(t)}
	config := s.write("config.toml", fmt.Sprintf("state_dir = %q\nssh.listen = \"127.0.0.1:0\"\n"+
		"http.listen = \"127.0.0.1:0\"\nterminal.env = { TERMHOST_TEST = %q, HOME = %q, PS1 = '$ ' }\nterminal.shell = \"/bin/bash\"\n",
		filepath.Join(s.dir, "state"), t.Name(), s.dir))
	host, err := bench.StartHost(program(t), config, append(os.Environ(), "HOME="+s.dir,
		slowtest.Owner(t)), &s.log)
	hosttest.Check(t, err)
	s.host = host
	s.write("ssh_config", host.SSHConfig())
	t.Cleanup(func() {
		if err := host.Stop(os.Interrupt); err != nil { // which ends the terminals
			t.Errorf("the host ends with %v", err)
			host.Kill()
		}
		if strings.Contains(s.log.String(), "shutdown was not clean") {
			t.Error("the host waits in vain for something that a call has left")
		}
	})
	return s
}

// write writes a file of the site, and returns its path.
func (s *site) write(name, text string) (path string) {
	s.t.Helper()
	path = filepath.Join(s.folder(filepath.Dir(name)), filepath.Base(name))
	hosttest.Check(s.t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// folder makes a folder of the site, and returns its path.
func (s *site) folder(name string) (path string) {
	s.t.Helper()
	path = filepath.Join(s.dir, name)
	hosttest.Check(s.t, os.MkdirAll(path, 0o700))
	return path
}

// sshCommand returns the words of an ssh command to the host.
func (s *site) sshCommand(args ...string) []string {
	s.t.Helper()
	return append([]string{slowtest.Program(s.t, "ssh"), "-F", filepath.Join(s.dir, "ssh_config"), "host"}, args...)
}

// command returns a program's command.
func command(words []string) *exec.Cmd { return exec.Command(words[0], words[1:]...) }

// try runs a verb and returns what it prints on stdout.
func (s *site) try(args ...string) (string, error) {
	var complaint strings.Builder
	cmd := command(s.sshCommand(args...))
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("ssh host %s: %w: %s", strings.Join(args, " "), err, complaint.String())
	}
	return string(out), err
}

// ssh is try, and fails the test if the verb does.
func (s *site) ssh(args ...string) string {
	s.t.Helper()
	out, err := s.try(args...)
	hosttest.Check(s.t, err)
	return out
}

// shows waits until a terminal's log has a text.
func (s *site) shows(name, text string) {
	s.t.Helper()
	hosttest.Eventually(s.t, fmt.Sprintf("%s shows %q", name, text), func() bool {
		log, err := s.try("log", "--text", name)
		return err == nil && strings.Contains(log, text)
	})
}

// person is somebody who is attached to a terminal.
type person struct {
	t     testing.TB
	tty   *os.File
	shown hosttest.Log
	read  int // how much of shown, without escapes, has been matched
}

// attach attaches a person to a terminal, until the test ends.
func (s *site) attach(name string) *person {
	s.t.Helper()
	words := s.sshCommand("attach", name)
	words = append([]string{words[0], "-t"}, words[1:]...)
	cmd := command(words)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 120, Rows: 40})
	hosttest.Check(s.t, err)
	p := &person{t: s.t, tty: tty}
	var done sync.WaitGroup
	done.Go(func() { _, _ = io.Copy(&p.shown, tty) })
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
		tty.Close()
		done.Wait()
	})
	return p
}

func (p *person) types(text string) error {
	_, err := p.tty.WriteString(text)
	return err
}

// escapes matches what a person does not see: control sequences and the like.
var escapes = regexp.MustCompile(`\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|` +
	`\x1b[()][A-Z0-9]|\x1b[=>78MDEHc]|\r`)

// sees waits until what is shown next matches.
func (p *person) sees(pattern string) {
	p.t.Helper()
	if !p.see(pattern) {
		p.t.Fatalf("a person does not see %s, but\n%s", pattern, p.shown.String())
	}
}

// see is sees, and reports whether it happened, for other goroutines than the test's.
func (p *person) see(pattern string) bool {
	re := regexp.MustCompile(pattern)
	for deadline := time.Now().Add(hosttest.Patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		text := escapes.ReplaceAllString(p.shown.String(), "")
		if at := re.FindStringIndex(text[min(p.read, len(text)):]); at != nil {
			p.read += at[1]
			return true
		}
	}
	return false
}

// run is a program that runs, with all that it starts.
type run struct {
	t    testing.TB
	cmd  *exec.Cmd
	out  string        // a file with what it prints on stdout
	log  string        // and on stderr
	done chan struct{} // closed when it has ended
	err  error         // of that; set before done is closed
}

// start runs a program in a folder, with no environment but env, in a process group of its own. Its
// name is for the files of what it prints.
func (s *site) start(name, dir string, env []string, words ...string) *run {
	s.t.Helper()
	r := &run{t: s.t, out: filepath.Join(s.dir, name+".out"), log: filepath.Join(s.dir, name+".log"),
		done: make(chan struct{})}
	out, err := os.Create(r.out)
	hosttest.Check(s.t, err)
	defer out.Close()
	log, err := os.Create(r.log)
	hosttest.Check(s.t, err)
	defer log.Close()
	r.cmd = command(words)
	r.cmd.Dir, r.cmd.Env, r.cmd.Stdout, r.cmd.Stderr = dir, env, out, log
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	hosttest.Check(s.t, r.cmd.Start())
	go func() {
		defer close(r.done)
		r.err = r.cmd.Wait()
	}()
	s.t.Cleanup(r.kill)
	return r
}

// kill ends the program and what it has started.
func (r *run) kill() {
	// The group lives on while the program is not waited for, or has left others in it.
	if err := syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		r.t.Error(err)
	}
	<-r.done
}

// patience is how long a client may take between two turns, of which the longest has a call that
// waits for 4 minutes.
const patience = 6 * time.Minute

// wait waits for the program's end, and returns what it has printed on stdout.
func (r *run) wait() string {
	r.t.Helper()
	select {
	case <-r.done:
	case <-time.After(patience):
		r.t.Errorf("%s does not end", r.cmd.Args[0])
		r.kill()
	}
	out, err := os.ReadFile(r.out)
	hosttest.Check(r.t, err)
	if r.err != nil || r.t.Failed() {
		log, err := os.ReadFile(r.log)
		hosttest.Check(r.t, err)
		const most = 4000
		r.t.Fatalf("%s: %v\n%s\n%s", strings.Join(r.cmd.Args, " "), r.err, tail(out, most), tail(log, most))
	}
	return string(out)
}

// tail returns at most the last n bytes.
func tail(b []byte, n int) []byte { return b[max(len(b)-n, 0):] }
