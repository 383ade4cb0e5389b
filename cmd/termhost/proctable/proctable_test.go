package proctable_test

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"termhost/cmd/termhost/proctable"
)

// start starts a program in a process session of its own.
func start(t *testing.T, argv ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "PROCTABLE_TEST=a b")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// find returns a process of the table.
func find(t *testing.T, pid int) proctable.Process {
	t.Helper()
	all, err := proctable.All()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(p proctable.Process) bool { return p.PID == pid })
	if i < 0 {
		t.Fatalf("process %d is not among %d", pid, len(all))
	}
	return all[i]
}

func TestAProcessIsInTheTableUntilItIsReaped(t *testing.T) {
	cmd := start(t, "sleep", "600")
	pid := cmd.Process.Pid
	p := find(t, pid)
	if p.Parent != os.Getpid() || p.Group != pid || p.Session != pid || p.Start == 0 || p.Ended {
		t.Errorf("the table says %+v", p)
	}
	if own := find(t, os.Getpid()); own.Start > p.Start || own.Session == pid {
		t.Errorf("the table says of its parent %+v", own)
	}
	if err := p.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	proctable.AwaitEnd(pid)
	if p = find(t, pid); !p.Ended || p.Session != pid {
		t.Errorf("the table says of a zombie %+v", p)
	}
	proctable.AwaitEnd(pid) // which has ended, and still is not reaped
	_ = cmd.Wait()
	if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signal() != syscall.SIGKILL {
		t.Errorf("it has ended by %v", ws)
	}
}

func TestAnotherProcessOfTheSameNumberGetsNoSignal(t *testing.T) {
	p := find(t, start(t, "sleep", "600").Process.Pid)
	p.Start++
	if err := p.Signal(syscall.SIGKILL); err != syscall.ESRCH {
		t.Errorf("an older process of the number was signalled: %v", err)
	}
	if find(t, p.PID).Ended {
		t.Error("the signal has reached a later process of the number")
	}
}

func TestTheEndIsAwaitedThroughAStop(t *testing.T) {
	p := find(t, start(t, "sleep", "600").Process.Pid)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		proctable.AwaitEnd(p.PID)
	}()
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
		t.Error("a process that was stopped counts as ended")
	case <-time.After(50 * time.Millisecond): // it has had time to be wrong
	}
	if err := p.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(90 * time.Second):
		t.Error("the end is not told")
	}
}

func TestAVariableOfAProcess(t *testing.T) {
	pid := start(t, "sleep", "600").Process.Pid
	// The kernel says that the program runs before its variables can be read.
	for begun := time.Now(); !proctable.HasVariable(pid, "PROCTABLE_TEST=a b"); runtime.Gosched() {
		if time.Since(begun) > 90*time.Second {
			t.Fatal("its variable is not seen")
		}
	}
	for _, variable := range []string{"PROCTABLE_TEST=a", "TABLE_TEST=a b"} {
		if proctable.HasVariable(pid, variable) {
			t.Errorf("it has %q", variable)
		}
	}
}
