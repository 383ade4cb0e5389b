package ptypool

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"termhost/ptypool/vt"
)

func TestOutputComesBeforeTheExitAndTheExitOnce(t *testing.T) {
	p := newPool(t, Config{})
	for _, c := range []struct {
		script string
		want   ExitStatus
	}{
		{"echo hello", ExitStatus{Code: 0}},
		{"echo hello; exit 7", ExitStatus{Code: 7}},
		{"echo hello; kill -TERM $$", ExitStatus{Code: 128 + 15, Signal: syscall.SIGTERM}},
		{"echo hello; kill -KILL $$", ExitStatus{Code: 128 + 9, Signal: syscall.SIGKILL}},
	} {
		term, r := sh(t, p, c.script)
		if got := r.exit(t, term); got != c.want {
			t.Errorf("%s: exit %+v, want %+v", c.script, got, c.want)
		}
		if got := r.data.String(); got != "hello\r\n" {
			t.Errorf("%s: output %q", c.script, got)
		}
		if term.backend.(*ptyBackend).ended {
			t.Errorf("%s: the end was a drain that ran out: somebody has the pty open", c.script)
		}
	}
}

func TestTheLastOutputOfShortCommandsIsNeverLost(t *testing.T) {
	p := newPool(t, Config{})
	const total, atOnce = 500, 8
	var wg sync.WaitGroup
	next := make(chan struct{}, total)
	for range total {
		next <- struct{}{}
	}
	close(next)
	for range atOnce {
		wg.Go(func() {
			for range next {
				r := newRecorder()
				term, err := p.Start(Spec{Argv: []string{"/bin/echo", "the last word"}}, r)
				if err != nil {
					t.Error(err)
					return
				}
				r.exit(t, term)
				if got := r.data.String(); got != "the last word\r\n" {
					t.Errorf("output %q", got)
				}
			}
		})
	}
	wg.Wait()
}

