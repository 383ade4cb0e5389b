package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/cmd/termhost/bench"
)

// container is `termhost keeper -- serve` as process 1 of a PID namespace.
type container struct {
	t     *testing.T
	cmd   *exec.Cmd // unshare
	said  hosttest.Log
	ended chan struct{} // closed when unshare has ended
	file  string
	env   []string
	init  int // the process id of the container's first process, seen from outside
}

func startContainer(t *testing.T) *container {
	t.Helper()
	enter := []string{"--pid", "--fork", "--mount-proc", "--kill-child"}
	if os.Getuid() != 0 {
		enter = append(enter, "--user", "--map-root-user")
	}
	if out, err := exec.Command("unshare", append(enter, "true")...).CombinedOutput(); err != nil {
		t.Skipf("no PID namespace can be made here: %v: %s", err, out)
	}
	dir := hosttest.Dir(t)
	c := &container{t: t, file: filepath.Join(dir, "c.toml"), ended: make(chan struct{})}
	config := hosttest.OwnedConfig(t.Name(), bench.Config(dir))
	if err := os.WriteFile(c.file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	c.env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME=")
	c.cmd = exec.Command("unshare", append(enter, "termhost", "keeper", "--", "serve", "-c", c.file)...)
	c.cmd.Env, c.cmd.Stdout, c.cmd.Stderr = c.env, &c.said, &c.said
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = c.cmd.Wait()
		close(c.ended)
	}()
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill() // --kill-child ends the first process, and with it the rest
		<-c.ended
		hosttest.Eventually(t, "the container ends", func() bool { return !alive(c.init) })
	})
	c.sees("Socket:", 1)
	c.init = c.only(childrenOf(t, c.cmd.Process.Pid))
	return c
}

func (c *container) sees(text string, times int) {
	c.t.Helper()
	hosttest.Eventually(c.t, fmt.Sprintf("it says %q %d times", text, times), func() bool {
		return strings.Count(c.said.String(), text) >= times
	})
}

func (c *container) only(pids []string) int {
	c.t.Helper()
	if len(pids) != 1 {
		c.t.Fatalf("there are %q, not one: %s", pids, c.said.String())
	}
	pid, err := strconv.Atoi(pids[0])
	if err != nil {
		c.t.Fatal(err)
	}
	return pid
}

// host returns the process id of the host, which says "Socket:" for the n-th time.
func (c *container) host(n int) int {
	c.t.Helper()
	c.sees("Socket:", n)
	var hosts []string
	for _, pid := range childrenOf(c.t, c.init) {
		line, _ := os.ReadFile("/proc/" + pid + "/cmdline") // it may have ended
		if strings.Contains(string(line), "\x00-c\x00") {
			hosts = append(hosts, pid)
		}
	}
	return c.only(hosts)
}

func (c *container) signal(pid int, sig syscall.Signal) {
	c.t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		c.t.Fatal(err)
	}
}

// do runs a local verb in the container.
func (c *container) do(args ...string) string {
	c.t.Helper()
	args = append([]string{"--target", strconv.Itoa(c.init), "--pid", "--mount", "termhost", args[0],
		"-c", c.file}, args[1:]...)
	if os.Getuid() != 0 {
		args = append([]string{"--user", "--preserve-credentials"}, args...)
	}
	cmd := exec.Command("nsenter", args...)
	cmd.Env = c.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("%q: %v: %s", args, err, out)
	}
	return string(out)
}

// end waits until the container has ended and returns its exit code.
func (c *container) end() int {
	c.t.Helper()
	<-c.ended
	return c.cmd.ProcessState.ExitCode()
}

func TestProcessOneOfAContainerStartsTheHostAgain(t *testing.T) {
	t.Parallel()
	c := startContainer(t)
	if got := c.do("run", "--", "echo", "up"); got != "up\n" {
		t.Fatalf("it says %q", got)
	}
	c.signal(c.init, syscall.SIGHUP)
	c.sees("configuration", 1)
	c.do("new", "-d", "-n", "a", "--", "sh", "-c", "echo up; read x; echo got $x; sleep 1234")
	first := c.host(1)
	c.signal(first, syscall.SIGKILL)
	second := c.host(2)
	if first == second || !strings.Contains(c.said.String(), "ended by a signal: killed") {
		t.Errorf("after SIGKILL of host %d there is %d: %s", first, second, c.said.String())
	}
	if got := c.do("run", "--", "echo", "again"); got != "again\n" {
		t.Errorf("it says %q", got)
	}
	// The orphan's parent has ended before it: process 1 collects its status.
	c.do("run", "--", "sh", "-c", "setsid sh -c 'sleep 0.1' >/dev/null 2>&1 </dev/null & exit 0")
	hosttest.Eventually(t, "no zombie is left", func() bool {
		for _, pid := range childrenOf(t, c.init) {
			stat, _ := os.ReadFile("/proc/" + pid + "/stat")
			if strings.Contains(string(stat), ") Z ") || strings.Contains(string(stat), "(sleep)") {
				return false
			}
		}
		return true
	})
	c.do("send", "--enter", "a", "more")
	c.do("wait", "--match", "got more", "a")
	c.signal(c.init, syscall.SIGTERM)
	if code := c.end(); code != exitOK {
		t.Errorf("after SIGTERM it ended with %d: %s", code, c.said.String())
	}
	if !strings.Contains(c.said.String(), "ending 1 terminal") {
		t.Errorf("the terminals are not ended in order: %s", c.said.String())
	}
}

func TestProcessOneOfAContainerEndsWithItsHost(t *testing.T) {
	t.Parallel()
	c := startContainer(t)
	c.signal(c.host(1), syscall.SIGINT)
	if code := c.end(); code != exitOK {
		t.Errorf("it ended with %d: %s", code, c.said.String())
	}
}

func TestAMistakeInTheConfigurationEndsProcessOne(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "c.toml")
	if err := os.WriteFile(file, []byte("nonsense = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("termhost", "keeper", "--", "serve", "-c", file)
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != exitUsage {
		t.Errorf("it ended with %d: %s", code, out)
	}
}
