package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/authz"
)

func TestWaitEndsWithTheFirstConditionThatHolds(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	c := connect(t, h, carol, "c").c
	term := run(t, h, carol, "x", "echo ready; read x; echo building; read x; exit 7")
	term.awaitOutput(t, "ready")
	waitFor := func(w WaitFor) Waited {
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
	ready, building := regexp.MustCompile("^ready$"), regexp.MustCompile("^building$")
	if got := waitFor(WaitFor{Match: ready, Timeout: patience}); got.Reason != WaitMatch {
		t.Errorf("a line that is retained: %+v", got)
	}
	if got := waitFor(WaitFor{Idle: time.Millisecond}); got.Reason != WaitIdle || got.ExitCode != nil {
		t.Errorf("a pause: %+v", got)
	}
	short := WaitFor{Match: building, Timeout: time.Millisecond}
	if got := waitFor(short); got.Reason != WaitTimeout {
		t.Errorf("a line that does not come: %+v", got)
	}
	go typed()
	if got := waitFor(WaitFor{Match: building}); got.Reason != WaitMatch {
		t.Errorf("a line that comes: %+v", got)
	}
	go typed()
	if got := waitFor(WaitFor{}); got.Reason != WaitExit || got.ExitCode == nil || *got.ExitCode != 7 {
		t.Errorf("the end: %+v", got)
	}
}

func TestWaitEndsWithItsContextAndItsConnection(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	c := connect(t, h, carol, "c").c
	term := run(t, h, carol, "x", "read x")
	gone := errors.New("the caller is gone")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(gone)
	if _, err := c.Wait(ctx, term, WaitFor{}); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
	_, err := c.Wait(context.Background(), term, WaitFor{Command: true})
	if !errors.Is(err, ErrNoCommands) {
		t.Errorf("a shell without integration: %v", err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := c.Wait(context.Background(), term, WaitFor{})
		ended <- err
	}()
	c.End(errTakenOver)
	if err := <-ended; !errors.Is(err, errTakenOver) {
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
	h := newHost(t)
	c := connect(t, h, carol, "c").c
	for i := range 16 {
		term := run(t, h, carol, fmt.Sprint("x", i), "stty -echo; echo ready; read x; echo last; exit 7")
		term.awaitOutput(t, "ready")
		person := attach(t, h, carol, term.Name(), window)
		ctx := calling{context.Background(), sync.OnceFunc(func() {
			if err := person.a.Input([]byte("\r")); err != nil {
				t.Error(err)
			}
			<-term.Done()
		})}
		got, err := c.Wait(ctx, term, WaitFor{Match: regexp.MustCompile("^last$")})
		if err != nil || got.Reason != WaitMatch {
			t.Fatalf("run %d: %+v, %v", i, got, err)
		}
	}
}

// A sequence that stays unfinished for a while is shown in two pieces.
func TestWaitMatchesALineWithASequenceThatCameInTwoPieces(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	c := connect(t, h, carol, "c").c
	term := run(t, h, carol, "x", `stty -echo; printf 'd\033[3'; read x; printf '1mone\n'; read x`)
	term.awaitOutput(t, "d\x1b[3")
	person := attach(t, h, carol, "x", window)
	ctx := calling{context.Background(), sync.OnceFunc(func() {
		if err := person.a.Input([]byte("\r")); err != nil {
			t.Error(err)
		}
	})}
	got, err := c.Wait(ctx, term, WaitFor{Match: regexp.MustCompile("^done$"), Timeout: patience})
	if err != nil || got.Reason != WaitMatch {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestLinesAreMatchedAcrossPieces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pieces []string
		expr   string
		want   bool
	}{
		{[]string{"bui", "ld do", "ne"}, "^build done$", true},
		{[]string{"a\nb"}, "^b", true},
		{[]string{"x\x1b[1mbold\x1b[m"}, "^xbold$", true},
		{[]string{"d\x1b[3", "1mone\n"}, "^done$", true},
		{[]string{"10%\r20%\r"}, "^20%$", true},
		{[]string{"a\n", "b\n"}, "ab", false},
		{[]string{strings.Repeat("x", 2*maxMatchLine), "end"}, "end$", true},
	} {
		m := &lineMatcher{expr: regexp.MustCompile(c.expr)}
		got := false
		for _, p := range c.pieces {
			got = got || m.add([]byte(p))
		}
		if got != c.want {
			t.Errorf("%.40q: %v, want %v", c.pieces, got, c.want)
		}
	}
}

// Two commands in a row, each typed and waited for at once, as an agent does it: the end of the
// first must not be taken for that of the second, even if that is typed before the prompt is back.
func TestWaitForTheCommandThatWasJustTyped(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			path, err := exec.LookPath(shell)
			if err != nil && os.Getenv("TERMHOST_REQUIRE_TOOLS") == "1" {
				t.Fatal(err)
			}
			if err != nil {
				t.Skipf("%s is not installed here", shell)
			}
			h := newHost(t, func(c *Config) { c.ShellIntegration, c.Shell = true, path })
			h.account.Home = t.TempDir() // no files of a user's
			writeFile(t, filepath.Join(h.account.Home, ".bashrc"), "PROMPT_COMMAND='sleep 0.05'\n")
			writeFile(t, filepath.Join(h.account.Home, ".zshrc"), "precmd() { sleep 0.05; }\n")
			typeAndWait(t, h)
		})
	}
}