func TestTheChildHasDescriptors0To2AndNoOthers(t *testing.T) {
	// One of ours that is not close-on-exec, as a parent might have left it to us.
	fd, err := unix.Open("/dev/null", unix.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	p := newPool(t, Config{})
	term, r := start(t, p, "/bin/ls", "-l", "/proc/self/fd")
	r.exit(t, term)
	var fds []string
	for _, line := range lines(r.output()) {
		name, target, ok := strings.Cut(line, " -> ")
		if ok && !strings.HasPrefix(target, "/proc/") {
			fds = append(fds, name[strings.LastIndexByte(name, ' ')+1:])
		}
	}
	if got := strings.Join(fds, " "); got != "0 1 2" {
		t.Errorf("descriptors %s:\n%s", got, r.output())
	}
}

func TestTheChildLeadsAProcessSessionOnItsTerminal(t *testing.T) {
	p := newPool(t, Config{})
	term, r := sh(t, p, `read pid comm state ppid pgrp session tty fg rest </proc/self/stat
		[ $session = $$ ] && [ $fg = $pgrp ] && [ $tty != 0 ] && echo leads
		stty size; tty; test -t 0 && : </dev/tty && echo has tty`)
	r.exit(t, term)
	for _, want := range []string{"leads", "24 80", "/dev/pts/", "has tty"} {
		if !strings.Contains(r.output(), want) {
			t.Errorf("no %q in %q", want, r.output())
		}
	}
}

func TestSignalsThatTheHostIgnoresAreNotIgnoredByChildren(t *testing.T) {
	signal.Ignore(syscall.SIGHUP, syscall.SIGTSTP) // until New
	p := newPool(t, Config{})
	term, r := start(t, p, "/bin/grep", "-E", "SigIgn|SigBlk", "/proc/self/status")
	r.exit(t, term)
	for _, line := range lines(r.output()) {
		if _, mask, _ := strings.Cut(line, "\t"); strings.Trim(mask, "0") != "" {
			t.Errorf("a child starts with %s", line)
		}
	}
}

func TestResizeReachesProgramAndScreenAndIsClamped(t *testing.T) {
	p := newPool(t, Config{})
	term, r := sh(t, p, `trap 'stty size' WINCH; echo ready; while :; do read x; done`)
	r.text(t, "ready")
	for _, c := range []struct {
		cols, rows int
		want       string
	}{{100, 40, "40 100"}, {0, -3, "1 1"}, {1 << 20, 1 << 20, "500 1000"}} {
		term.Lock()
		err := term.Resize(c.cols, c.rows)
		cols, rows := term.Screen().Size()
		term.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		if wc, wr := ClampSize(c.cols, c.rows); cols != wc || rows != wr {
			t.Errorf("the screen is %dx%d", cols, rows)
		}
		input(t, term, "\n") // dash runs traps between commands
		r.text(t, c.want)
	}
	term.Hangup(0)
	r.exit(t, term)
	term.Lock()
	defer term.Unlock()
	if err := term.Resize(80, 24); !errors.Is(err, ErrExited) {
		t.Errorf("resize after the exit: %v", err)
	}
}

func TestAStartThatFailsSaysWhy(t *testing.T) {
	p := newPool(t, Config{})
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("plain", "#!/bin/sh\n", 0o644)
	write("badinterp", "#!/no/such/interpreter\n", 0o755)
	write("noformat", "\x00\x01\n", 0o755)
	write("script", "echo good from $PWD for $1 by $0\n", 0o755)
	write("good", "#!/bin/sh\necho good from $PWD\n", 0o755)
	for _, c := range []struct {
		argv0, dir string
		want       error
	}{
		{"no-such-program", dir, ErrNotFound},
		{"/no/such/program", dir, ErrNotFound},
		{"./missing", dir, ErrNotFound},
		{"", dir, ErrNotFound},
		{"plain", dir, ErrNotExecutable},
		{"./plain", dir, ErrNotExecutable},
		{dir, dir, ErrNotExecutable},
		{"badinterp", dir, ErrNotFound},
		{"noformat", dir, ErrNotExecutable},
		{"good", filepath.Join(dir, "nowhere"), ErrBadDir},
		{"good", filepath.Join(dir, "good"), ErrBadDir},
	} {
		env := []string{"PATH=/nowhere:" + dir}
		_, err := p.Start(Spec{Argv: []string{c.argv0}, Dir: c.dir, Env: env}, newRecorder())
		var se *StartError
		if !errors.Is(err, c.want) || !errors.As(err, &se) {
			t.Errorf("%q in %s: %v, want %v", c.argv0, c.dir, err, c.want)
		}
	}
	var se *StartError
	_, err := p.Start(Spec{Argv: []string{"./badinterp"}, Dir: dir}, newRecorder())
	if !errors.As(err, &se) || se.Interpreter != "/no/such/interpreter" {
		t.Errorf("a missing interpreter: %v", err)
	}
	long := []string{"./good", strings.Repeat("x", 200<<10)}
	if _, err := p.Start(Spec{Argv: long, Dir: dir}, newRecorder()); !errors.Is(err, ErrTooLong) {
		t.Errorf("a long argument: %v", err)
	}
	// What names no interpreter is run by the shell, as execvp does it.
	env := []string{"PATH=/nowhere:" + dir + ":/bin"}
	for _, argv0 := range []string{"good", "./good", dir + "/good", "script", "./script"} {
		r := newRecorder()
		term, err := p.Start(Spec{Argv: []string{argv0, "me"}, Dir: dir, Env: env}, r)
		if err != nil {
			t.Errorf("%s: %v", argv0, err)
			continue
		}
		r.exit(t, term)
		if !strings.Contains(r.output(), "good from "+dir) {
			t.Errorf("%s: %q", argv0, r.output())
		}
	}
}

func TestArgv0MakesALoginShellAndTTYVarNamesTheDevice(t *testing.T) {
	p := newPool(t, Config{})
	r := newRecorder()
	term, err := p.Start(Spec{
		Argv:  []string{"/bin/sh", "-c", "echo $0; [ $SSH_TTY = $(tty) ] && echo same"},
		Argv0: "-sh", Env: testEnv(t), TTYVar: "SSH_TTY",
	}, r)
	if err != nil {
		t.Fatal(err)
	}
	r.exit(t, term)
	if got := r.data.String(); got != "-sh\r\nsame\r\n" {
		t.Errorf("output %q", got)
	}
}

func TestTheLimitIsATypedErrorAndSlotsComeBack(t *testing.T) {
	p := newPool(t, Config{MaxTerminals: 2})
	a, ra := sh(t, p, "read x")
	v, err := p.Virtual(80, 24, vt.Options{}, newRecorder())
	if err != nil {
		t.Fatal(err)
	}
	var limit *LimitError
	_, err = p.Start(Spec{Argv: []string{"/bin/true"}}, newRecorder())
	if !errors.As(err, &limit) || limit.Limit != 2 || limit.Key != "terminal.max_terminals" {
		t.Fatalf("third terminal: %v", err)
	}
	input(t, a, "\n")
	ra.exit(t, a)
	_, err = p.Start(Spec{Argv: []string{"/no/such/file"}}, newRecorder())
	if !errors.Is(err, ErrNotFound) {
		t.Fatal(err) // and its slot is free again:
	}
	b, rb := sh(t, p, "exit 3")
	rb.exit(t, b)
	v.Hangup(0)
}

func TestAVirtualTerminalIsFedAndEnded(t *testing.T) {
	p := newPool(t, Config{})
	r := newRecorder()
	term, err := p.Virtual(80, 24, vt.Options{}, r)
	if err != nil {
		t.Fatal(err)
	}
	if err := term.Input([]byte("x")); !errors.Is(err, ErrNoProcess) {
		t.Errorf("input: %v", err)
	}
	if err := term.Signal(syscall.SIGINT); !errors.Is(err, ErrNoProcess) {
		t.Errorf("signal: %v", err)
	}
	term.Lock()
	term.Feed([]byte("one \xe2\x82"))
	if err := term.Resize(10, 5); err != nil {
		t.Error(err)
	}
	term.End(ExitStatus{Code: 4})
	term.End(ExitStatus{Code: 5})
	term.Feed([]byte("late"))
	term.Unlock()
	if st := r.exit(t, term); st.Code != 4 {
		t.Errorf("exit %+v", st)
	}
	if got := r.data.String(); got != "one \xe2\x82" {
		t.Errorf("output %q", got)
	}
	r = newRecorder()
	if term, err = p.Virtual(80, 24, vt.Options{}, r); err != nil {
		t.Fatal(err)
	}
	term.Hangup(0)
	if st := r.exit(t, term); st.Code != UnknownExit {
		t.Errorf("exit %+v", st)
	}
}

func TestHeldBackBytesAreReleasedInTime(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{})
	term, r := sh(t, p, `stty -echo; printf 'a\342\202'; read x; printf 'b\342'`)
	r.text(t, "a\xe2\x82") // half a rune, while the program still runs and prints nothing more
	input(t, term, "\n")
	r.exit(t, term)
	if got := r.data.String(); got != "a\xe2\x82b\xe2" {
		t.Errorf("output %q", got)
	}
}

