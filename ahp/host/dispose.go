package host

import (
	"time"

	"termhost/ahp"
	"termhost/authz"
)

// hangupGrace is how long a disposed terminal's processes have after SIGHUP
// before they are killed.
const hangupGrace = 2 * time.Second

// Dispose ends a terminal's processes and takes it out of the host: its exit
// reaches the channel, then the root's list changes, then readers are released.
// It returns when that has been done.
func (h *Host) Dispose(p authz.Principal, t *Terminal) error {
	t.term.Lock()
	err := authz.Check(p, authz.Dispose, t.target(p))
	t.term.Unlock()
	if err != nil {
		return err
	}
	h.remove(t)
	h.log.Info("terminal disposed", "name", t.name, "principal", p.Name)
	return nil
}

// DisposeTerminal is AHP's disposeTerminal.
func (c *Conn) DisposeTerminal(ref string) *ahp.Error {
	uri, ok := ahp.NormalizeChannel(ref)
	if !ok {
		return ahp.FieldProblem("channel", "must be an absolute URI of at most 256 bytes")
	}
	t := c.host.lookup(uri)
	if t == nil {
		return unknownChannel(ref)
	}
	if err := c.host.Dispose(c.principal, t); err != nil {
		return refused(err)
	}
	return nil
}

// remove ends t and forgets it. Several callers may; all return when it is gone.
func (h *Host) remove(t *Terminal) {
	t.brake.release()
	t.term.Hangup(hangupGrace)
	<-t.done
	h.mu.Lock()
	first := h.terminals[t.uri] == t
	if first {
		h.forgetLocked(t)
	}
	h.mu.Unlock()
	if !first {
		<-t.gone
		return
	}
	t.ch.Remove()
	h.list.changed()
	close(t.gone)
}
