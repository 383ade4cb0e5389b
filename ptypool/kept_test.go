package ptypool

import (
	"bytes"
	"fmt"
	"log"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"termhost/ahp/hosttest/slowtest"
	"termhost/ptypool/keeper"
	"termhost/ptypool/nonce"
	"termhost/ptypool/proctag"
)

// This test binary is run as other programs, too.
const (
	asKeeper = "test-keeper" // DIR
	asHost   = "test-host"   // see runFloodHost
	// asBusyHost is runBusyHost.
	asBusyHost = "test-busy-host"
	// keptVariable has all Pools of the tests start their terminals through keepers.
	keptVariable = "TERMHOST_TEST_KEEPER"
)

func otherPrograms() map[string]func(args []string) int {
	return map[string]func([]string) int{
		asKeeper: runKeeper, asHost: runFloodHost, asBusyHost: runBusyHost,
	}
}

// runKeeper is a keeper process.
func runKeeper(args []string) int {
	ready := os.NewFile(keeper.ReadyFD, "ready")
	err := keeper.Serve(keeper.Isolate(), keeper.Config{
		Dir: args[0], Version: "test", Linger: time.Minute, Ready: func() { ready.Close() },
		Log: log.New(os.Stderr, "", log.LstdFlags),
	})
	if err != nil {
		fmt.Fprintln(ready, err)
		return 1
	}
	return 0
}

func linkTo(dir string) *keeper.Link {
	return &keeper.Link{
		Dir: dir, Version: "test", Log: slog.New(slog.DiscardHandler),
		Command: []string{os.Args[0], asKeeper, dir},
	}
}

// newLink returns a link to a keeper that ends with the test.
func newLink(t testing.TB) *keeper.Link {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "keeper")
	l := linkTo(dir)
	c, err := l.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Stop(); err != nil {
			t.Error(err)
		}
		eventually(t, "the keeper has ended", func() bool {
			return syscall.Kill(c.Pid, 0) == syscall.ESRCH
		})
		if said, err := os.ReadFile(filepath.Join(dir, "log")); err != nil || len(said) > 0 {
			t.Errorf("the keeper's log: %s %v", said, err)
		}
	})
	return l
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	most := slowtest.PatienceOf(t)
	for deadline := time.Now().Add(most); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in %v: %s", most, what)
		}
	}
}

// The tests that apply run once more with a keeper.
func TestTerminalsWithAKeeperBehaveLikeThoseWithout(t *testing.T) {
	t.Parallel()
	if os.Getenv(keptVariable) != "" {
		return
	}
	run := "Exit|Start|Hangup|Signal|Input|Piped|Pipes|Interrupt|Script|Shutdown|Drain|Session"
	if slowtest.On(t) {
		run = "."
	}
	most := time.Duration(0) // no bound
	if end, bound := t.Deadline(); bound {
		most = time.Until(end) - 10*time.Second // so that it says itself what hangs
	}
	// The first two take long, and have a keeper anyway; the others are about the files of shells.
	const skip = "^TestNoByteIsLostWhenTheHostIsKilled$|^TestNothingIsLeftWhetherHostOrKeeperIsKilled$|" +
		"^TestBash|^TestZsh|^TestTheUsersFiles|^TestCommandsAreMarkedAfter"
	// Most tests wait for programs, so two halves run beside each other. Each skips the other.
	for half, other := range map[string]string{"A": "^Test[^A]", "other": "^TestA"} {
		t.Run(half, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], "-test.run", run, "-test.skip", skip+"|"+other,
				"-test.timeout", most.String())
			cmd.Env = append(os.Environ(), keptVariable+"=1", slowtest.Variable+"=")
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := startUntagged(cmd); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v: %s", err, tail(out.String(), 8000))
			}
		})
	}
}

