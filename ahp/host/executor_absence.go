package host

import (
	"time"

	"termhost/ahp"
)

// ownedLocked returns the running terminals that a clientId owns.
func (h *Host) ownedLocked(cl *client) (list []*clientExecutor) {
	if !cl.owns.Load() {
		return nil
	}
	for _, t := range h.order {
		if e, ok := t.exec.(*clientExecutor); ok && e.client == cl && !t.exitedNow() {
			list = append(list, e)
		}
	}
	return list
}

// leaveLocked is called when the last connection of a clientId has ended. The terminals that the
// client owns end, or wait for it. The caller calls then once it has released Host.mu.
func (h *Host) leaveLocked(c *Conn) (then func()) {
	if c.host.leaving { // they wait for the next host
		return func() {}
	}
	var due []*Terminal
	var waiting []*absence
	for _, e := range h.ownedLocked(c.client) {
		grace := e.graceFor(c)
		if grace <= 0 {
			due = append(due, e.t)
			continue
		}
		waiting = append(waiting, e.waitLocked(grace))
	}
	return func() {
		for _, t := range due {
			h.remove(t, "")
		}
		for _, a := range waiting {
			h.followProof(c, a)
		}
	}
}

// waitLocked makes the terminal wait for its owner. Host.mu is held.
func (e *clientExecutor) waitLocked(grace time.Duration) *absence {
	a := &absence{}
	a.timer = time.AfterFunc(grace, func() { e.expire(a) })
	e.away = a
	e.setAwayLocked(e.t.host.now())
	e.noteLocked(NoteAway)
	return a
}

// noteLocked tells the viewers that the owner is away or back. Host.mu is held.
func (e *clientExecutor) noteLocked(kind NoteKind) {
	for a := range e.t.host.attaches {
		if a.t == e.t && a.hasWindow() {
			a.noteLocked(Note{Kind: kind, Who: e.t.origin.createdBy})
		}
	}
}

// AwaySince returns since when a client-executed terminal waits for its owner; zero: it does not.
func (t *Terminal) AwaySince() (at time.Time) {
	if p := t.away.Load(); p != nil {
		at = *p
	}
	return at
}

// graceFor returns how long the terminal waits for an owner whose connection c has ended; at most
// as long as the owner's rights last. Host.mu is held.
func (e *clientExecutor) graceFor(c *Conn) time.Duration {
	if c.host.closed || c.proof == nil && c.door.Passing {
		return 0
	}
	if expires := c.principal.Expires; !expires.IsZero() {
		return min(e.grace, expires.Sub(c.host.now()))
	}
	return e.grace
}

// followProof ends the wait at once when the owner's proof is withdrawn.
func (h *Host) followProof(c *Conn, a *absence) {
	if c.proof == nil {
		return
	}
	release := c.proof(func(error) { a.timer.Reset(0) })
	h.mu.Lock()
	defer h.mu.Unlock()
	if a.over {
		release()
		return
	}
	a.release = release
}

// backLocked is called when a clientId has a connection again.
func (h *Host) backLocked(cl *client) {
	for _, e := range h.ownedLocked(cl) {
		if e.away != nil {
			e.noteLocked(NoteBack)
		}
		e.endAbsenceLocked()
	}
}

// expire ends a terminal whose owner has not come back.
func (e *clientExecutor) expire(a *absence) {
	h, t := e.t.host, e.t
	h.mu.Lock()
	late := e.away == a
	if late {
		e.endAbsenceLocked()
	}
	h.mu.Unlock()
	if late {
		h.log.Info("a terminal ends because its owner stays away",
			"name", t.Name(), "principal", t.origin.creator.Name)
		h.remove(t, "")
	}
}

// standing returns, by URI, the state of the terminals of an owner that has come back. No action of
// the owner's earlier connection is taken any more.
func (h *Host) standing(cl *client) map[string]ahp.OwnedTerminal {
	h.mu.Lock()
	owned := h.ownedLocked(cl)
	all := make(map[string]ahp.OwnedTerminal, len(owned))
	for uri, why := range cl.ended {
		all[uri] = ahp.OwnedTerminal{Ended: why}
	}
	h.mu.Unlock()
	for _, e := range owned {
		e.t.term.Lock()
		if !e.t.life.exited {
			all[e.t.uri] = ahp.OwnedTerminal{ClientSeq: e.taken}
		}
		e.t.term.Unlock()
	}
	return all
}
