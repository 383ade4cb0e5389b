package ptypool

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// prepared prepares a line of sh that leaves a file behind when it runs.
func prepared(t *testing.T, p *Pool, line string) (x *Prepared, r *recorder, ran string) {
	t.Helper()
	ran = filepath.Join(t.TempDir(), "ran")
	r = newRecorder()
	spec := Spec{Argv: []string{"/bin/sh", "-c", "touch " + ran + "; " + line},
		Env: testEnv(t), Cols: 80, Rows: 24}
	x, err := p.Prepare(spec, false, r)
	if err != nil {
		t.Fatal(err)
	}
	return x, r, ran
}

func TestAPreparedProgramRunsOnceItIsStarted(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{})
	x, r, ran := prepared(t, p, "stty size; read line; echo got $line; exit 3")
	term := x.t
	if err := term.Input([]byte("early\r")); err != ErrNotStarted {
		t.Errorf("typed too early: %v", err)
	}
	if _, err := term.Line(); err != ErrNotStarted {
		t.Errorf("its line: %v", err)
	}
	if term.Pid() != 0 || term.Outlives() || !errors.Is(term.Signal(15), os.ErrProcessDone) {
		t.Error("there is a process before the start")
	}
	term.Lock()
	err := errors.Join(term.Resize(100, 30), x.Start(nil))
	again := x.Start(nil)
	x.Refuse([]byte("too late"), 1)
	term.Unlock()
	if err != nil || again != ErrExited {
		t.Fatalf("started: %v, again: %v", err, again)
	}
	r.text(t, "30 100")
	if _, err := os.Stat(ran); err != nil {
		t.Error(err)
	}
	if err := term.Input([]byte("late\r")); err != nil {
		t.Fatal(err)
	}
	if st := r.exit(t, term); st.Code != 3 || !strings.Contains(r.output(), "got late") {
		t.Errorf("ended with %+v after %q", st, r.output())
	}
}

func TestAPreparedProgramThatIsRefusedNeverRuns(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{})
	check(t, p, "it is refused", func(x *Prepared) {
		x.t.Lock()
		defer x.t.Unlock()
		x.Refuse([]byte("no\r\n"), 127)
	}, 127, "no\r\n")
	check(t, p, "it is hung up", func(x *Prepared) { x.t.Hangup(0) }, NotStarted, "")
	check(t, p, "the pool shuts down", func(*Prepared) {
		if err := p.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}, NotStarted, "")
}

// check checks how a prepared program ends that is not started.
func check(t *testing.T, p *Pool, what string, end func(*Prepared), code int, text string) {
	t.Helper()
	x, r, ran := prepared(t, p, "")
	end(x)
	if st := r.exit(t, x.t); st.Code != code || r.output() != text {
		t.Errorf("%s: it ended with %+v after %q", what, st, r.output())
	}
	x.t.Lock()
	err := x.Start(nil)
	x.t.Unlock()
	if _, none := os.Stat(ran); err != ErrExited || none == nil {
		t.Errorf("%s, and started afterwards: %v", what, err)
	}
}

func TestAPreparedProgramRunsOnPipes(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{})
	r := newRecorder()
	x, err := p.Prepare(Spec{Argv: []string{"cat"}, Env: testEnv(t)}, true, r)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.t.Input([]byte("x")); err != ErrNoKeyboard {
		t.Errorf("keys: %v", err)
	}
	out, theirs := io.Pipe()
	errs, theirErrs := io.Pipe()
	go func() { _, _ = io.Copy(io.Discard, errs) }()
	x.t.Lock()
	piped, err := x.StartPiped(nil, theirs, theirErrs)
	x.t.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = piped.Write([]byte("exact\n"))
		piped.CloseInput()
	}()
	if got, err := io.ReadAll(out); string(got) != "exact\n" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	if st := r.exit(t, x.t); st.Code != 0 || r.output() != "exact\r\n" {
		t.Errorf("it ended with %+v after %q", st, r.output())
	}
}

func TestAProgramThatCannotRunIsNotPrepared(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{MaxTerminals: 1})
	var start *StartError
	for _, s := range []Spec{{Argv: []string{"/no/such/program"}},
		{Argv: []string{"/bin/sh"}, Dir: "/no/such/folder"}} {
		if _, err := p.Prepare(s, false, newRecorder()); !errors.As(err, &start) {
			t.Errorf("%+v: %v", s, err)
		}
	}
	x, r, _ := prepared(t, p, "")
	var limit *LimitError
	if _, err := p.Prepare(x.spec, false, newRecorder()); !errors.As(err, &limit) {
		t.Errorf("one too many: %v", err)
	}
	x.t.Hangup(0)
	r.exit(t, x.t)
}
