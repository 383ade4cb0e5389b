package host

import (
	"syscall"
	"time"

	"termhost/authz"
)

// Signal sends sig to every process of t's process session. Who may dispose t
// may signal it; it returns *authz.Denied or ErrExited.
func (h *Host) Signal(p authz.Principal, t *Terminal, sig syscall.Signal) error {
	if err := t.mayEnd(p); err != nil {
		return err
	}
	if t.exitedNow() || t.term.Signal(sig) != nil {
		return ErrExited
	}
	return nil
}

// Hangup ends t's processes, those that it left in the background included:
// SIGHUP, and after the grace SIGKILL to what is left. It returns at once. The
// terminal stays listed as exited. Who may dispose t may hang it up; it returns
// *authz.Denied.
func (h *Host) Hangup(p authz.Principal, t *Terminal, grace time.Duration) error {
	if err := t.mayEnd(p); err != nil {
		return err
	}
	t.brake.release()
	t.term.Hangup(grace)
	return nil
}

// Forget takes a terminal that has exited out of the list, as max_exited does:
// what its program left in the background goes on. It does nothing to one that
// runs. Who may dispose t may have it forgotten; it returns *authz.Denied.
func (h *Host) Forget(p authz.Principal, t *Terminal) error {
	if err := t.mayEnd(p); err != nil {
		return err
	}
	if t.exitedNow() {
		h.forget(t)
	}
	return nil
}

// mayEnd returns *authz.Denied unless p may end t's processes.
func (t *Terminal) mayEnd(p authz.Principal) error {
	t.term.Lock()
	defer t.term.Unlock()
	return authz.Check(p, authz.Dispose, t.target(p))
}
