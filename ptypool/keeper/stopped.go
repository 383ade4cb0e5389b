package keeper

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A keeper that is stopped (SIGSTOP), or that waits for a disk, does not answer. The host gives a
// request up after [Patience], and the keeper refuses it when it goes on: see message.Until. If
// the keeper had begun already, the answer comes late, and the host undoes the request.

// Patience is how long a host waits for the keeper's answer: much longer than a busy machine takes
// to start a program, and as long as a person waits without a word.
const Patience = 5 * time.Second

// StoppedError says that the keeper runs, and does not answer.
type StoppedError struct{ Pid int } // the keeper's process; 0: unknown

// Error also says what to do.
func (e *StoppedError) Error() string {
	return fmt.Sprintf("the keeper of the terminals (process %d) has not answered for %.0f s: "+
		"it is stopped, or its disk hangs; `kill -CONT %[1]d` has a stopped one go on, and then "+
		"this can be tried again", e.Pid, Patience.Seconds())
}

// errLate is the answer to a request that the host has given up.
var errLate = errors.New("keeper: the request came too late")

// monotonic returns the time since an unspecified moment, in nanoseconds, by a clock that all
// processes of the machine share.
func monotonic() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return 0
	}
	return ts.Nano()
}

// late reports whether the host has given m up.
func (m *message) late() bool { return m.Until != 0 && monotonic() > m.Until }

// request is a request that waits for its answer.
type request struct {
	answers chan message
	late    func(message) // gets what comes after the request was given up; nil: nothing
	givenUp bool
}

// giveUp gives a request up. It returns false if the last message of the answer is coming.
func (c *Client) giveUp(seq uint64, late func(message)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.waiting[seq]
	if r == nil {
		return false
	}
	r.givenUp, r.late = true, late
	c.stopped.Store(true)
	return true
}

// await calls each with every message of the answer to the request seq. It fails with
// *StoppedError if the answer does not come in time. late gets a message that comes later, whose
// descriptors it owns; nil: nothing does.
func (c *Client) await(
	seq uint64, answers <-chan message, each func(message), late func(message),
) error {
	timer := time.NewTimer(Patience)
	defer timer.Stop()
	for {
		select {
		case a, ok := <-answers:
			switch {
			case !ok:
				return ErrGone
			case a.Errno != 0:
				return a.Errno
			case a.Error != "":
				return errors.New(a.Error)
			}
			each(a)
			if !a.More {
				return nil
			}
		case <-timer.C:
			if c.giveUp(seq, late) {
				for len(answers) > 0 {
					closeFiles((<-answers).files)
				}
				return &StoppedError{c.Pid}
			}
		}
	}
}

// answered passes an answer on to who waits for it, or has waited.
func (c *Client) answered(m message) {
	defer c.stopped.Store(false) // after late, so that what is tried again comes after its undoing
	c.mu.Lock()
	r := c.waiting[m.Seq]
	if !m.More {
		delete(c.waiting, m.Seq)
	}
	givenUp := r != nil && r.givenUp
	c.mu.Unlock()
	switch {
	case r == nil, givenUp && (r.late == nil || m.Error != ""):
		closeFiles(m.files)
	case givenUp:
		r.late(m)
	default:
		r.answers <- m
	}
}

// Check fails with *StoppedError if the keeper does not answer, and with ErrGone if it has ended.
func (c *Client) Check() error {
	err := c.ask(message{Op: opCheck}, func(message) {})
	var stopped *StoppedError
	if errors.As(err, &stopped) || errors.Is(err, ErrGone) {
		return err
	}
	return nil // a keeper of an earlier version does not know the operation, and says so
}

// Check is [Client.Check]. It succeeds if no keeper is connected: another one is being started.
func (l *Link) Check() error {
	l.mu.Lock()
	c := l.client
	l.mu.Unlock()
	if c == nil {
		return nil
	}
	if err := c.Check(); !errors.Is(err, ErrGone) {
		return err
	}
	return nil
}

// unanswered returns the error for a keeper that has not answered hello on c; nil: err is another
// one.
func unanswered(c *conn, err error) error {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	stopped := &StoppedError{}
	if raw, err := c.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET,
				unix.SO_PEERCRED); err == nil {
				stopped.Pid = int(cred.Pid)
			}
		})
	}
	return stopped
}
