package host_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/ahp/rpc"
	"termhost/ahp/store"
	"termhost/authz"
)

// alive reports whether a process runs.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil && !zombie(pid) }

func zombie(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true
	}
	return strings.Contains(string(b), ") Z ")
}

func TestDisposeEndsEveryProcess(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	dir := t.TempDir()
	script := `trap "" HUP TERM INT
setsid sh -c 'trap "" HUP; echo $$ >` + dir + `/setsid; exec sleep 1000' </dev/null >/dev/null 2>&1 &
(trap "" HUP; exec sleep 1000) & echo $! >` + dir + `/child
echo $$ >` + dir + `/leader
while [ ! -s ` + dir + `/setsid ]; do :; done
echo ready
while :; do sleep 1000; done`
	term := run(t, h, carol, "x", script)
	awaitOutput(t, h, term, "ready")
	begin := time.Now()
	if err := hosttest.Dispose(h, carol, term); err != nil {
		t.Fatal(err)
	}
	st, _ := term.Exit()
	if st.Code != 137 {
		t.Errorf("a leader that ignores SIGHUP ends with %d", st.Code)
	}
	for _, name := range []string{"setsid", "child", "leader"} {
		pid := readPid(t, filepath.Join(dir, name))
		for alive(pid) {
			if time.Since(begin) > hosttest.Patience {
				t.Fatalf("%s lives on", name)
			}
			time.Sleep(time.Millisecond) // there is nothing to wait on: it is not our child
		}
	}
}

func TestDisposeTellsTheExitThenTheListThenReleases(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	p := connect(t, h, carol, "c")
	keep := p.create("keep", "/bin/cat")
	uri := p.create("x", "/bin/cat")
	p.follow(ahp.RootURI)
	p.subscribe(uri)
	p.pending()
	term := lookup(h, uri)
	if e := rpc.DisposeTerminal(p.c, "AHP-TERMINAL:/./x"); e != nil {
		t.Fatal(e)
	}
	wait(t, "the release", term.Gone())
	if list := rootList(t, h, eve); len(list) != 1 {
		t.Errorf("it was released before the list was out: %+v", list)
	}
	exited := p.until("the exit", ofType("terminal/exited"))
	if code := exited.Action().(ahp.TerminalExited).ExitCode; code == nil || *code != 129 {
		t.Errorf("exit code %v", code)
	}
	list := p.until("the list without it", func(e *store.Entry) bool {
		l, ok := e.Action().(ahp.RootTerminalsChanged)
		return ok && len(l.Terminals) == 1 && l.Terminals[0].Resource == keep
	})
	if list.Seq() < exited.Seq() {
		t.Error("the list came before the exit")
	}
	for p.c.Subscriber().Pending() {
		p.pending()
	}
	if n := p.c.Subscriptions(); n != 1 {
		t.Errorf("%d subscriptions are left", n)
	}
	for name, e := range map[string]*ahp.Error{
		"again":   rpc.DisposeTerminal(p.c, uri),
		"unknown": rpc.DisposeTerminal(p.c, "ahp-terminal:/none"),
	} {
		if e == nil || e.Code != ahp.CodeNotFound {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if e := rpc.DisposeTerminal(p.c, "no uri"); e == nil || e.Code != ahp.CodeInvalidParams {
		t.Errorf("%+v", e)
	}
	if e := rpc.Error(p.c, p.c.Subscribe(uri, nil)); e == nil || e.Code != ahp.CodeNotFound {
		t.Errorf("subscribe: %+v", e)
	}
	if got := p.dispatch(uri, ahp.TerminalInput{Data: []byte("x")}); got != reasonUnknown {
		t.Errorf("input: %q", got)
	}
}

func TestADisposedNameIsFreeAtOnce(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	p := connect(t, h, carol, "c")
	for range 20 {
		uri := p.create("x", "/bin/cat")
		if st := p.subscribe(uri); st.Exited {
			t.Fatal("the new terminal is the old one")
		}
		if e := rpc.DisposeTerminal(p.c, uri); e != nil {
			t.Fatal(e)
		}
	}
}

func TestConcurrentDisposesAllReturnWhenItIsGone(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term := run(t, h, carol, "x", "exec cat")
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if err := hosttest.Dispose(h, alice, term); err != nil {
				t.Error(err)
			}
			if lookup(h, term.URI()) != nil {
				t.Error("it is still found")
			}
		})
	}
	wg.Wait()
	wait(t, "the release", term.Gone())
}

