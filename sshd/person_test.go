package sshd

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"termhost/ahp/hosttest/slowtest"

	gossh "golang.org/x/crypto/ssh"
)

// person is an SSH session with a pty, seen from the client.
type person struct {
	t   testing.TB
	s   *gossh.Session
	in  io.WriteCloser
	out *transcript
}

// open starts an SSH session with a pty; command "" is a shell.
func (r *rig) open(c *gossh.Client, cols, rows int, command string) *person {
	r.t.Helper()
	s, err := c.NewSession()
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { s.Close() })
	p := &person{t: r.t, s: s, out: newTranscript()}
	if err := s.RequestPty("xterm-256color", rows, cols, nil); err != nil {
		r.t.Fatal(err)
	}
	if p.in, err = s.StdinPipe(); err != nil {
		r.t.Fatal(err)
	}
	s.Stdout = p.out
	s.Stderr = p.out
	if command == "" {
		err = s.Shell()
	} else {
		err = s.Start(command)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

func (p *person) typeIn(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, text); err != nil {
		p.t.Fatal(err)
	}
}

// sees waits until text has been shown since the last call.
func (p *person) sees(text string) {
	p.t.Helper()
	if got, ok := p.out.awaitFor(text, slowtest.PatienceOf(p.t)); !ok {
		p.t.Fatalf("never saw %q; since then:\n%q", text, got)
	}
}

// status waits for the end of the SSH session.
func (p *person) status() int {
	p.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- p.s.Wait() }()
	select {
	case err := <-ended:
		return statusIn(p.t, err)
	case <-time.After(slowtest.PatienceOf(p.t)):
		p.t.Fatalf("the SSH session does not end; seen:\n%q", p.out.all())
		return 0
	}
}

func statusIn(t testing.TB, err error) int {
	t.Helper()
	var exit *gossh.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitStatus()
	}
	t.Fatalf("no exit status: %v", err)
	return 0
}

// transcript collects output and can be waited for.
type transcript struct {
	mu      sync.Mutex
	text    []byte
	read    int // what await has consumed
	changed chan struct{}
}

func newTranscript() *transcript { return &transcript{changed: make(chan struct{})} }

func (tr *transcript) Write(p []byte) (int, error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.text = append(tr.text, p...)
	close(tr.changed)
	tr.changed = make(chan struct{})
	return len(p), nil
}

// await consumes up to and including text.
func (tr *transcript) await(text string) (rest string, ok bool) {
	return tr.awaitFor(text, patience)
}

// awaitFor is await for some time only.
func (tr *transcript) awaitFor(text string, most time.Duration) (rest string, ok bool) {
	deadline := time.After(most)
	for {
		tr.mu.Lock()
		changed := tr.changed
		if i := bytes.Index(tr.text[tr.read:], []byte(text)); i >= 0 {
			tr.read += i + len(text)
			tr.mu.Unlock()
			return "", true
		}
		rest = string(tr.text[tr.read:])
		tr.mu.Unlock()
		select {
		case <-changed:
		case <-deadline:
			return rest, false
		}
	}
}

func (tr *transcript) all() string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return string(tr.text)
}
