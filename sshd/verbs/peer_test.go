package verbs

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

func TestMain(m *testing.M) { hosttest.Main(m) }

// prefix is the control character of the tests' prefix key, Ctrl-\.
const prefix = 0x1c

func newRunner(t *testing.T) *Runner {
	t.Helper()
	return &Runner{Host: hosttest.New(t), Prefix: prefix, Version: "test"}
}

// pipes is the IO of a peer that came without SSH.
type pipes struct {
	in       io.Reader
	out, err io.Writer
	term     string // "": it has no terminal
	resized  chan struct{}
	running  sync.WaitGroup

	mu     sync.Mutex // a leaf
	window Window
}

func (p *pipes) Stdin() io.Reader                 { return p.in }
func (p *pipes) Stdout() io.Writer                { return p.out }
func (p *pipes) Stderr() io.Writer                { return p.err }
func (p *pipes) Terminal() (name string, ok bool) { return p.term, p.term != "" }
func (p *pipes) Resized() <-chan struct{}         { return p.resized }
func (p *pipes) Signals() <-chan syscall.Signal   { return nil }
func (p *pipes) Env() []string                    { return nil }
func (p *pipes) OutputRefused() <-chan struct{}   { return nil }
func (p *pipes) EndOutput()                       {}
func (p *pipes) RefuseInput()                     {}
func (p *pipes) DiscardInput()                    {}
func (p *pipes) Answers() bool                    { return true }
func (p *pipes) Go(_ string, f func())            { p.running.Go(f) }

func (p *pipes) Window() Window {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.window
}

func (p *pipes) resize(w Window) {
	p.mu.Lock()
	p.window = w
	p.mu.Unlock()
	p.resized <- struct{}{}
}

// outcome is what a verb's run came to.
type outcome struct {
	stdout, stderr string
	status         int
}

// connect returns a caller that may do everything.
func (r *Runner) connect(t *testing.T, io IO) Caller {
	t.Helper()
	c, err := r.Host.Connect(authz.ForUID(1000), host.DoorUnix)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return Caller{IO: io, Conn: c, Local: true}
}

// run runs a command line on pipes.
func (r *Runner) run(t *testing.T, stdin, text string) outcome {
	t.Helper()
	var out, errs bytes.Buffer
	p := &pipes{in: strings.NewReader(stdin), out: &out, err: &errs}
	ctx, cancel := context.WithTimeout(t.Context(), hosttest.Patience)
	defer cancel()
	status := r.Exec(ctx, r.connect(t, p), text)
	p.running.Wait()
	return outcome{out.String(), errs.String(), status}
}

// person sits at a terminal that shows a terminal of the host.
type person struct {
	t      *testing.T
	io     *pipes
	types  *io.PipeWriter
	shown  *io.PipeReader
	seen   []byte // what has been shown
	past   int    // how much of seen has been looked at
	status chan int
}

// sits runs a command line at a terminal.
func (r *Runner) sits(t *testing.T, w Window, text string) *person {
	t.Helper()
	in, types := io.Pipe()
	shown, out := io.Pipe()
	p := &person{t: t, types: types, shown: shown, status: make(chan int, 1),
		io: &pipes{in: in, out: out, err: out, term: "xterm", window: w, resized: make(chan struct{}, 1)}}
	ctx, cancel := context.WithTimeoutCause(t.Context(), hosttest.Patience, ErrHungUp)
	caller := r.connect(t, p.io)
	go func() {
		status := r.Exec(ctx, caller, text)
		cancel()
		out.Close()
		in.Close()
		p.io.running.Wait()
		p.status <- status
	}()
	return p
}

// sees waits until text is shown, after what has been seen before.
func (p *person) sees(text string) {
	p.t.Helper()
	buf := make([]byte, 4096)
	for {
		if i := bytes.Index(p.seen[p.past:], []byte(text)); i >= 0 {
			p.past += i + len(text)
			return
		}
		n, err := p.shown.Read(buf)
		p.seen = append(p.seen, buf[:n]...)
		if err != nil {
			p.t.Fatalf("%q was not shown: %v\n%q", text, err, p.seen[p.past:])
		}
	}
}

func (p *person) typeIn(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p.types, text); err != nil {
		p.t.Fatal(err)
	}
}

func TestVerbsRunWithoutSSH(t *testing.T) {
	r := newRunner(t)
	for _, c := range []struct {
		stdin, command string
		want           outcome
	}{
		{"", "new -d -n work -- sh -c 'stty -echo; echo ready; exec cat'", outcome{"work\n", "", 0}},
		{"", "wait --match ready --timeout 30s work", outcome{}},
		{"", "send --enter work from afar", outcome{}},
		{"", "wait --match afar --timeout 30s work", outcome{}},
		{"", "peek work", outcome{"ready\nfrom afar\n", "", 0}},
		{"b\na\n", "run -- sort", outcome{"a\nb\n", "", 0}},
		{"", "run -- sh -c 'exit 3'", outcome{"", "", 3}},
		{"", "attach work", outcome{"", "termhost: error: attach needs a terminal at your end\n" +
			"hint: run `termhost attach` in one, or use -r to see it as a plain stream\n", 2}},
	} {
		if got := r.run(t, c.stdin, c.command); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.command, got, c.want)
		}
	}
	p := r.sits(t, Window{Cols: 40, Rows: 10}, "attach work")
	p.sees("from afar")
	p.typeIn("typed\r")
	p.sees("typed")
	p.io.resize(Window{Cols: 50, Rows: 12})
	hosttest.Eventually(t, "the window becomes the terminal's", func() bool {
		return strings.Contains(r.run(t, "", "ls").stdout, "50x12")
	})
	p.typeIn(string(rune(prefix)) + "l")
	p.sees("* work")
	p.typeIn("x" + string(rune(prefix)) + "d")
	p.sees("[detached: work goes on running; `termhost attach work` comes back]\r\n")
	if _, err := io.Copy(io.Discard, p.shown); err != nil {
		t.Error(err)
	}
	if status := <-p.status; status != 0 {
		t.Errorf("attach ended with %d", status)
	}
}
