package host_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/history"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/ahp/rpc"
	"termhost/authz"
)

func TestWaitEndsWithTheFirstConditionThatHolds(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	c := connect(t, h, carol, "c").c
	term := run(t, h, carol, "x", "echo ready; read x; echo building; read x; exit 7")
	awaitOutput(t, h, term, "ready")
	waitFor := func(w host.WaitFor) host.Waited {
		t.Helper()
		got, err := c.Wait(context.Background(), term, w)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	typed := func() {
		if err := attach(t, h, carol, "x", window).a.Input([]byte("\r")); err != nil {
			t.Error(err)
		}
	}
	ready, building := pattern("^ready$"), pattern("^building$")
	if got := waitFor(host.WaitFor{Match: ready, Timeout: hosttest.Patience}); got.Reason != host.WaitMatch {
		t.Errorf("a line that is retained: %+v", got)
	}
	if got := waitFor(host.WaitFor{Idle: time.Millisecond}); got.Reason != host.WaitIdle || got.ExitCode != nil {
		t.Errorf("a pause: %+v", got)
	}
	short := host.WaitFor{Match: building, Timeout: time.Millisecond}
	if got := waitFor(short); got.Reason != host.WaitTimeout {
		t.Errorf("a line that does not come: %+v", got)
	}
	go typed()
	if got := waitFor(host.WaitFor{Match: building}); got.Reason != host.WaitMatch {
		t.Errorf("a line that comes: %+v", got)
	}
	go typed()
	if got := waitFor(host.WaitFor{}); got.Reason != host.WaitExit || got.ExitCode == nil || *got.ExitCode != 7 {
		t.Errorf("the end: %+v", got)
	}
}

func TestWaitEndsWithItsContextAndItsConnection(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	c := connect(t, h, carol, "c").c
	term := run(t, h, carol, "x", "read x")
	gone := errors.New("the caller is gone")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(gone)
	if _, err := c.Wait(ctx, term, host.WaitFor{}); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
	_, err := c.Wait(context.Background(), term, host.WaitFor{Command: true})
	if !errors.Is(err, host.ErrNoCommands) {
		t.Errorf("a shell without integration: %v", err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := c.Wait(context.Background(), term, host.WaitFor{})
		ended <- err
	}()
	over := errors.New("it is over")
	c.End(over)
	if err := <-ended; !errors.Is(err, over) {
		t.Errorf("a connection that has ended: %v", err)
	}
}

// calling is a context that calls a function whenever it is asked whether it is done.
type calling struct {
	context.Context
	call func()
}

func (c calling) Done() <-chan struct{} {
	c.call()
	return c.Context.Done()
}

// A select that finds both new output and the end takes either. This one finds both: the program
// prints and ends when everything before has been pulled, and before the select begins.
func TestWaitLooksAtTheLastOutputBeforeItTellsOfTheEnd(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	c := connect(t, h, carol, "c").c
	for i := range 16 {
		term := run(t, h, carol, fmt.Sprint("x", i), "stty -icanon -echo; echo ready; read x; echo last; exit 7")
		awaitOutput(t, h, term, "ready")
		person := attach(t, h, carol, term.Name(), window)
		ctx := calling{context.Background(), sync.OnceFunc(func() {
			if err := person.a.Input([]byte("\r")); err != nil {
				t.Error(err)
			}
			<-term.Done()
		})}
		got, err := c.Wait(ctx, term, host.WaitFor{Match: pattern("^last$")})
		if err != nil || got.Reason != host.WaitMatch {
			t.Fatalf("run %d: %+v, %v", i, got, err)
		}
	}
}

// A sequence that stays unfinished for a while is shown in two pieces.
func TestWaitMatchesALineWithASequenceThatCameInTwoPieces(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	c := connect(t, h, carol, "c").c
	term := run(t, h, carol, "x", `stty -icanon -echo; printf 'd\033[3'; read x; printf '1mone\n'; read x`)
	awaitOutput(t, h, term, "d\x1b[3")
	person := attach(t, h, carol, "x", window)
	ctx := calling{context.Background(), sync.OnceFunc(func() {
		if err := person.a.Input([]byte("\r")); err != nil {
			t.Error(err)
		}
	})}
	got, err := c.Wait(ctx, term, host.WaitFor{Match: pattern("^done$"), Timeout: hosttest.Patience})
	if err != nil || got.Reason != host.WaitMatch {
		t.Errorf("%+v, %v", got, err)
	}
}

// pattern returns one that is well formed.
func pattern(expr string) *history.Pattern {
	p, err := history.NewPattern(expr, false)
	if err != nil {
		panic(err)
	}
	return p
}

// Two commands in a row, each typed and waited for at once, as an agent does it: the end of the
// first must not be taken for that of the second, even if that is typed before the prompt is back.
func TestWaitForTheCommandThatWasJustTyped(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			path := slowtest.Program(t, shell)
			h := hosttest.New(t, func(c *host.Config) { c.ShellIntegration, c.Shell = true, path })
			home := t.TempDir() // no files of a user's
			host.SetHome(h, home)
			writeFile(t, filepath.Join(home, ".bashrc"), "PROMPT_COMMAND='sleep 0.05'\n")
			writeFile(t, filepath.Join(home, ".zshrc"), "precmd() { sleep 0.05; }\n")
			typeAndWait(t, h)
		})
	}
}

