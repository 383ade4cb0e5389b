package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/rpc"
)

func TestABackgroundChildDoesNotDelayTheExit(t *testing.T) {
	t.Parallel()
	a := connect(t, newHost(t), alice)
	began := time.Now()
	id, _ := a.sh("sleep 300 & echo started")
	wantCode(t, a.wait(id), 0)
	if d := time.Since(began); d > 10*time.Second {
		t.Fatalf("it took %s", d)
	}
	if out := a.output(id); out.Output != "started\r\n" {
		t.Fatalf("got %q", out.Output)
	}
}

func TestASignalIsNamed(t *testing.T) {
	t.Parallel()
	a := connect(t, newHost(t), alice)
	id, _ := a.sh("kill -SEGV $$")
	wantSignal(t, a.wait(id), "SIGSEGV")
}

// waited returns what a request that waits for an exit is answered.
func waited(ctx context.Context, r rpc.Reply) (st exitStatus) {
	raw, _ := r.Wait(ctx)
	_ = json.Unmarshal(raw, &st)
	return st
}

func TestKillKeepsTheTerminal(t *testing.T) {
	t.Parallel()
	a := connect(t, newHost(t), alice)
	id, _ := a.create(params{"command": "sh", "args": []string{"-c", "echo up; exec cat"}})
	a.sees(id, func(s string) bool { return s == "up\r\n" })
	if out := a.output(id); out.ExitStatus != nil {
		t.Fatalf("it has exited: %+v", out)
	}
	const waiters = 5
	ends := make(chan exitStatus, waiters)
	for range waiters {
		reply := a.s.Handle(methodWait, encode(of(id)))
		go func() { ends <- waited(t.Context(), reply) }()
	}
	a.must(methodKill, of(id), nil)
	for range waiters {
		wantSignal(t, <-ends, "SIGTERM")
	}
	a.must(methodKill, of(id), nil) // again, of one that has exited
	wantSignal(t, a.wait(id), "SIGTERM")
	if out := a.output(id); out.Output != "up\r\n" || out.ExitStatus == nil {
		t.Fatalf("after the kill: %+v", out)
	}
}

