package ptypool

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"termhost/ahp/hosttest/slowtest"
)

// exact is one output of a program on pipes, with all that came.
type exact struct {
	bytes.Buffer
	closed chan struct{}
}

func (e *exact) Close() error {
	close(e.closed)
	return nil
}

// piped is a program on pipes.
type piped struct {
	*recorder
	*Piped
	term           *Term
	stdout, stderr *exact
}

func startPiped(t testing.TB, script string) *piped {
	t.Helper()
	p := &piped{recorder: newRecorder(), stdout: &exact{closed: make(chan struct{})},
		stderr: &exact{closed: make(chan struct{})}}
	spec := Spec{Argv: []string{"/bin/sh", "-c", script}, Env: testEnv(t), Cols: 80, Rows: 24}
	var err error
	p.term, p.Piped, err = newPool(t, Config{}).StartPiped(spec, p.stdout, p.stderr, p.recorder)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *piped) send(t testing.TB, data []byte) {
	t.Helper()
	if n, err := p.Write(data); n != len(data) || err != nil {
		t.Fatalf("%d of %d bytes were taken: %v", n, len(data), err)
	}
}

func TestBytesPassThroughPipesUnchanged(t *testing.T) {
	data := make([]byte, 3<<20+1)
	_, _ = rand.Read(data)
	copy(data, "\x03\x04\x1a\r\n\x00\x1b[6n"+strings.Repeat("x", 22000))
	p := startPiped(t, "exec cat")
	p.send(t, data)
	p.CloseInput()
	if st := p.exit(t, p.term); st.Code != 0 {
		t.Errorf("exit %+v", st)
	}
	if !bytes.Equal(p.stdout.Bytes(), data) || p.stderr.Len() > 0 {
		t.Errorf("%d bytes went in, %d and %d came out, or others", len(data), p.stdout.Len(),
			p.stderr.Len())
	}
}

func TestOutputAndErrorsAreSeparateForReadersAndTogetherOnTheScreen(t *testing.T) {
	p := startPiped(t, "echo out; read x; echo err >&2; read x; printf 'a\\r\\nb'; exit 3")
	p.text(t, "out\r\n")
	p.send(t, []byte("\n"))
	p.text(t, "err\r\n")
	p.send(t, []byte("\n"))
	if st := p.exit(t, p.term); st.Code != 3 {
		t.Errorf("exit %+v", st)
	}
	if out, err := p.stdout.String(), p.stderr.String(); out != "out\na\r\nb" || err != "err\n" {
		t.Errorf("stdout %q, stderr %q", out, err)
	}
	if got := p.output(); got != "out\r\nerr\r\na\r\nb" {
		t.Errorf("shown is %q", got)
	}
}

func TestAPipeThatTheProgramClosesEndsAtOnce(t *testing.T) {
	slowtest.Hurry(t)
	p := startPiped(t, "exec >&-; echo on >&2; read x; exec 2>&-; read x; exit 4")
	wait(t, "the end of stdout", p.stdout.closed)
	p.text(t, "on")
	p.send(t, []byte("\n"))
	wait(t, "the end of stderr", p.stderr.closed)
	p.send(t, []byte("\n"))
	if st := p.exit(t, p.term); st.Code != 4 {
		t.Errorf("exit %+v", st)
	}
}

func TestWhatABackgroundProcessWritesToAPipeIsPartOfTheOutput(t *testing.T) {
	t.Parallel()
	// It writes after a silence that is longer than any drain.
	p := startPiped(t, "(sleep 1.5; echo late) & echo soon; exit 5")
	if st := p.exit(t, p.term); st.Code != 5 {
		t.Errorf("exit %+v", st)
	}
	if got := p.stdout.String(); got != "soon\nlate\n" {
		t.Errorf("stdout %q", got)
	}
}

func TestAProgramGetsSIGPIPEWhenItsReaderIsGone(t *testing.T) {
	p := startPiped(t, "exec yes")
	p.text(t, "y\r\n")
	p.CloseStdout()
	if st := p.exit(t, p.term); st.Signal != syscall.SIGPIPE {
		t.Errorf("exit %+v", st)
	}
}

func TestAProgramThatClosesItsInputEndsTheInput(t *testing.T) {
	p := startPiped(t, "exec <&-; echo closed; sleep 1000")
	p.text(t, "closed")
	if _, err := p.Write([]byte("x")); !errors.Is(err, ErrInputClosed) {
		t.Errorf("got %v", err)
	}
	p.term.Hangup(0)
	p.exit(t, p.term)
}

