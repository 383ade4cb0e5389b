package hostlock

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestASecondHostIsRefused(t *testing.T) {
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	if lock, pid, err := StopHolder(dir, syscall.SIGTERM, 0); lock != nil || pid != 0 || err != nil {
		t.Errorf("where there has never been a host: %v, %d, %v", lock, pid, err)
	}
	first, err := Lock(dir, log)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Lock(dir, log)
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("(process %d)", os.Getpid())) {
		t.Errorf("the second is told %v", err)
	}
	first.Close()
	lock, pid, err := StopHolder(dir, syscall.SIGTERM, 0)
	if lock == nil || pid != 0 || err != nil {
		t.Fatalf("where no host runs any more: %v, %d, %v", lock, pid, err)
	}
	defer lock.Close()
	if _, err := Lock(dir, log); err == nil {
		t.Error("a host starts while the lock is held to stop it")
	}
}

// TestAProcessThatDoesNotEndIsKilled has processes that ignore the signal, and that are stopped.
func TestAProcessThatDoesNotEndIsKilled(t *testing.T) {
	for name, c := range map[string]struct {
		script   string
		stopped  bool
		patience time.Duration
	}{
		"ignores it": {"trap '' TERM; echo ready; exec cat", false, 0},
		"stopped":    {"echo ready; exec cat", true, time.Hour},
	} {
		cmd := exec.Command("sh", "-c", c.script)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 10)); err != nil {
			t.Fatal(err)
		}
		if c.stopped {
			if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
		}
		if err := EndProcess(cmd.Process.Pid, syscall.SIGTERM, c.patience); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_ = cmd.Wait()
		// SIGKILL also lets a stopped process end by the signal that came before.
		ws := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if ws.Signal() != syscall.SIGKILL && !c.stopped {
			t.Errorf("%s: it ended with %v", name, cmd.ProcessState)
		}
		if err := EndProcess(cmd.Process.Pid, syscall.SIGTERM, 0); err != nil {
			t.Errorf("%s: when it is gone: %v", name, err)
		}
	}
	if err := EndProcess(0, syscall.SIGTERM, 0); err == nil {
		t.Error("a lock without a process is taken for one")
	}
}
