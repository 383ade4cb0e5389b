package share

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"

	"termhost/cmd/termhost/sshlink"
)

// refusalPause is how long a refused login waits before the next attempt: what
// guards a host against guessing (fail2ban's usual five in ten minutes) must not
// take share for an attacker.
const refusalPause = 5 * time.Minute

// needsUser matches what ssh says of a login that its user must do something about
// (OpenSSH's sshconnect.c and sshconnect2.c). To try again at once would end the
// same way.
var needsUser = regexp.MustCompile(`Permission denied \(|Too many authentication failures|Host key verification failed|` +
	`REMOTE HOST IDENTIFICATION HAS CHANGED`)

// patientLink opens connections to the host as an [sshlink.Link] does. Once the host has
// refused the login it waits for long, or until the user has it try again.
type patientLink struct {
	ssh     *sshlink.Link
	words   *sshWords // what ssh says
	refused func(why string)
	again   chan struct{} // 1 deep: the user wants another attempt

	mu   sync.Mutex // a leaf
	next time.Time  // the next attempt; zero: nothing was refused
}

func newPatientLink(target sshlink.Target, stderr io.Writer, refused func(why string)) *patientLink {
	words := &sshWords{w: stderr}
	return &patientLink{ssh: &sshlink.Link{Target: target, Stderr: words}, words: words, refused: refused, again: make(chan struct{}, 1)}
}

// open starts an ssh for one connection.
func (l *patientLink) open(ctx context.Context) (io.ReadWriteCloser, error) {
	if err := l.wait(ctx); err != nil {
		return nil, err
	}
	l.words.forget()
	rw, err := l.ssh.Open(ctx)
	if err != nil {
		return nil, err
	}
	return &watchedLink{ReadWriteCloser: rw, l: l}, nil
}

// wait returns when the next attempt is due.
func (l *patientLink) wait(ctx context.Context) error {
	l.mu.Lock()
	next := l.next
	l.mu.Unlock()
	if next.IsZero() {
		return nil
	}
	t := time.NewTimer(time.Until(next))
	defer t.Stop()
	select {
	case <-t.C:
	case <-l.again:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// retry has a link whose login was refused try again at once. It is false if none
// was refused.
func (l *patientLink) retry() bool {
	if !l.waits() {
		return false
	}
	select {
	case l.again <- struct{}{}:
	default:
	}
	return true
}

// waits reports whether the host has refused the last login.
func (l *patientLink) waits() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.next.IsZero()
}

// taken notes that the host has taken the login, and reports whether it had refused
// one before.
func (l *patientLink) taken() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := !l.next.IsZero()
	l.next = time.Time{}
	return before
}

// ended notes how a connection ended.
func (l *patientLink) ended() {
	why := needsUser.FindIndex([]byte(l.words.last()))
	if why == nil {
		return
	}
	select {
	case <-l.again: // that was for the attempt which was refused
	default:
	}
	l.ssh.UseMaster() // its connection may be what the user has logged in on
	l.mu.Lock()
	l.next = time.Now().Add(refusalPause)
	l.mu.Unlock()
	l.refused(lineAt(l.words.last(), why[0]))
}

// lineAt returns the line of text that holds the byte at i, for one line of a
// terminal.
func lineAt(text string, i int) string {
	from := strings.LastIndexByte(text[:i], '\n') + 1
	line, _, _ := strings.Cut(text[from:], "\n")
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, line)
}

// watchedLink is a connection whose end is looked at.
type watchedLink struct {
	io.ReadWriteCloser
	l    *patientLink
	once sync.Once
}

// Read reads what the host says.
func (w *watchedLink) Read(p []byte) (int, error) {
	n, err := w.ReadWriteCloser.Read(p)
	if err != nil {
		w.once.Do(w.l.ended)
	}
	return n, err
}

// maxWords is how much is kept of what ssh says, in bytes: more than its last
// lines.
const maxWords = 4 << 10

// sshWords is what ssh says to its user: on the screen as long as that is ours, and
// kept for a while.
type sshWords struct {
	mu   sync.Mutex
	w    io.Writer
	over bool
	kept []byte
}

// hush shows nothing from now on: the screen belongs to a program.
func (q *sshWords) hush() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.over = true
}

// forget begins a new connection.
func (q *sshWords) forget() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.kept = nil
}

// last returns what was said on this connection, at most maxWords of its end.
func (q *sshWords) last() string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return string(q.kept)
}

// Write shows p, and keeps it.
func (q *sshWords) Write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.kept = append(q.kept, p...)
	q.kept = bytes.Clone(q.kept[max(0, len(q.kept)-maxWords):])
	if q.over {
		return len(p), nil
	}
	return q.w.Write(p)
}
