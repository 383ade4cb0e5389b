package share

import (
	"context"
	"io"
	"sync"
	"time"

	"termhost/cmd/termhost/sshcmd"
)

// patientDialer opens connections to the host as an [sshcmd.Dialer] does. Once the host has refused
// the login, it waits for [sshcmd.RefusalPause], or until the user asks for another attempt.
type patientDialer struct {
	ssh     *sshcmd.Dialer
	stderr  *sshcmd.Stderr
	refused func(why string) // is told of each refused login
	again   chan struct{}    // 1 deep: the user asks for another attempt

	mu   sync.Mutex // nothing else is locked while it is held
	next time.Time  // when the next attempt is due; zero: the last login was not refused
}

func newPatientDialer(target sshcmd.Target, stderr io.Writer,
	refused func(why string)) *patientDialer {
	q := sshcmd.NewStderr(stderr)
	ssh := &sshcmd.Dialer{Target: target, Words: sshcmd.AHP(), Stderr: q}
	return &patientDialer{ssh: ssh, stderr: q, refused: refused, again: make(chan struct{}, 1)}
}

// dial starts an ssh for one connection, when an attempt is due.
func (d *patientDialer) dial(ctx context.Context) (io.ReadWriteCloser, error) {
	if err := d.wait(ctx); err != nil {
		return nil, err
	}
	d.stderr.Forget()
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
	why := d.stderr.Refusal()
	if why == "" {
		return
	}
	select {
	case <-d.again: // that was for the attempt which was just refused
	default:
	}
	d.ssh.UseMaster() // the user may log in there, with a second factor for instance
	d.mu.Lock()
	d.next = time.Now().Add(sshcmd.RefusalPause)
	d.mu.Unlock()
	d.refused(why)
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