// startUntagged starts a program that belongs to no terminal. Otherwise it might be taken for a
// part of a terminal that another test starts at the same moment, and be hung up with it.
func startUntagged(cmd *exec.Cmd) (err error) {
	proctag.Untagged(func() { err = cmd.Start() })
	return err
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

func TestATerminalOutlivesItsKeeper(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "keeper")
	l := linkTo(dir)
	p := newPool(t, Config{Starter: l})
	term, r := sh(t, p, "echo up; read x; echo got $x; exit 9")
	r.text(t, "up")
	c, err := l.Connect()
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(c.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-c.Gone()
	input(t, term, "more\n")
	r.text(t, "got more")
	if st := r.exit(t, term); st.Code != 9 && st.Code != UnknownExit {
		t.Errorf("it ended with %v", st)
	}
	// What is started now has another keeper.
	term, r = sh(t, p, "exit 3")
	if st := r.exit(t, term); st.Code != 3 {
		t.Errorf("the next one ended with %v", st)
	}
	if next, err := l.Connect(); err != nil || next.Pid == c.Pid {
		t.Errorf("no other keeper has been started: %v", err)
	}
	if err := l.Stop(); err != nil {
		t.Error(err)
	}
}

// counting is a log that counts what it may defer.
type counting struct{ deferred atomic.Int32 }

func (c *counting) Defer(keeper.Batch) { c.deferred.Add(1) }

func (c *counting) Flush() {}

// Output may be logged later only where somebody else has it, and where it has one order.
func TestOnlyWhatAKeeperHasOfAPtyIsLoggedLater(t *testing.T) {
	t.Parallel()
	l := linkTo(filepath.Join(t.TempDir(), "keeper"))
	p := newPool(t, Config{Starter: l})
	var log counting
	spec := Spec{Argv: []string{"/bin/sh", "-c", "echo up; read x; echo got $x"}, Cols: 80, Rows: 24,
		Keep: Keep{LogEnd: func() int64 { return 0 }, Deferred: &log}}

	r := newRecorder()
	_, piped, err := p.StartPiped(spec, nil, nil, r)
	if err != nil {
		t.Fatal(err)
	}
	piped.CloseInput()
	r.text(t, "got")
	if n := log.deferred.Load(); n > 0 {
		t.Errorf("%d batches from pipes are logged later", n)
	}

	r = newRecorder()
	term, err := p.Start(spec, r)
	if err != nil {
		t.Fatal(err)
	}
	r.text(t, "up")
	if log.deferred.Load() == 0 {
		t.Error("output of a pty is not logged later")
	}
	c, err := l.Connect()
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(c.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-c.Gone()
	before := log.deferred.Load()
	input(t, term, "more\n")
	r.text(t, "got more")
	if n := log.deferred.Load() - before; n > 0 {
		t.Errorf("%d batches are logged later, and no keeper has them", n)
	}
	r.exit(t, term)
}

func TestTerminalsOfAKeeperAreHungUpWithAllTheyStarted(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{Starter: newLink(t)})
	term, r := sh(t, p, "setsid sleep 1234 & echo bg=$!; trap '' HUP; echo up; while :; do sleep 1; done")
	r.text(t, "up")
	bg := pids(t, r, "bg")["bg"]
	term.Hangup(50 * time.Millisecond)
	if st := r.exit(t, term); st.Signal != syscall.SIGKILL {
		t.Errorf("it ended with %v", st)
	}
	eventually(t, "nothing is left", func() bool { return !running(bg) && !running(term.Pid()) })
}

// While the process table is read, the keeper forks programs that end, and are hung up, before the
// reading ends. At the fork the keeper has their tags.
func TestAShortProgramIsHungUpAlone(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	p := newPool(t, Config{Starter: newLink(t)})
	other, seen := sh(t, p, "echo up; read x; exit 7")
	seen.text(t, "up")
	// The reaper is kept busy, and has much to read behind the keeper.
	busy, r := sh(t, p, `trap '' HUP
		for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
			for j in 1 2 3 4 5 6 7 8 9 10; do sleep 1234 & done
		done
		echo up; wait`)
	r.text(t, "up")
	busy.Hangup(patience)
	for range 300 {
		short, r := start(t, p, "/bin/true")
		r.exit(t, short)
		short.Hangup(0)
	}
	input(t, other, "x\n")
	if st := seen.exit(t, other); st.Code != 7 {
		t.Errorf("another terminal ended with %v", st)
	}
	busy.Hangup(0)
	r.exit(t, busy)
}

// The last host was killed after it changed the pty's size and before it logged that.
func TestATakenTerminalHasTheSizeOfItsLog(t *testing.T) {
	t.Parallel()
	l := newLink(t)
	p := newPool(t, Config{Starter: l})
	marker := p.NewMarker()
	k, err := l.Start(keeper.Program{ID: "x", Marker: marker, Path: "/bin/sh", Dir: "/",
		Argv: []string{"sh", "-c", "read x; stty size"}, Env: os.Environ(), Cols: 90, Rows: 20}, keeper.Memory{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := newRecorder()
	term, err := p.Take(k, Spec{Marker: marker, Cols: 80, Rows: 24}, r)
	if err != nil {
		t.Fatal(err)
	}
	input(t, term, "\n")
	r.text(t, "24 80")
	r.exit(t, term)
}

func TestAProgramThatCannotStartSaysWhyThroughAKeeper(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{Starter: newLink(t)})
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("echo ran $1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	term, r := start(t, p, script, "as a script")
	r.text(t, "ran as a script")
	r.exit(t, term)
	if err := os.WriteFile(script, []byte("#!/no/such/interpreter\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := p.Start(Spec{Argv: []string{script}}, newRecorder())
	if err == nil || !strings.Contains(err.Error(), `its interpreter "/no/such/interpreter"`) {
		t.Errorf("got %v", err)
	}
}

// The terminal's log is sealed, and the secret is lost. A program may know what genuine marks look
// like in the log.
func TestWithoutTheSecretNoMarkCountsAsGenuine(t *testing.T) {
	t.Parallel()
	l := newLink(t)
	k, err := l.Start(keeper.Program{ID: "x", Marker: "x", Path: "/bin/sh", Dir: "/", Cols: 80, Rows: 24,
		Argv: []string{"sh", "-c", `printf '\033]633;C;` + nonce.Genuine + `\aout'; read x`}}, keeper.Memory{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &commands{recorder: newRecorder()}
	spec := Spec{Marker: "x", Cols: 80, Rows: 24}
	spec.VT.Nonce = nonce.Genuine
	term, err := newPool(t, Config{}).Take(k, spec, c)
	if err != nil {
		t.Fatal(err)
	}
	c.text(t, "out")
	input(t, term, "\n")
	c.exit(t, term)
	if len(c.told) > 0 {
		t.Errorf("told %q", c.told)
	}
}
