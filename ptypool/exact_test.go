package ptypool

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// startExact runs a script on a pty of which stdout reads every byte.
func startExact(t *testing.T, c Config, script string, stdout interface {
	Write([]byte) (int, error)
	Close() error
}) (*recorder, *Term) {
	t.Helper()
	r := newRecorder()
	spec := Spec{Argv: []string{"/bin/sh", "-c", script}, Env: testEnv(t), Cols: 80, Rows: 24}
	term, err := newPool(t, c).StartExact(spec, stdout, r)
	if err != nil {
		t.Fatal(err)
	}
	return r, term
}

// numbers returns what `seq n` prints on a terminal.
func numbers(n int) string {
	var all strings.Builder
	for i := range n {
		fmt.Fprintf(&all, "%d\r\n", i+1)
	}
	return all.String()
}

func TestEveryByteOfAPtyGoesToItsExactReader(t *testing.T) {
	for name, c := range map[string]Config{"ours": {}, "a keeper's": {Starter: newLink(t)}} {
		out := &exact{closed: make(chan struct{})}
		r, term := startExact(t, c, `printf '\033[31m\000'; seq 50000; exit 3`, out)
		if st := r.exit(t, term); st.Code != 3 {
			t.Errorf("%s: exit %+v", name, st)
		}
		wait(t, "the end of the output", out.closed)
		for what, got := range map[string]string{"came": out.String(), "were shown": r.output()} {
			if got != "\x1b[31m\x00"+numbers(50000) {
				t.Errorf("%s: %d bytes %s, or others: %.60q", name, len(got), what, got)
			}
		}
	}
}

func TestABlockedExactReaderStopsTheProgramOnAPty(t *testing.T) {
	s := &slowReader{open: make(chan struct{})}
	r, term := startExact(t, Config{}, "echo first; seq 200000", s)
	r.text(t, "first")
	// What is read is one batch, so the program waits for room in its pty soon.
	b := term.backend.(*ptyBackend)
	for stuck := false; !stuck; {
		_ = b.control(func(fd int) error {
			return onSlave(fd, func(slave int) error {
				p := []unix.PollFd{{Fd: int32(slave), Events: unix.POLLOUT}}
				n, err := unix.Poll(p, 0)
				stuck = n == 0 && err == nil
				return err
			})
		})
	}
	if strings.Contains(r.output(), "200000") {
		t.Error("it went on printing")
	}
	close(s.open)
	if st := r.exit(t, term); s.n != len("first\r\n"+numbers(200000)) {
		t.Errorf("%d bytes came; exit %+v", s.n, st)
	}
}

// failing is a reader that has gone.
type failing struct{ closed chan struct{} }

func (failing) Write([]byte) (int, error) { return 0, errGone }

func (f failing) Close() error {
	close(f.closed)
	return nil
}

var errGone = fmt.Errorf("nobody reads")

func TestAPtyContinuesWithoutItsExactReader(t *testing.T) {
	gone := failing{make(chan struct{})}
	r, term := startExact(t, Config{}, "seq 50000", gone)
	r.exit(t, term)
	wait(t, "the reader to be closed", gone.closed)
	if got := r.output(); got != numbers(50000) {
		t.Errorf("%d bytes were shown, or others", len(got))
	}
}
