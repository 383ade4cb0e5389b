package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"termhost/ahp"
	"termhost/ahp/acp/wire"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
)

// otherMethods are the methods that name a terminal.
var otherMethods = []string{wire.MethodOutput, wire.MethodWait, wire.MethodKill, wire.MethodRelease}

func TestABackgroundChildDoesNotDelayTheExit(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), alice)
	id, _ := a.sh("sleep 300 & echo started")
	wantCode(t, a.wait(id), 0)
	if out := a.output(id); out.Output != "started\r\n" {
		t.Fatalf("got %q", out.Output)
	}
}

func TestASignalIsNamed(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), alice)
	id, _ := a.sh("kill -SEGV $$")
	wantSignal(t, a.wait(id), "SIGSEGV")
}

// waited returns what a request that waits for an exit is answered.
func waited(ctx context.Context, r rpc.Reply) (st wire.ExitStatus) {
	raw, _ := r.Wait(ctx)
	_ = json.Unmarshal(raw, &st)
	return st
}

func TestKillKeepsTheTerminal(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), alice)
	id, _ := a.create(command("sh", "-c", "echo up; exec cat"))
	a.sees(id, func(s string) bool { return s == "up\r\n" })
	if out := a.output(id); out.ExitStatus != nil {
		t.Fatalf("it has exited: %+v", out)
	}
	const waiters = 5
	ends := make(chan wire.ExitStatus, waiters)
	for range waiters {
		reply := a.s.Handle(wire.MethodWait, ahp.Encode(of(id)))
		go func() { ends <- waited(t.Context(), reply) }()
	}
	a.must(wire.MethodKill, of(id), nil)
	for range waiters {
		wantSignal(t, <-ends, "SIGTERM")
	}
	a.must(wire.MethodKill, of(id), nil) // again, of one that has exited
	wantSignal(t, a.wait(id), "SIGTERM")
	if out := a.output(id); out.Output != "up\r\n" || out.ExitStatus == nil {
		t.Fatalf("after the kill: %+v", out)
	}
}

// alive reports whether a process is there and no zombie (proc_pid_stat(5)).
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}

// dies waits until a process is gone.
func dies(t testing.TB, pid int) {
	t.Helper()
	hosttest.Eventually(t, fmt.Sprintf("process %d ends", pid), func() bool { return !alive(pid) })
}

// pids reads the ids of n processes that a command prints, one per line.
func (a *peer) pids(id string, n int) []int {
	a.t.Helper()
	out := a.sees(id, func(s string) bool { return strings.Count(s, "\n") == n })
	var list []int
	for _, line := range strings.Fields(out) {
		pid, err := strconv.Atoi(line)
		check(a.t, err)
		list = append(list, pid)
	}
	return list
}

// stubborn is a line that prints the ids of three processes which ignore every polite signal. One
// of them is in a process session of its own.
const stubborn = `trap '' TERM HUP; echo $$
	sleep 300 & echo $!
	setsid sh -c 'echo $$; sleep 300' &
	wait; sleep 300`

func TestKillReachesTheWholeProcessSession(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), alice)
	id, _ := a.sh(stubborn)
	pids := a.pids(id, 3)
	a.must(wire.MethodKill, of(id), nil)
	wantSignal(t, a.wait(id), "SIGKILL")
	for _, pid := range pids {
		dies(t, pid)
	}
}

func TestKillDuringAFlood(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), alice)
	id, _ := a.create(command("yes", strings.Repeat("flood ", 20)).with("outputByteLimit", 1000))
	a.sees(id, func(s string) bool { return len(s) > 900 })
	a.must(wire.MethodKill, of(id), nil)
	wantSignal(t, a.wait(id), "SIGTERM")
	if out := a.output(id); !out.Truncated || len(out.Output) > 1000 {
		t.Fatalf("%d bytes", len(out.Output))
	}
}

func TestReleaseKillsAndForgets(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	a := connect(t, h, alice)
	id, _ := a.sh(stubborn)
	pids := a.pids(id, 3)
	end := make(chan wire.ExitStatus, 1)
	reply := a.s.Handle(wire.MethodWait, ahp.Encode(of(id)))
	go func() { end <- waited(t.Context(), reply) }()
	a.must(wire.MethodRelease, of(id), nil)
	for _, method := range otherMethods {
		e := a.refused(method, of(id), wire.CodeNoSuchTerminal)
		if !strings.Contains(e.Message, "released") {
			t.Errorf("%s after release: %+v", method, e)
		}
	}
	for _, pid := range pids {
		dies(t, pid)
	}
	wantSignal(t, <-end, "SIGKILL")
}

