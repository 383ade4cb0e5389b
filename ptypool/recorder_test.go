package ptypool

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"termhost/ahp/hosttest/slowtest"
	"termhost/ptypool/vt"
)

// patience bounds every wait of a test; it is a failure bound, never a pause.
const patience = slowtest.Patience

// recorder is a Handler that keeps everything and lets a test wait for it.
type recorder struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced at every event
	data    bytes.Buffer
	exits   []ExitStatus
	frames  int  // calls of FrameEnded
	late    bool // something came after Exited
	ready   func()
	term    *Term
}

func newRecorder() *recorder { return &recorder{changed: make(chan struct{})} }

func (r *recorder) event(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.late = r.late || len(r.exits) > 0
	f()
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *recorder) Data(p []byte)               { r.event(func() { r.data.Write(p) }) }
func (r *recorder) Exited(st ExitStatus)        { r.event(func() { r.exits = append(r.exits, st) }) }
func (r *recorder) Started(t *Term)             { r.event(func() { r.term = t }) }
func (r *recorder) Reply(p []byte)              { _ = r.term.Input(p) }
func (r *recorder) Clipboard([]byte)            {}
func (r *recorder) Notification([]byte, string) {}
func (*recorder) Mark([]byte)                   {}
func (r *recorder) Title(string)                {}
func (r *recorder) Cwd(string)                  {}
func (r *recorder) CommandDetection()           {}
func (r *recorder) PromptStart()                {}
func (r *recorder) CommandExecuted(string)      {}
func (r *recorder) CommandFinished(int, bool)   {}
func (r *recorder) Bell()                       {}
func (r *recorder) ControlMode()                {}
func (r *recorder) Zmodem()                     {}
func (r *recorder) DrawsPictures() bool         { return false }
func (r *recorder) Output([]byte)               {}
func (r *recorder) Fed()                        {}
func (r *recorder) FrameEnded()                 { r.event(func() { r.frames++ }) }
func (r *recorder) Ready() {
	if r.ready != nil {
		r.ready()
	}
}

// await waits until cond, which is called with r.mu held, holds.
func (r *recorder) await(t testing.TB, what string, cond func() bool) {
	t.Helper()
	deadline := time.After(slowtest.PatienceOf(t))
	for {
		r.mu.Lock()
		ok, changed := cond(), r.changed
		r.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			r.mu.Lock()
			tail := r.data.String()
			r.mu.Unlock()
			t.Fatalf("no %s; the output ends with %q", what, tail[max(0, len(tail)-400):])
		}
	}
}

// text waits until the output contains s.
func (r *recorder) text(t testing.TB, s string) {
	t.Helper()
	r.await(t, "output "+s, func() bool { return bytes.Contains(r.data.Bytes(), []byte(s)) })
}

func (r *recorder) output() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.data.String()
}

// exit waits for the end of term and returns its status, which must have come exactly once and
// last.
func (r *recorder) exit(t testing.TB, term *Term) ExitStatus {
	t.Helper()
	wait(t, "the end of the terminal", term.Done())
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.exits) != 1 || r.late {
		t.Fatalf("exits: %v, anything after it: %v", r.exits, r.late)
	}
	return r.exits[0]
}

func wait(t testing.TB, what string, ch <-chan struct{}) {
	t.Helper()
	select {
	case <-ch:
	case <-time.After(slowtest.PatienceOf(t)):
		t.Fatalf("waited in vain for %s", what)
	}
}

// newPool returns a Pool that is shut down, and checked to be so, when the test ends.
func newPool(t testing.TB, cfg Config) *Pool {
	t.Helper()
	if os.Getenv(keptVariable) != "" && cfg.Starter == nil {
		cfg.Starter = newLink(t)
	}
	p := New(cfg)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := p.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		if n := p.Len(); n != 0 {
			t.Errorf("%d terminals after Shutdown", n)
		}
	})
	return p
}

// start runs argv with a plain environment.
func start(t testing.TB, p *Pool, argv ...string) (*Term, *recorder) {
	t.Helper()
	r := newRecorder()
	term, err := p.Start(Spec{Argv: argv, Env: testEnv(t), Cols: 80, Rows: 24, VT: vt.Options{}}, r)
	if err != nil {
		t.Fatal(err)
	}
	return term, r
}

func sh(t testing.TB, p *Pool, script string) (*Term, *recorder) {
	t.Helper()
	return start(t, p, "/bin/sh", "-c", script)
}

// shTo runs a script in sh, with what it prints for h.
func shTo(t testing.TB, p *Pool, h Handler, script string) *Term {
	t.Helper()
	argv := []string{"/bin/sh", "-c", script}
	term, err := p.Start(Spec{Argv: argv, Env: testEnv(t), Cols: 80, Rows: 24}, h)
	if err != nil {
		t.Fatal(err)
	}
	return term
}

func testEnv(t testing.TB) []string {
	home := t.TempDir()
	return []string{"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8",
		"HOME=" + home, "XDG_RUNTIME_DIR=" + home, "PS1=$ ", slowtest.Owner(t)}
}

func input(t testing.TB, term *Term, s string) {
	t.Helper()
	if err := term.Input([]byte(s)); err != nil {
		t.Fatal(err)
	}
}

// lines splits pty output, whose lines end in \r\n.
func lines(s string) []string { return strings.Split(strings.TrimRight(s, "\r\n"), "\r\n") }