// alive reports whether a process is there and no zombie.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// dies waits until a process is gone.
func dies(t testing.TB, pid int) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for alive(pid) {
		if time.Now().After(deadline) {
			t.Fatalf("process %d lives", pid)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// pids reads the process ids that a command has printed, one per line, behind
// the word "ready".
func (a *peer) pids(id string) []int {
	a.t.Helper()
	out := a.sees(id, func(s string) bool { return strings.Contains(s, "ready") })
	var list []int
	for _, w := range strings.Fields(out) {
		var pid int
		if json.Unmarshal([]byte(w), &pid) == nil {
			list = append(list, pid)
		}
	}
	return list
}

// stubborn is a line whose processes ignore every polite signal, one of them in a
// process session of its own.
const stubborn = `trap '' TERM HUP; sleep 300 & echo $!; setsid sh -c 'trap "" TERM HUP; echo $$; sleep 300' & sleep 0.2; echo $$; echo ready; wait; sleep 300`

func TestKillReachesTheWholeProcessSession(t *testing.T) {
	t.Parallel()
	a := connect(t, newHost(t), alice)
	id, _ := a.sh(stubborn)
	pids := a.pids(id)
	if len(pids) != 3 {
		t.Fatalf("pids %v", pids)
	}
	a.must(methodKill, of(id), nil)
	wantSignal(t, a.wait(id), "SIGKILL")
	for _, pid := range pids {
		dies(t, pid)
	}
}

func TestKillDuringAFlood(t *testing.T) {
	t.Parallel()
	a := connect(t, newHost(t), alice)
	id, _ := a.create(params{"command": "yes", "args": []string{strings.Repeat("flood ", 20)}, "outputByteLimit": 1000})
	a.sees(id, func(s string) bool { return len(s) > 900 })
	began := time.Now()
	a.must(methodKill, of(id), nil)
	wantSignal(t, a.wait(id), "SIGTERM")
	if d := time.Since(began); d > 10*time.Second {
		t.Fatalf("it took %s", d)
	}
	if out := a.output(id); !out.Truncated || len(out.Output) > 1000 {
		t.Fatalf("%d bytes", len(out.Output))
	}
}

func TestReleaseKillsAndForgets(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	a := connect(t, h, alice)
	id, _ := a.sh(stubborn)
	pids := a.pids(id)
	end := make(chan exitStatus, 1)
	reply := a.s.Handle(methodWait, encode(of(id)))
	go func() { end <- waited(t.Context(), reply) }()
	a.must(methodRelease, of(id), nil)
	for _, method := range []string{methodOutput, methodWait, methodKill, methodRelease} {
		if e := a.call(method, of(id), nil); e == nil || e.Code != codeNoSuchTerminal || !strings.Contains(e.Message, "released") {
			t.Errorf("%s after release: %+v", method, e)
		}
	}
	for _, pid := range pids {
		dies(t, pid)
	}
	wantSignal(t, <-end, "SIGKILL")
}

func TestReleaseEndsWhatAnExitedCommandLeftBehind(t *testing.T) {
	t.Parallel()
	a := connect(t, newHost(t), alice)
	id, _ := a.sh("sleep 300 & echo $!; echo ready")
	pids := a.pids(id)
	a.wait(id)
	if !alive(pids[0]) {
		t.Fatal("the background process ended with its parent")
	}
	a.must(methodRelease, of(id), nil)
	dies(t, pids[0])
}

// listed waits until as many terminals as n are listed: those that have exited
// are counted a moment after their exit is told.
func listed(t testing.TB, h *host.Host, n int) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		list, err := h.List(alice)
		check(t, err)
		if len(list) == n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d are listed, want %d", len(list), n)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestReleasedTerminalsStayListedForAWhile(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	a := connect(t, h, alice)
	for range keepReleased + 5 {
		id, _ := a.sh("echo x")
		a.wait(id)
		a.must(methodRelease, of(id), nil)
	}
	listed(t, h, keepReleased)
}

func TestWhatIsNotReleasedStaysListedBesideWhatIs(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	a := connect(t, h, alice)
	held, name := a.sh("echo held")
	a.wait(held)
	for range keepReleased + 1 {
		id, _ := a.sh("true")
		a.wait(id)
		a.must(methodRelease, of(id), nil)
	}
	listed(t, h, keepReleased+1)
	if _, err := h.Find(alice, name); err != nil {
		t.Fatalf("the agent still has it: %v", err)
	}
	a.must(methodRelease, of(held), nil)
	listed(t, h, keepReleased)
	if _, err := h.Find(alice, name); err != nil {
		t.Errorf("it was released last: %v", err)
	}
}

func TestExitedTerminalsOfAnAgentDoNotPushOthersOut(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(c *host.Config) { c.MaxExited = keepReleased + keepHeld + 2 }) // theirs, and one that has just exited
	theirs, err := h.Create(carol, host.CreateOptions{Name: "carols", Argv: []string{"true"}})
	check(t, err)
	<-theirs.Done()
	m := NewMethods(h, nil)
	var first, last, running string
	for n := range 2 { // agents of one principal, one after the other
		a := join(t, h, m, alice)
		for i := range keepHeld + 1 {
			id, name := a.sh(fmt.Sprintf("echo number %d", i))
			a.wait(id)
			if i == 0 {
				first = id
			}
			last = name
		}
		id, name := a.create(params{"command": "cat"}) // which runs until the connection ends
		running = name
		listed(t, h, keepHeld+2+n*keepReleased)
		// What is not listed any more keeps its output.
		if out := a.output(first); out.Output != "number 0\r\n" || out.ExitStatus == nil {
			t.Fatalf("got %+v", out)
		}
		if out := a.output(id); out.Meta != nil {
			t.Fatalf("it says that it is gone: %+v", out.Meta)
		}
		a.leave()
		listed(t, h, keepReleased+1)
	}
	_, errLast := h.Find(alice, last)
	_, errRunning := h.Find(alice, running)
	if errLast != nil && errRunning != nil {
		t.Errorf("%s: %v; %s: %v", last, errLast, running, errRunning)
	}
	if _, err := h.Find(alice, "carols"); err != nil {
		t.Error(err)
	}
}

