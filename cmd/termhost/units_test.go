package main

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"termhost/ahp/hosttest"
	"termhost/cmd/termhost/bench"
)

// unit is a process as the service manager has it: in a group of its own.
type unit struct {
	cmd  *exec.Cmd
	said hosttest.Log
	gone chan struct{} // closed when it has ended
}

func startService(t *testing.T, env []string, args ...string) *unit {
	t.Helper()
	s := &unit{cmd: exec.Command("termhost", args...), gone: make(chan struct{})}
	s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = env, &s.said, io.Discard
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = s.cmd.Wait()
		close(s.gone)
	}()
	t.Cleanup(func() { s.end(t, syscall.SIGKILL) })
	return s
}

// end sends a signal to all of the unit, and waits until it has ended.
func (s *unit) end(t *testing.T, sig syscall.Signal) {
	t.Helper()
	_ = syscall.Kill(-s.cmd.Process.Pid, sig) // it may have ended
	select {
	case <-s.gone:
	case <-time.After(patience):
		t.Fatalf("it does not end after %v: %s", sig, s.said.String())
	}
}

// TestTheUnitsProcesses has host and keeper as the units have them: children of a third process, in
// groups of their own, of which the host's is killed as a whole.
func TestTheUnitsProcesses(t *testing.T) {
	t.Parallel()
	dir := hosttest.Dir(t)
	file := filepath.Join(dir, "c.toml")
	config := hosttest.OwnedConfig(t.Name(), bench.Config(dir))
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME=")
	name := filepath.Join(dir, "notify")
	notified, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: name})
	if err != nil {
		t.Fatal(err)
	}
	defer notified.Close()
	keeper := startService(t, append(env, "NOTIFY_SOCKET="+name), "keeper", "-c", file)
	said := make([]byte, 100)
	_ = notified.SetReadDeadline(time.Now().Add(patience))
	if n, err := notified.Read(said); err != nil || string(said[:n]) != "READY=1" {
		t.Fatalf("the keeper says %q, %v", said[:n], err)
	}
	do := localVerbs(t, env, file)
	startHost := func() *unit {
		host := startService(t, env, "serve", "-c", file)
		hosttest.Eventually(t, "the host is up", func() bool {
			return strings.Contains(host.said.String(), "Socket:")
		})
		return host
	}
	host := startHost()
	do("new", "-d", "-n", "a", "--", "sh", "-c", "echo pid=$$; read x; echo got $x; sleep 1234")
	shell := printedPid(t, do, "a")
	if parent := parentOf(t, shell); parent != keeper.cmd.Process.Pid {
		t.Errorf("the shell's parent is %d, the keeper %d", parent, keeper.cmd.Process.Pid)
	}
	host.end(t, syscall.SIGKILL)
	if !alive(shell) || !alive(keeper.cmd.Process.Pid) {
		t.Fatal("the shell or the keeper has ended with the host's group")
	}
	next := startHost()
	do("send", "--enter", "a", "more")
	do("wait", "--match", "got more", "a")
	if started := keepersOf(t, filepath.Join(dir, ".local/state/termhost")); len(started) > 0 {
		t.Errorf("hosts have started keepers of their own: %v", started)
	}
	// systemctl stop termhost, and then what ExecStop of the keeper's unit does.
	next.end(t, syscall.SIGTERM)
	if !alive(shell) {
		t.Error("the shell has ended with the host")
	}
	do("stop")
	if alive(shell) || alive(keeper.cmd.Process.Pid) {
		t.Error("termhost stop leaves the shell or the keeper")
	}
}

func parentOf(t *testing.T, pid int) int {
	t.Helper()
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	// Behind the command in parentheses: the state, and the parent (proc(5)).
	parent, err := strconv.Atoi(strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))[1])
	if err != nil {
		t.Fatal(err)
	}
	return parent
}