func typeAndWait(t *testing.T, h *Host) {
	p := connect(t, h, carol, "c")
	uri := p.create("x", "")
	term := h.lookup(uri)
	next := func(line string, code int) {
		t.Helper()
		p.dispatch(uri, ahp.TerminalInput{Data: []byte(line)})
		got, err := p.c.Wait(t.Context(), term, WaitFor{Command: true, Timeout: patience})
		if err != nil || got.Reason != WaitCommand || got.ExitCode == nil || *got.ExitCode != code {
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
	h := newHost(t)
	c := connect(t, h, carol, "c").c
	term := run(t, h, carol, "x", `stty -echo; printf 'done\n\033[1mhalf a '; read x; printf 'line\n'; read x`)
	term.awaitOutput(t, "half a ")
	person := attach(t, h, carol, "x", window)
	p, err := c.StartWait(term, WaitFor{Match: regexp.MustCompile("(done|half a l).*"), Fresh: true})
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
	h := newHost(t)
	first, err := h.Create(carol, CreateOptions{Name: "one", Argv: sh("read x"), Transient: true})
	if err != nil {
		t.Fatal(err)
	}
	run(t, h, carol, "two", "read x")
	attach(t, h, carol, "two", window)
	c := connect(t, h, carol, "c").c
	p, err := c.StartWait(first, WaitFor{})
	if err != nil {
		t.Fatal(err)
	}
	if h.LastUsed(carol).Name() != "two" {
		t.Error("the terminal that is waited for counts as used")
	}
	first.exec.end(hangupGrace, "")
	if got, err := p.End(t.Context()); err != nil || got.Reason != WaitExit || *got.ExitCode != 129 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := h.Find(carol, "one"); err != nil {
		t.Errorf("it was forgotten as if its creator had looked: %v", err)
	}
}

func TestPatternsAreBounded(t *testing.T) {
	t.Parallel()
	for expr, ok := range map[string]bool{
		`[0-9]+ passed`: true, `^.{0,200}$`: true, `a{1000}`: true,
		strings.Repeat("a", 1025): false, strings.Repeat(`.{1000}`, 6): false, "(": false,
	} {
		if _, err := CompilePattern(expr); (err == nil) != ok {
			t.Errorf("%.20s: %v", expr, err)
		}
	}
}

func TestAWaitForWhatIsHiddenOrGone(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	shown, hidden := run(t, h, carol, "shown", "read x"), run(t, h, carol, "hidden", "read x")
	guest := connect(t, h, guestOf(shown, "gwen", authz.Observer), "g").c
	_, none := guest.WaitRequest(ahp.TerminalURI("none"), WaitFor{})
	_, e := guest.WaitRequest(hidden.uri, WaitFor{})
	want := strings.ReplaceAll(none.Message, "none", "hidden")
	if e == nil || e.Code != none.Code || e.Message != want {
		t.Errorf("%v, want %v", e, want)
	}
	p, e := guest.WaitRequest(shown.uri, WaitFor{})
	if e != nil {
		t.Fatal(e)
	}
	h.remove(shown, "carol")
	if got, err := p.End(t.Context()); err != nil || got.Reason != WaitExit || *got.ExitCode != 129 {
		t.Errorf("disposed while it was waited for: %+v, %v", got, err)
	}
	watcher := connect(t, h, eve, "w").c
	p, err := watcher.StartWait(hidden, WaitFor{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Kick(alice, hidden, "eve"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.End(t.Context()); err == nil || !strings.Contains(err.Error(), "alice has ended") {
		t.Errorf("kicked: %v", err)
	}
}