func TestAPanicInTheHandlerEndsThatTerminalOnly(t *testing.T) {
	p := newPool(t, Config{})
	other, ro := sh(t, p, "read x; echo fine")
	term := shTo(t, p, &panicking{newRecorder()}, "echo boom; sleep 1000")
	wait(t, "the end", term.Done())
	r := newRecorder()
	virtual, err := p.Virtual(80, 24, vt.Options{}, &panicking{r})
	if err != nil {
		t.Fatal(err)
	}
	virtual.Lock()
	virtual.Feed([]byte("boom"))
	virtual.Feed([]byte("boom"))
	virtual.Unlock()
	wait(t, "the end", virtual.Done())
	if st := r.exit(t, virtual); st.Code != UnknownExit {
		t.Errorf("exit %+v", st)
	}
	input(t, other, "\n")
	ro.text(t, "fine")
	ro.exit(t, other)
}

type panicking struct{ *recorder }

func (panicking) Data([]byte) { panic("a bug") }

func TestReadyHoldsOutputBack(t *testing.T) {
	p := newPool(t, Config{})
	r := newRecorder()
	asked, gate := make(chan struct{}, 1), make(chan struct{}, 1)
	r.ready = func() {
		select {
		case asked <- struct{}{}:
		default:
		}
		<-gate
	}
	term := shTo(t, p, r, "echo one; read x; echo two")
	held := func() {
		t.Helper()
		wait(t, "the question whether it may be read", asked)
		other := newRecorder() // in whose lifetime the output would have come
		other.exit(t, shTo(t, p, other, "echo something"))
	}
	held()
	if got := r.output(); got != "" {
		t.Errorf("it is not ready, and gets %q", got)
	}
	gate <- struct{}{}
	r.text(t, "one")
	input(t, term, "\n")
	held()
	if got := r.output(); strings.Contains(got, "two") {
		t.Errorf("it is not ready any more, and gets %q", got)
	}
	close(gate)
	r.text(t, "two")
	r.exit(t, term)
}

// wholeRunes notes output that is no valid UTF-8.
type wholeRunes struct {
	*recorder
	torn []byte
}

func (w *wholeRunes) Data(p []byte) {
	if !utf8.Valid(p) {
		w.torn = append([]byte(nil), p...)
	}
	w.recorder.Data(p)
}

func TestARuneThatIsWrittenSlowlyIsNotSplit(t *testing.T) {
	w := &wholeRunes{recorder: newRecorder()}
	// More than the parser waits for the rest of an escape sequence.
	script := `printf 'price: \342\202'; sleep 0.2; printf '\254 5\n'`
	term := shTo(t, newPool(t, Config{}), w, script)
	w.exit(t, term)
	if got := w.data.String(); got != "price: \u20ac 5\r\n" || w.torn != nil {
		t.Errorf("the output is %q, torn at %q", got, w.torn)
	}
}