func TestWhoMayNotDispose(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term := run(t, h, carol, "x", "exec cat")
	var denied *authz.Denied
	for _, p := range []authz.Principal{bot, eve} {
		if err := hosttest.Dispose(h, p, term); !errors.As(err, &denied) {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
	if exited(term) {
		t.Error("it was ended all the same")
	}
}

func TestTransientTerminalsGoWithTheirCreatorsLastLook(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	create := func(name string) (*host.Conn, *host.Attach) {
		c, err := h.Connect(carol, host.DoorSSH)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		a, _, err := createAttached(c, host.CreateOptions{Name: name, Argv: sh("read x"),
			Transient: true}, host.AttachOptions{Cols: 80, Rows: 24})
		if err != nil {
			t.Fatal(err)
		}
		return c, a
	}
	listed := func(name string) bool { _, err := hosttest.Find(h, carol, name); return err == nil }

	c, a := create("watched")
	other := attach(t, h, alice, "watched", host.AttachOptions{})
	second, _, err := c.Attach(a.Terminal(), host.AttachOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Input([]byte("\r")); err != nil {
		t.Fatal(err)
	}
	wait(t, "exit", a.Terminal().Done())
	other.a.Close()
	a.Close()
	a.Close()
	if !listed("watched") {
		t.Error("it went although its creator still watches")
	}
	second.Close()
	if listed("watched") {
		t.Error("it stays after its creator's last look")
	}

	_, a = create("left")
	a.Close()
	admin := attach(t, h, alice, "left", host.AttachOptions{})
	if err := admin.a.Input([]byte("\r")); err != nil {
		t.Fatal(err)
	}
	wait(t, "exit", a.Terminal().Done())
	attach(t, h, carol, "left", host.AttachOptions{}).a.Close() // a look at what it was
	if !listed("left") {
		t.Error("one that exited while nobody watched is gone")
	}
}

func TestWhatAShellLeavesInTheBackgroundOutlivesIt(t *testing.T) {
	t.Parallel()
	h, err := host.New(host.Config{Shell: "/bin/sh", StateDir: t.TempDir(), MaxExited: 0,
		Env: hosttest.Owned(t, nil)})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := func(name string) string {
		name = filepath.Join(dir, name)
		return "setsid sh -c 'echo $$ >" + name + "; exec sleep 1000' </dev/null >/dev/null 2>&1 & while [ ! -s " + name + " ]; do :; done; exit 0"
	}
	swept := run(t, h, carol, "swept", script("swept"))
	wait(t, "its going", swept.Gone())

	c, err := h.Connect(carol, host.DoorSSH)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	a, _, err := createAttached(c, host.CreateOptions{Argv: sh(script("login")), Transient: true}, window)
	if err != nil {
		t.Fatal(err)
	}
	wait(t, "exit", a.Terminal().Done())
	a.Close()
	wait(t, "its going", a.Terminal().Gone())

	if err := h.Shutdown(t.Context()); err != nil { // waits until what is to be killed is
		t.Error(err)
	}
	for _, name := range []string{"swept", "login"} {
		pid := readPid(t, filepath.Join(dir, name))
		if !alive(pid) {
			t.Errorf("%s: its background process is gone with it", name)
		}
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

func readPid(t *testing.T, name string) int {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || pid <= 1 {
		t.Fatalf("pid %q: %v", b, err)
	}
	return pid
}

func TestExitedTerminalsStayAsManyAsConfigured(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.MaxExited = 3 })
	var terms []*host.Terminal
	for range 6 {
		term := run(t, h, carol, "", "exit 0")
		wait(t, "exit", term.Done())
		terms = append(terms, term)
	}
	running := run(t, h, carol, "running", "exec cat")
	for _, term := range terms[:3] {
		wait(t, "the oldest to go", term.Gone())
	}
	for _, term := range append(terms[3:], running) {
		if lookup(h, term.URI()) == nil {
			t.Errorf("%s is gone", term)
		}
	}
}

func TestNobodyPushesOutWhatOthersHaveLeft(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.MaxExited = 4 })
	exited := func(p authz.Principal) *host.Terminal {
		t.Helper()
		term := run(t, h, p, "", "exit 0")
		wait(t, "exit", term.Done())
		return term
	}
	evidence := []*host.Terminal{exited(alice), exited(alice)}
	var others []*host.Terminal
	for range 6 {
		others = append(others, exited(carol))
	}
	for _, term := range others[:4] {
		wait(t, "the oldest of the one who has most to go", term.Gone())
	}
	for _, term := range append(evidence, others[4:]...) {
		if lookup(h, term.URI()) == nil {
			t.Errorf("%s is gone", term)
		}
	}
}

func TestWithNoneToStayAnExitedTerminalGoesAtOnce(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.MaxExited = 0 })
	slowtest.Hurry(t)
	wait(t, "its going", run(t, h, carol, "x", "exit 0").Gone())
}

func TestExitedTerminalsGoWhenTheyAreOld(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h, err := host.New(host.Config{Shell: "/bin/sh", StateDir: dir, MaxExited: 64, ExitedTTL: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		term, err := hosttest.Create(h, carol, host.CreateOptions{Argv: []string{"/bin/true"}})
		if err != nil {
			t.Fatal(err)
		}
		<-term.Gone()
		if age := time.Since(begin); age < time.Hour || age > time.Hour+time.Minute {
			t.Errorf("it went after %s", age)
		}
		if err := h.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
