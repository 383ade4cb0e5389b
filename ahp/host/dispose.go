package host

import (
	"time"

	"termhost/ahp"
	"termhost/authz"
)

// hangupGrace is how long a disposed terminal's processes have after SIGHUP
// before they are killed.
const hangupGrace = 2 * time.Second

// Dispose ends a terminal's processes and takes it out of the host. It returns
// when the program has ended and neither NAME nor URI find the terminal any
// more; processes that the program left behind may still be being killed. Its
// exit reaches the channel first, then the root's list changes, then the
// readers are released. It returns *authz.Denied if p may not.
func (h *Host) Dispose(p authz.Principal, t *Terminal) error {
	t.term.Lock()
	target := t.target(p)
	if t.owned != nil {
		// SSH sessions have no clientId of their choice: there the key alone says
		// whose terminal it is.
		target.Owner = t.owned.principal == p.ID
	}
	t.term.Unlock()
	return h.dispose(p, t, target)
}

// dispose is Dispose for who stands to the terminal as target says.
func (h *Host) dispose(p authz.Principal, t *Terminal, target authz.Target) error {
	if err := authz.Check(p, authz.Dispose, target); err != nil {
		return err
	}
	t.ending("by " + p.Name)
	if t.owned != nil {
		h.disposeOwned(t, p)
	} else {
		h.remove(t)
	}
	h.log.Info("terminal disposed", "name", t.name, "principal", p.Name)
	return nil
}

// DisposeTerminal is AHP's disposeTerminal.
func (c *Conn) DisposeTerminal(ref string) *ahp.Error {
	if c.ctx.Err() != nil {
		return c.ended()
	}
	uri, ok := ahp.NormalizeChannel(ref)
	if !ok {
		return ahp.FieldProblem("channel", "must be an absolute URI of at most 256 bytes")
	}
	t := c.host.lookup(uri)
	if t == nil {
		return unknownChannel(ref)
	}
	t.term.Lock()
	target := t.targetOf(step{conn: c, principal: c.principal})
	t.term.Unlock()
	if err := c.host.dispose(c.principal, t, target); err != nil {
		return refused(err)
	}
	return nil
}

// remove ends t with every process of it and forgets it. Any number of callers
// may; each returns when it cannot be found any more.
func (h *Host) remove(t *Terminal) {
	t.brake.release()
	if t.owned != nil {
		t.term.Lock()
		t.releaseHalf()
		t.term.Unlock()
	}
	t.term.Hangup(hangupGrace)
	<-t.done
	h.forget(t)
}

// forget takes an exited terminal out of the host. Processes that it left in the
// background go on, as after a logout from sshd: nobody asked for their end.
func (h *Host) forget(t *Terminal) {
	h.mu.Lock()
	first := h.terminals[t.uri] == t
	if first {
		h.forgetLocked(t)
		t.ch.Retire()
	}
	h.mu.Unlock()
	if first {
		h.list.changedThen(func() {
			t.ch.Remove()
			close(t.gone)
		})
	}
}
