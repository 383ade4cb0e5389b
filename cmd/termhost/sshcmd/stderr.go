package sshcmd

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"
)

// RefusalPause is how long to wait after a refused login before the next attempt. What protects a
// host against the guessing of keys must not take us for an attacker; fail2ban's usual limit is
// five attempts in ten minutes.
const RefusalPause = 5 * time.Minute

// needsUser matches what ssh prints about a login that fails until its user does something about
// it (OpenSSH's sshconnect.c and sshconnect2.c).
var needsUser = regexp.MustCompile(`Permission denied \(|Too many authentication failures|` +
	`Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED`)

// maxStderr is how much is kept of what ssh prints for its user, in bytes: more than the last
// lines.
const maxStderr = 4 << 10

// Stderr is the standard error stream of a connection: shown to the user until it is hidden, and
// kept for a while. It may be used concurrently.
type Stderr struct {
	mu     sync.Mutex // held over a write to w, so that lines stay in order
	w      io.Writer
	hidden bool
	kept   []byte
}

// NewStderr returns a stream that is shown on w.
func NewStderr(w io.Writer) *Stderr { return &Stderr{w: w} }

// Hide shows nothing from now on.
func (q *Stderr) Hide() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.hidden = true
}

// Hidden reports whether Hide was called.
func (q *Stderr) Hidden() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.hidden
}

// Forget drops what is kept, because a new connection begins.
func (q *Stderr) Forget() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.kept = nil
}

// Refusal returns the line of this connection that says that the login fails until the user does
// something about it; "": there is none.
func (q *Stderr) Refusal() string {
	text := q.text()
	why := needsUser.FindStringIndex(text)
	if why == nil {
		return ""
	}
	return lineAt(text, why[0])
}

// Last returns the last line of this connection that is not empty; "": there is none.
func (q *Stderr) Last() string {
	text := strings.TrimRight(q.text(), "\r\n ")
	return lineAt(text, len(text))
}

// text returns the last maxStderr bytes of what was printed on this connection.
func (q *Stderr) text() string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return string(q.kept)
}

// lineAt returns the line of text that contains the byte at i, without control characters.
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

// Write shows p, and keeps it.
func (q *Stderr) Write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.kept = append(q.kept, p...)
	q.kept = bytes.Clone(q.kept[max(0, len(q.kept)-maxStderr):])
	if q.hidden {
		return len(p), nil
	}
	return q.w.Write(p)
}
