package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"termhost/ahp/hosttest"
)

// launchingAgent is an agent that is only a launcher, in shell. What it launches is in a process
// session of its own, ignores SIGHUP, and has a child; so does what its parent leaves behind.
const launchingAgent = `
trap 'exit 6' TERM
cd "$1"
native='trap "" HUP; sleep 1234 & echo $! >$0.child; echo $$ >$0.tmp; mv $0.tmp $0; wait'
setsid sh -c "$native" native &
sh -c 'setsid sh -c "$0" orphan &' "$native"
echo $$ >agent.tmp; mv agent.tmp agent
while :; do sleep 0.05; done
`

// TestAnAgentTakesItsChildrenWithIt ends agents, and the proxy, in several ways.
func TestAnAgentTakesItsChildrenWithIt(t *testing.T) {
	t.Parallel()
	_, file := serveHere(t)
	for _, c := range []struct {
		name   string
		end    func(proxy, agent int) error
		status int
	}{
		{"killed", func(_, agent int) error { return syscall.Kill(agent, syscall.SIGKILL) }, 137},
		{"ended", func(_, agent int) error { return syscall.Kill(agent, syscall.SIGTERM) }, 6},
		{"with the proxy", func(proxy, _ int) error { return syscall.Kill(proxy, syscall.SIGTERM) }, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			proxy, pids := launch(t, file, dir)
			if err := c.end(proxy.Process.Pid, pids["agent"]); err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := proxy.Wait(); !errors.As(err, &exit) || exit.ExitCode() != c.status {
				t.Errorf("the proxy ends with %v, want status %d", err, c.status)
			}
			for name, pid := range pids {
				hosttest.Eventually(t, name+" ends", func() bool { return !alive(pid) })
			}
		})
	}
}

// TestAnAgentEndsWithAProxyThatIsKilled: there is nobody left then to end what it has started.
func TestAnAgentEndsWithAProxyThatIsKilled(t *testing.T) {
	t.Parallel()
	_, file := serveHere(t)
	proxy, pids := launch(t, file, t.TempDir())
	if err := proxy.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = proxy.Wait()
	hosttest.Eventually(t, "the agent ends", func() bool { return !alive(pids["agent"]) })
}

// launch runs a launchingAgent with a host's configuration, and returns the proxy, and the process
// ids of the agent and of what it has started.
func launch(t *testing.T, file, dir string) (proxy *exec.Cmd, pids map[string]int) {
	t.Helper()
	proxy = exec.Command("termhost", "acp", "--local", "-c", file, "--", "sh", "-c", launchingAgent,
		"sh", dir)
	proxy.Stderr = hosttest.LogFile(t)
	editor, err := proxy.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	pids = map[string]int{}
	t.Cleanup(func() {
		editor.Close()
		_ = proxy.Process.Kill()
		for _, pid := range pids {
			if alive(pid) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	})
	for _, name := range []string{"agent", "native", "orphan", "native.child", "orphan.child"} {
		hosttest.Eventually(t, fmt.Sprintf("%s runs", name), func() bool {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return false
			}
			pids[name], err = strconv.Atoi(strings.TrimSpace(string(text)))
			return err == nil
		})
	}
	return proxy, pids
}
