// Package viewertest is for tests only: it has peers that came without SSH, and people who sit at
// the terminals of such peers.
package viewertest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"syscall"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/sshd/viewer"
)

// Peer is what a viewer, or another command, has of a peer on pipes or at a terminal.
type Peer struct {
	In       io.Reader
	Out, Err io.Writer
	Term     string // "": it has no terminal

	resized chan struct{}
	running sync.WaitGroup

	mu     sync.Mutex // a leaf
	window viewer.Window
	bytes  uint64 // that were taken
	shown  bool   // what is typed next is
}

func (p *Peer) Stdin() io.Reader                 { return p.In }
func (p *Peer) Stdout() io.Writer                { return p.Out }
func (p *Peer) Stderr() io.Writer                { return p.Err }
func (p *Peer) Terminal() (name string, ok bool) { return p.Term, p.Term != "" }
func (p *Peer) Draws() bool                      { return p.Term != "" && p.Term != "dumb" }
func (p *Peer) Modes() string                    { return "" }
func (p *Peer) Resized() <-chan struct{}         { return p.resized }
func (p *Peer) Signals() <-chan syscall.Signal   { return nil }
func (p *Peer) Env() []string                    { return nil }
func (p *Peer) OutputRefused() <-chan struct{}   { return nil }
func (p *Peer) EndOutput()                       {}
func (p *Peer) RefuseInput()                     {}
func (p *Peer) DiscardInput()                    {}
func (p *Peer) Answers() bool                    { return true }
func (p *Peer) Go(_ string, f func())            { p.running.Go(f) }

// Window returns the size of the peer's terminal.
func (p *Peer) Window() viewer.Window {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.window
}

// Wait waits for what Go has begun.
func (p *Peer) Wait() { p.running.Wait() }

// Resize changes the size of the peer's terminal.
func (p *Peer) Resize(w viewer.Window) {
	p.mu.Lock()
	p.window = w
	p.mu.Unlock()
	p.resized <- struct{}{}
}

// Taken is for [viewer.Session].
func (p *Peer) Taken(bytes uint64, shown bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bytes, p.shown = bytes, shown
}

// Told returns what the last call of Taken has said.
func (p *Peer) Told() (bytes uint64, shown bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bytes, p.shown
}

// ErrLeft is why the context of a person's command ends who goes on for too long, or hangs up.
var ErrLeft = errors.New("viewertest: the person has left")

// Person sits at a terminal, where a command runs.
type Person struct {
	*Peer
	// Status gets what the command has returned.
	Status chan int

	t     *testing.T
	types *io.PipeWriter
	shown *io.PipeReader
	leave context.CancelCauseFunc
	seen  []byte // what has been shown
	past  int    // how much of seen has been looked at
}

// Sit has a person run a command at a terminal with a window of size w.
func Sit(t *testing.T, w viewer.Window, run func(context.Context, *Peer) int) *Person {
	t.Helper()
	in, types := io.Pipe()
	shown, out := io.Pipe()
	ctx, leave := context.WithCancelCause(t.Context())
	ctx, cancel := context.WithTimeoutCause(ctx, hosttest.Patience, ErrLeft)
	p := &Person{t: t, types: types, shown: shown, leave: leave, Status: make(chan int, 1),
		Peer: &Peer{In: in, Out: out, Err: out, Term: "xterm", window: w,
			resized: make(chan struct{}, 1), shown: true}}
	t.Cleanup(func() { shown.Close() }) // who does not look any more holds nobody up
	go func() {
		status := run(ctx, p.Peer)
		cancel()
		leave(nil)
		out.Close()
		in.Close()
		p.Wait()
		p.Status <- status
	}()
	return p
}

// Sees waits until text is shown, after what has been seen before.
func (p *Person) Sees(text string) {
	p.t.Helper()
	p.SeesOneOf(text)
}

// SeesOneOf waits until one of the texts is shown, after what has been seen before, and returns the
// one that comes first.
func (p *Person) SeesOneOf(texts ...string) (text string) {
	p.t.Helper()
	buf := make([]byte, 4096)
	for {
		first := -1
		for _, one := range texts {
			if i := bytes.Index(p.seen[p.past:], []byte(one)); i >= 0 && (first < 0 || i < first) {
				first, text = i, one
			}
		}
		if first >= 0 {
			p.past += first + len(text)
			return text
		}
		n, err := p.shown.Read(buf)
		p.seen = append(p.seen, buf[:n]...)
		if err != nil {
			p.t.Fatalf("%q was not shown: %v\n%q", texts, err, p.seen[p.past:])
		}
	}
}

// SeesEach waits until each of the texts is shown, in whatever order, after what has been seen
// before: a notice waits for a pause of the output that it lies beside.
func (p *Person) SeesEach(texts ...string) {
	p.t.Helper()
	from, past := p.past, p.past
	for _, text := range texts {
		p.past = from
		p.Sees(text)
		past = max(past, p.past)
	}
	p.past = past
}

// SeesWithout is Sees, but fails if something else is shown before.
func (p *Person) SeesWithout(text, without string) {
	p.t.Helper()
	from := p.past
	p.Sees(text)
	if got := p.seen[from:p.past]; bytes.Contains(got, []byte(without)) {
		p.t.Errorf("%q was shown: %q", without, got)
	}
}

// SeesAll has the person see whatever is shown from now on, until the command ends.
func (p *Person) SeesAll() { _, _ = io.Copy(io.Discard, p.shown) }

// Types has the person type text.
func (p *Person) Types(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p.types, text); err != nil {
		p.t.Fatal(err)
	}
}

// Leaves ends the peer's streams.
func (p *Person) Leaves() { p.Ends(ErrLeft) }

// Ends has the host end the peer's streams, and the peer be told why.
func (p *Person) Ends(why error) { p.leave(why) }
