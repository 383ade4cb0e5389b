package foreground

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"termhost/ahp/hosttest/slowtest"
)

// start runs a program on a pty, whose other end it returns.
func start(t *testing.T, name string, args ...string) (*process, *os.File) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		slowtest.Missing(t, "%s is not installed", name)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), slowtest.Owner(t))
	master, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// Its children, too: where nohup started the tests, its end hangs nobody up.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		master.Close()
	})
	return readProcess(cmd.Process.Pid), master
}

// eventually waits until a condition holds: nothing tells when a program goes to sleep.
func eventually(t *testing.T, otherwise string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(90 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the program %s", otherwise)
		}
	}
}

// Both ways of finding out must come to the same: by the system call, and, where that may not be
// read, by the kernel's function.
func TestHowAProgramWaits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		argv []string
		want wait
	}{
		"cat":      {[]string{"cat"}, reading},
		"sleep":    {[]string{"sleep", "1000"}, nothing},
		"tail -f":  {[]string{"tail", "-f", "/dev/null"}, nothing},
		"/dev/tty": {[]string{"sh", "-c", "exec cat </dev/tty"}, reading},
		"select": {[]string{"python3", "-c",
			"import select, sys; select.select([sys.stdin], [], [])"}, polling},
		"poll": {[]string{"python3", "-c",
			"import select; p = select.poll(); p.register(0, select.POLLIN); p.poll()"}, polling},
		"epoll": {[]string{"python3", "-c",
			"import select; p = select.epoll(); p.register(0, select.EPOLLIN); p.poll()"}, polling},
		"poll for output": {[]string{"python3", "-c",
			"import select; p = select.poll(); p.register(0, 0); p.poll()"}, nothing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := start(t, c.argv[0], c.argv[1:]...)
			eventually(t, "waits in another way", func() bool { return p.waitsFor() == c.want })
			if name == "poll for output" {
				return // the events of a poll are not known without its memory
			}
			eventually(t, "waits in another way by the kernel's function", func() bool {
				where, err := os.ReadFile(taskPath(p.pid, p.pid, "wchan"))
				return p.sleepsIn(string(where), err) == c.want
			})
		})
	}
}

// Whoever is not root may not inspect a program that ends, which is no reason to take it for one
// that reads: what is typed then would be read by the next one.
func TestAProgramThatEndsDoesNotRead(t *testing.T) {
	t.Parallel()
	p, _ := start(t, "sleep", "1000")
	if err := syscall.Kill(p.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "does not end", func() bool { return readProcess(p.pid).state == 'Z' })
	if how := p.waitsFor(); how != nothing {
		t.Errorf("it waits in way %d", how)
	}
}