func typeAndWait(t *testing.T, h *host.Host) {
	p := connect(t, h, carol, "c")
	uri := p.create("x", "")
	term := lookup(h, uri)
	next := func(line string, code int) {
		t.Helper()
		p.dispatch(uri, ahp.TerminalInput{Data: []byte(line)})
		got, err := p.c.Wait(t.Context(), term, host.WaitFor{Command: true, Timeout: hosttest.Patience})
		if err != nil || got.Reason != host.WaitCommand || got.ExitCode == nil || *got.ExitCode != code {
			t.Fatalf("%q: %+v, %v", line, got, err)
		}
	}
	for i := 1; i < 8; i++ {
		next(fmt.Sprintf("sh -c 'exit %d'\r", i), i)
	}
	next("\r\r", 7) // nothing comes of an empty line: the last command counts again
}

func TestAFreshMatchIsOfWhatComes(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	c := connect(t, h, carol, "c").c
	term := run(t, h, carol, "x", `stty -icanon -echo; printf 'done\n\033[1mhalf a '; read x; printf 'line\n'; read x`)
	awaitOutput(t, h, term, "half a ")
	person := attach(t, h, carol, "x", window)
	p, err := c.StartWait(term, host.WaitFor{Match: pattern("(done|half a l).*"), Fresh: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := person.a.Input([]byte("\r")); err != nil {
		t.Fatal(err)
	}
	got, err := p.End(t.Context())
	if err != nil || !strings.HasPrefix(got.Line, "half a l") || got.Match != got.Line {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAWaitLeavesNoTraceOfItsOwn(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	first, err := hosttest.Create(h, carol, host.CreateOptions{Name: "one", Argv: sh("read x"), Transient: true})
	if err != nil {
		t.Fatal(err)
	}
	run(t, h, carol, "two", "read x")
	attach(t, h, carol, "two", window)
	c := connect(t, h, carol, "c").c
	p, err := c.StartWait(first, host.WaitFor{})
	if err != nil {
		t.Fatal(err)
	}
	if hosttest.Conn(t, h, carol).LastUsed().Name() != "two" {
		t.Error("the terminal that is waited for counts as used")
	}
	hosttest.Check(t, h.Hangup(alice, first, 2*time.Second))
	if got, err := p.End(t.Context()); err != nil || got.Reason != host.WaitExit || *got.ExitCode != 129 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := hosttest.Find(h, carol, "one"); err != nil {
		t.Errorf("it was forgotten as if its creator had looked: %v", err)
	}
}

func TestPatternsAreBounded(t *testing.T) {
	t.Parallel()
	for expr, ok := range map[string]bool{
		`[0-9]+ passed`: true, `^.{0,200}$`: true, `a{1000}`: true,
		strings.Repeat("a", 1025): false, strings.Repeat(`.{1000}`, 6): false, "(": false,
	} {
		if _, err := history.NewPattern(expr, false); (err == nil) != ok {
			t.Errorf("%.20s: %v", expr, err)
		}
	}
}

func TestAWaitForWhatIsHiddenOrGone(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	shown, hidden := run(t, h, carol, "shown", "read x"), run(t, h, carol, "hidden", "read x")
	guest := connect(t, h, guestOf(shown, "gwen", authz.Observer), "g").c
	_, none := rpc.StartWait(guest, ahp.TerminalURI("none"), host.WaitFor{})
	_, e := rpc.StartWait(guest, hidden.URI(), host.WaitFor{})
	want := strings.ReplaceAll(none.Message, "none", "hidden")
	if e == nil || e.Code != none.Code || e.Message != want {
		t.Errorf("%v, want %v", e, want)
	}
	p, e := rpc.StartWait(guest, shown.URI(), host.WaitFor{})
	if e != nil {
		t.Fatal(e)
	}
	dispose(t, h, shown)
	if got, err := p.End(t.Context()); err != nil || got.Reason != host.WaitExit || *got.ExitCode != 129 {
		t.Errorf("disposed while it was waited for: %+v, %v", got, err)
	}
	watcher := connect(t, h, eve, "w").c
	p, err := watcher.StartWait(hidden, host.WaitFor{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := door(t, h, alice, host.DoorSSH).Kick(hidden, "eve/w"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.End(t.Context()); err == nil || !strings.Contains(err.Error(), "alice has ended") {
		t.Errorf("kicked: %v", err)
	}
}