func TestClosingTheInputReleasesAWriterThatWaits(t *testing.T) {
	p := startPiped(t, "echo up; exec sleep 1000")
	p.text(t, "up")
	wrote := make(chan error, 1)
	go func() {
		_, err := p.Write(make([]byte, 1<<20))
		wrote <- err
	}()
	// The pipe is full when it takes nothing any more; until then the writer does not wait.
	for full := false; !full; {
		_ = p.b.stdin.fd.Control(func(fd uintptr) { full = pipeIsFull(fd) })
	}
	p.CloseInput()
	slowtest.Hurry(t)
	if err := slowtest.Receive(t, "the writer goes on", wrote); !errors.Is(err, ErrInputClosed) {
		t.Errorf("got %v", err)
	}
	if err := p.term.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	p.exit(t, p.term)
}

func TestSignalsReachTheProcessGroupOnPipes(t *testing.T) {
	p := startPiped(t, "trap 'echo got; exit 6' USR1; echo up; while :; do sleep 0.01; done")
	p.text(t, "up")
	if err := p.term.SignalForeground(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	p.text(t, "got")
	p.term.Hangup(0) // the sleep is in the group, and so it has ended or ends now
	p.exit(t, p.term)
}

// A process that has left the process tree may keep the pipes open for ever.
func TestAHangupDoesNotWaitForPipesOfOtherProcesses(t *testing.T) {
	t.Parallel()
	p := startPiped(t, "echo up; exec sleep 1000")
	p.text(t, "up")
	held, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/1", p.term.Pid()), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	slowtest.Hurry(t)
	p.term.Hangup(0)
	p.exit(t, p.term)
}

func TestKeysDoNotReachAProgramOnPipes(t *testing.T) {
	p := startPiped(t, "printf '\\033[6n'; exec cat")
	if err := p.term.Input([]byte("x")); !errors.Is(err, ErrNoKeyboard) {
		t.Errorf("got %v", err)
	}
	p.CloseInput()
	p.exit(t, p.term)
	if got := p.stdout.String(); got != "\x1b[6n" {
		t.Errorf("stdout %q", got)
	}
}

// slowReader accepts nothing until it is opened.
type slowReader struct {
	open chan struct{}
	n    int
}

func (s *slowReader) Write(p []byte) (int, error) {
	<-s.open
	s.n += len(p)
	return len(p), nil
}

func (s *slowReader) Close() error { return nil }

func TestABlockedReaderStopsTheProgram(t *testing.T) {
	s, r := &slowReader{open: make(chan struct{})}, newRecorder()
	const size = 8 << 20
	spec := Spec{Env: testEnv(t), Cols: 80, Rows: 24, Argv: []string{"/bin/sh", "-c",
		"head -c 1000 /dev/zero; echo first >&2; head -c 8387608 /dev/zero; echo over >&2"}}
	stderr := &exact{closed: make(chan struct{})}
	term, p, err := newPool(t, Config{}).StartPiped(spec, s, stderr, r)
	if err != nil {
		t.Fatal(err)
	}
	p.CloseInput()
	r.text(t, "first")
	// It can write no more than the pipe holds, which is less than its size where a page of it has
	// been written or read in part.
	eventually(t, "the pipe is full", func() (full bool) {
		_ = p.b.stdout.fd.Control(func(fd uintptr) { full = unread(fd) > pipeSize(fd)-2*os.Getpagesize() })
		return full
	})
	if strings.Contains(r.output(), "over") {
		t.Error("it went on writing")
	}
	close(s.open)
	if r.exit(t, term); s.n != size {
		t.Errorf("%d of %d bytes came", s.n, size)
	}
}

var _ io.WriteCloser = (*slowReader)(nil)

func TestBinaryDataDoNotWaitForTheScreen(t *testing.T) {
	const size = 4 << 20
	p := startPiped(t, "echo up; read x; head -c 4194304 /dev/zero; exec >&-; read x; echo text >&2")
	p.text(t, "up")
	slowtest.Hurry(t)
	p.term.Lock() // the screen is busy
	p.send(t, []byte("\n"))
	wait(t, "the end of stdout", p.stdout.closed)
	p.term.Unlock()
	p.text(t, "KiB of binary data are not shown here]\r\n")
	p.send(t, []byte("\n"))
	p.exit(t, p.term)
	if n := p.stdout.Len(); n != len("up\n")+size {
		t.Errorf("%d bytes came", n)
	}
	if shown := p.output(); !strings.HasSuffix(shown, "]\r\ntext\r\n") {
		t.Errorf("shown is %.300q", shown)
	}
}
