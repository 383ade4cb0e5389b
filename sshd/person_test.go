package sshd

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"termhost/ahp/hosttest/slowtest"
	"termhost/ptypool/vt"

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
	return r.openAs(c, "xterm-256color", cols, rows, command)
}

// openAs is open for a terminal of another kind.
func (r *rig) openAs(c *gossh.Client, term string, cols, rows int, command string) *person {
	r.t.Helper()
	s, err := c.NewSession()
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { s.Close() })
	p := &person{t: r.t, s: s, out: newTranscript()}
	p.out.shown = newShown(cols, rows)
	if err := s.RequestPty(term, rows, cols, nil); err != nil {
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

// sees waits until text has been shown since the last call: in the output, or in a line of the
// window that has changed, of which only a part may have been drawn.
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
	shown   *shown // nil: it is not of a terminal
}

func newTranscript() *transcript { return &transcript{changed: make(chan struct{})} }

func (tr *transcript) Write(p []byte) (int, error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.text = append(tr.text, p...)
	tr.shown.show(p)
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
		if tr.found([]byte(text)) {
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

// found consumes up to text. The lock is held.
func (tr *transcript) found(text []byte) bool {
	if i := bytes.Index(tr.text[tr.read:], text); i >= 0 {
		tr.read += i + len(text)
		tr.shown.see(string(text), tr.read)
		return true
	}
	from, ok := tr.shown.find(string(text))
	tr.read = max(tr.read, from)
	return ok
}

// shown is what the window of a terminal shows, and since when. Output comes in pieces.
type shown struct {
	screen *vt.Screen
	ends   []int // of the pieces
	lines  []shownLine
	seen   int // the piece in which something was seen last
}

type shownLine struct {
	text  string
	piece int      // in which it was drawn last
	seen  []string // what was seen in it since
}

func newShown(cols, rows int) *shown {
	return &shown{screen: vt.New(cols, rows, vt.Options{}), ends: []int{0}}
}

// show shows a piece of output.
func (s *shown) show(p []byte) {
	if s == nil {
		return
	}
	piece := len(s.ends)
	s.ends = append(s.ends, s.ends[piece-1]+len(p))
	s.screen.Feed(p, nil)
	lines := strings.Split(string(s.screen.AppendText(nil, false)), "\n")
	s.lines = append(s.lines, make([]shownLine, max(0, len(lines)-len(s.lines)))...)[:len(lines)]
	for i, line := range lines {
		if s.lines[i].text != line {
			s.lines[i] = shownLine{text: line, piece: piece}
		}
	}
}

// see records that text was seen in the output before end.
func (s *shown) see(text string, end int) {
	if s == nil {
		return
	}
	s.seen, _ = slices.BinarySearch(s.ends, end)
	for i := range s.lines {
		if l := &s.lines[i]; l.piece <= s.seen && strings.Contains(l.text, text) {
			l.seen = append(l.seen, text)
		}
	}
}

// find sees text in a line in which it was not seen before, which was drawn after what was seen
// last, or in the same piece. It returns where that begins in the output.
func (s *shown) find(text string) (from int, ok bool) {
	if s == nil {
		return 0, false
	}
	for i := range s.lines {
		l := &s.lines[i]
		if l.piece < s.seen || slices.Contains(l.seen, text) || !strings.Contains(l.text, text) {
			continue
		}
		s.seen, l.seen = l.piece, append(l.seen, text)
		return s.ends[max(l.piece-1, 0)], true
	}
	return 0, false
}

func (tr *transcript) all() string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return string(tr.text)
}