func TestWhatIsNotListedAnyMoreSaysSo(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	a := connect(t, h, alice)
	id, _ := a.sh("sleep 300 & echo $!; echo ready")
	pids := a.pids(id)
	a.wait(id)
	for range keepHeld {
		id, _ := a.sh("true")
		a.wait(id)
	}
	listed(t, h, keepHeld)
	if out := a.output(id); out.Meta == nil || !out.Meta.Termhost.Gone {
		t.Fatalf("got %+v", out)
	}
	if !alive(pids[0]) {
		t.Error("what it left in the background was ended")
	}
	a.must(methodRelease, of(id), nil)
	dies(t, pids[0])
}

func TestIDsAreNotShared(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	a, b := connect(t, h, bot), connect(t, h, carol)
	id, name := a.create(params{"command": "cat"})
	for _, method := range []string{methodOutput, methodWait, methodKill, methodRelease} {
		if e := b.call(method, of(id), nil); e == nil || e.Code != codeNoSuchTerminal {
			t.Errorf("%s of another peer's terminal in a session of the same id: %+v", method, e)
		}
		if e := a.call(method, params{"sessionId": "other", "terminalId": id}, nil); e == nil || e.Code != codeNoSuchTerminal {
			t.Errorf("%s in another session: %+v", method, e)
		}
	}
	// The same session id of another principal gives no right to the terminal.
	term, err := h.Find(carol, name)
	check(t, err)
	if err := h.Hangup(carol, term, 0); err == nil {
		t.Error("another principal may end it")
	}
	if err := h.Signal(carol, term, syscall.SIGTERM); err == nil {
		t.Error("another principal may signal it")
	}
}

func TestAllOfAPeerThatLeavesIsEnded(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	a := connect(t, h, alice)
	var pids []int
	for range 3 {
		id, _ := a.sh(stubborn)
		pids = append(pids, a.pids(id)...)
	}
	a.leave()
	for _, pid := range pids {
		dies(t, pid)
	}
}

func TestTwentyAtOnce(t *testing.T) {
	t.Parallel()
	a := connect(t, newHost(t), alice)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			out, st := a.run(params{"command": "sh", "args": []string{"-c", "seq 1 5000; exit 7"}})
			if st.ExitCode == nil || *st.ExitCode != 7 || !strings.HasSuffix(out.Output, "5000\r\n") {
				t.Errorf("got %s, %d bytes", encode(st), len(out.Output))
			}
		})
	}
	all.Wait()
}

func TestAPeerHasABoundedNumber(t *testing.T) {
	t.Parallel()
	a := connect(t, newHost(t), alice)
	var last string
	for range maxTerminals {
		last, _ = a.create(params{"command": "no-such-program"})
	}
	if e := a.call(methodCreate, params{"sessionId": "s", "command": "true"}, nil); e == nil || e.Code != ahp.CodeLimit {
		t.Fatalf("got %+v", e)
	}
	a.must(methodRelease, of(last), nil)
	a.create(params{"command": "true"})
}

func TestAPersonTakesTheKeyboardAndHandsItBack(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	a := connect(t, h, bot)
	dir := t.TempDir()
	id, name := a.create(params{"command": "sh", "cwd": dir,
		"args": []string{"-c", `printf 'sure? '; read answer; echo "you said $answer"; while [ ! -e go ]; do sleep 0.02; done; exit 5`}})
	a.sees(id, func(s string) bool { return s == "sure? " })
	person, err := h.Connect(alice, host.DoorSSH)
	check(t, err)
	defer person.Close()
	term, err := h.Find(alice, name)
	check(t, err)
	at, _, err := person.Attach(term, host.AttachOptions{Cols: 100, Rows: 30})
	check(t, err)
	defer at.Close()
	check(t, at.Input([]byte("yes\r")))
	if !at.Holds() {
		t.Fatal("the first key did not take the keyboard")
	}
	if e := a.call(methodKill, of(id), nil); e == nil || e.Code != ahp.CodeNotPermitted {
		t.Fatalf("the agent kills what a person holds: %+v", e)
	}
	a.sees(id, func(s string) bool { return s == "sure? yes\r\nyou said yes\r\n" })
	if who, err := at.HandBack(); err != nil || who != bot.Name {
		t.Fatalf("handed back to %q, %v", who, err)
	}
	check(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
	wantCode(t, a.wait(id), 5)
}
