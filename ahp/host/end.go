package host

import (
	"syscall"
	"time"

	"termhost/authz"
)

// Dispose ends a terminal's processes and takes it out of the host. When it returns, the program
// has ended and neither NAME nor URI find the terminal any more; processes that the program left
// behind may still have to be killed. The exit reaches the channel first, then the root's list
// changes, then the channel's readers are released. It returns *authz.Denied if the connection's
// principal may not dispose of t, and *keeper.StoppedError. An SSH session, which has no clientId
// of its choice, owns a client-executed terminal by its key alone.
func (c *Conn) Dispose(t *Terminal) error {
	s := step{conn: c, principal: c.principal}
	if !c.Initialized() {
		s.conn = nil
	}
	if err := t.mayEnd(s); err != nil {
		return err
	}
	by := s.name()
	t.ending("by " + by)
	if err := c.host.removeFor(t, by, c); err != nil {
		return err
	}
	c.host.log.Info("terminal disposed", "name", t.Name(), "principal", by)
	return nil
}

// Signal sends sig to every process of t; a program that waits for a yes is never started then.
// Those who may dispose of t may signal it. It returns *authz.Denied or ErrExited.
func (c *Conn) Signal(t *Terminal, sig syscall.Signal) error {
	if err := t.mayEnd(step{principal: c.principal}); err != nil {
		return err
	}
	if t.exitedNow() {
		return ErrExited
	}
	if t.approvals.withdrawStart("it was signalled by " + Printable(c.principal.Name)) {
		return nil
	}
	if t.term.Signal(sig) != nil {
		return ErrExited
	}
	return nil
}

// Hangup ends t's processes for p, those in the background included: SIGHUP, and after the grace
// SIGKILL to the rest. It returns at once. The terminal stays listed as exited. Principals that may
// dispose of t may hang it up. It returns *authz.Denied. It is no method of Conn: a door ends the
// terminals of an agent whose connection has ended, perhaps that to an earlier host.
func (h *Host) Hangup(p authz.Principal, t *Terminal, grace time.Duration) error {
	if err := t.mayEnd(step{principal: p}); err != nil {
		return err
	}
	t.exec.end(grace, "")
	return nil
}

// Forget takes a terminal that has exited out of the host for p, as max_exited does; what its
// program left in the background goes on. It does nothing to one that runs. Those who may dispose
// of t may have it forgotten. It returns *authz.Denied. It needs no connection, like [Host.Hangup].
func (h *Host) Forget(p authz.Principal, t *Terminal) error {
	if err := t.mayEnd(step{principal: p}); err != nil {
		return err
	}
	by := nameOf(p)
	t.term.Lock()
	if t.keyboard.holder.agent != "" && t.keyboard.holder.principal == p.ID {
		by = t.keyboard.holder.text() // its agent, which has no more use for it
	}
	t.term.Unlock()
	if t.exitedNow() {
		h.forget(t, by)
	}
	return nil
}

// MayDispose reports whether the principal may dispose of t.
func (c *Conn) MayDispose(t *Terminal) bool {
	return t.mayEnd(step{principal: c.principal}) == nil
}

// mayEnd returns *authz.Denied if the one who asks may not dispose of t.
func (t *Terminal) mayEnd(s step) error {
	t.term.Lock()
	defer t.term.Unlock()
	return t.check(s, authz.Dispose)
}
