package share

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"

	"termhost/cmd/termhost/sshcmd"
)

// refusalPause is how long share waits after a refused login before the next attempt. What
// protects a host against the guessing of keys must not take share for an attacker; fail2ban's
// usual limit is five attempts in ten minutes.
const refusalPause = 5 * time.Minute

// needsUser matches what ssh prints about a login that fails until its user does something about
// it (OpenSSH's sshconnect.c and sshconnect2.c).
var needsUser = regexp.MustCompile(`Permission denied \(|Too many authentication failures|` +
	`Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED`)

// patientDialer opens connections to the host as an [sshcmd.Dialer] does. Once the host has refused
// the login, it waits for refusalPause, or until the user asks for another attempt.
type patientDialer struct {
	ssh     *sshcmd.Dialer
	stderr  *sshStderr
	refused func(why string) // is told of each refused login
	again   chan struct{}    // 1 deep: the user asks for another attempt

	mu   sync.Mutex // nothing else is locked while it is held
	next time.Time  // when the next attempt is due; zero: the last login was not refused
}

func newPatientDialer(target sshcmd.Target, stderr io.Writer,
	refused func(why string)) *patientDialer {
	q := &sshStderr{w: stderr}
	return &patientDialer{ssh: &sshcmd.Dialer{Target: target, Stderr: q}, stderr: q,
		refused: refused, again: make(chan struct{}, 1)}
}

// dial starts an ssh for one connection, when an attempt is due.
func (d *patientDialer) dial(ctx context.Context) (io.ReadWriteCloser, error) {
	if err := d.wait(ctx); err != nil {
		return nil, err
	}
	d.stderr.forget()
	rw, err := d.ssh.Dial(ctx)
	if err != nil {
		return nil, err
	}
	return &watchedConn{ReadWriteCloser: rw, ended: d.ended}, nil
}

// wait returns when the next attempt is due.
func (d *patientDialer) wait(ctx context.Context) error {
	d.mu.Lock()
	next := d.next
	d.mu.Unlock()
	if next.IsZero() {
		return nil
	}
	t := time.NewTimer(time.Until(next))
	defer t.Stop()
	select {
	case <-t.C:
	case <-d.again:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// retry ends the wait after a refused login. It returns false if no login was refused.
func (d *patientDialer) retry() bool {
	if !d.waits() {
		return false
	}
	select {
	case d.again <- struct{}{}:
	default:
	}
	return true
}

// waits reports whether the host has refused the last login.
func (d *patientDialer) waits() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.next.IsZero()
}

// accepted records that the host has accepted the login, and reports whether it had refused the
// one before.
func (d *patientDialer) accepted() (afterRefusal bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	afterRefusal = !d.next.IsZero()
	d.next = time.Time{}
	return afterRefusal
}

// ended finds out whether a connection has ended because the host refused the login.
func (d *patientDialer) ended() {
	text := d.stderr.text()
	why := needsUser.FindStringIndex(text)
	if why == nil {
		return
	}
	select {
	case <-d.again: // that was for the attempt which was just refused
	default:
	}
	d.ssh.UseMaster() // the user may log in there, with a second factor for instance
	d.mu.Lock()
	d.next = time.Now().Add(refusalPause)
	d.mu.Unlock()
	d.refused(lineAt(text, why[0]))
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

// watchedConn is a connection that calls ended once, before the first error of Read is returned.
type watchedConn struct {
	io.ReadWriteCloser
	ended func()
	once  sync.Once
}

// Read reads what the host sends.
func (w *watchedConn) Read(p []byte) (int, error) {
	n, err := w.ReadWriteCloser.Read(p)
	if err != nil {
		w.once.Do(w.ended)
	}
	return n, err
}

// maxStderr is how much is kept of what ssh prints for its user, in bytes: more than the last
// lines.
const maxStderr = 4 << 10

// sshStderr is the standard error stream of ssh: shown to the user until a program has the screen,
// and kept for a while.
type sshStderr struct {
	mu     sync.Mutex // held over a write to w, so that lines stay in order
	w      io.Writer
	hidden bool
	kept   []byte
}

// hide shows nothing from now on: the screen belongs to a program.
func (q *sshStderr) hide() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.hidden = true
}

// forget drops what is kept, because a new connection begins.
func (q *sshStderr) forget() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.kept = nil
}

// text returns the last maxStderr bytes of what was printed on this connection.
func (q *sshStderr) text() string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return string(q.kept)
}

// Write shows p, and keeps it.
func (q *sshStderr) Write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.kept = append(q.kept, p...)
	q.kept = bytes.Clone(q.kept[max(0, len(q.kept)-maxStderr):])
	if q.hidden {
		return len(p), nil
	}
	return q.w.Write(p)
}