// leaving is a line that leaves a process in the background, which survives the hangup that the
// kernel sends the foreground process group when the shell ends.
const leaving = `trap '' HUP; sleep 300 & echo $!`

func TestReleaseEndsWhatAnExitedCommandLeftBehind(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), alice)
	id, _ := a.sh(leaving)
	pids := a.pids(id, 1)
	a.wait(id)
	if !alive(pids[0]) {
		t.Fatal("the background process ended with its parent")
	}
	a.must(wire.MethodRelease, of(id), nil)
	dies(t, pids[0])
}

func TestIDsAreNotShared(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	a, b := connect(t, h, bot), connect(t, h, carol)
	id, name := a.create(command("cat"))
	for _, method := range otherMethods {
		b.refused(method, of(id), wire.CodeNoSuchTerminal) // in a session of the same id
		a.refused(method, of(id).with("sessionId", "other"), wire.CodeNoSuchTerminal)
	}
	// The same session id of another principal gives no right to the terminal.
	term, err := hosttest.Find(h, carol, name)
	check(t, err)
	if err := h.Hangup(carol, term, 0); err == nil {
		t.Error("another principal may end it")
	}
	if err := hosttest.Conn(t, h, carol).Signal(term, syscall.SIGTERM); err == nil {
		t.Error("another principal may signal it")
	}
}

func TestAllOfAPeerThatLeavesIsEnded(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	a := connect(t, h, alice)
	var pids []int
	for range 3 {
		id, _ := a.sh(stubborn)
		pids = append(pids, a.pids(id, 3)...)
	}
	a.leave()
	for _, pid := range pids {
		dies(t, pid)
	}
}

func TestTwentyAtOnce(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), alice)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			out, st := a.run(command("sh", "-c", "seq 1 5000; exit 7"))
			exited := st.ExitCode != nil && *st.ExitCode == 7
			if !exited || !strings.HasSuffix(out.Output, "5000\r\n") {
				t.Errorf("got %s, %d bytes", ahp.Encode(st), len(out.Output))
			}
		})
	}
	all.Wait()
}

func TestAPeerHasABoundedNumber(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), alice)
	var last string
	for range maxTerminals {
		last, _ = a.create(command("no-such-program"))
	}
	a.refused(wire.MethodCreate, command("true"), ahp.CodeLimit)
	a.must(wire.MethodRelease, of(last), nil)
	a.create(command("true"))
}

func TestAPersonTakesTheKeyboardAndHandsItBack(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	a := connect(t, h, bot)
	dir := t.TempDir()
	check(t, syscall.Mkfifo(filepath.Join(dir, "go"), 0o600))
	const line = `printf 'sure? '; read answer; echo "you said $answer"; read go < go; exit 5`
	id, name := a.create(command("sh", "-c", line).with("cwd", dir))
	a.sees(id, func(s string) bool { return s == "sure? " })
	person, err := h.Connect(alice, host.DoorSSH)
	check(t, err)
	defer person.Close()
	term, err := hosttest.Find(h, alice, name)
	check(t, err)
	at, _, err := person.Attach(term, host.AttachOptions{Cols: 100, Rows: 30})
	check(t, err)
	defer at.Close()
	if err := at.Input([]byte("yes\r")); err != host.ErrBusy { // the size changes first
		t.Fatal(err)
	}
	check(t, at.WaitRoom(t.Context()))
	check(t, at.InputLater([]byte("yes\r")))
	if !at.Holds() {
		t.Fatal("the first key did not take the keyboard")
	}
	a.refused(wire.MethodKill, of(id), ahp.CodeNotPermitted) // a person holds it
	a.sees(id, func(s string) bool { return s == "sure? yes\r\nyou said yes\r\n" })
	if back, err := person.HandBack(at.Terminal(), at, false); err != nil || back.To != bot.Name {
		t.Fatalf("handed back to %+v, %v", back, err)
	}
	check(t, os.WriteFile(filepath.Join(dir, "go"), []byte("go\n"), 0))
	wantCode(t, a.wait(id), 5)
}
