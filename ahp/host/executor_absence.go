package host

import (
	"time"

	"termhost/ahp"
	"termhost/authz"
	"termhost/ptypool"
)

// absence is the time that an owner is away from a terminal, which waits for it. It is guarded by
// Host.mu.
type absence struct {
	timer   *time.Timer // ends the terminal
	release func()      // ends following the owner's proof; nil: it is not followed
	over    bool
}

// Proof follows what proves who a peer is, beyond the peer's connection. It calls end once, from
// any goroutine or before it returns, when the proof is withdrawn, unless release has been called
// before. It must not call the Host.
type Proof = func(end func(error)) (release func())

// Prove gives the connection's proof, before the connection is used. Terminals that wait for an
// owner end when the owner's proof is withdrawn. So do connections from inside of terminals: see
// [Host.CreatorOf]. Two kinds of connections have no proof: those of the unix socket, whose peers
// stay who they are, and forwarded ones, whose terminals wait for no owner.
func (c *Conn) Prove(p Proof) {
	c.host.mu.Lock()
	defer c.host.mu.Unlock()
	c.proof = p
}

// proofOf returns the proof of a principal that makes a terminal. If the principal is connected,
// maybe with another role, it is that of the connection: an SSH connection also proves what comes
// through its forwards. If not, the principal comes from inside of a terminal of its own, and has
// that terminal's proof. nil: there is none.
func (h *Host) proofOf(p authz.Principal) Proof {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.conns {
		if c.proof != nil && c.principal.ID == p.ID {
			return c.proof
		}
	}
	return h.creators.proofOf(p)
}

// ownedLocked returns the running terminals that a clientId owns.
func (h *Host) ownedLocked(cl *client) (list []*clientExecutor) {
	for _, t := range h.order {
		if e, ok := t.exec.(*clientExecutor); ok && e.client == cl && !t.exitedNow() {
			list = append(list, e)
		}
	}
	return list
}

// leaveLocked is called when the last connection of a clientId has ended. The terminals that the
// client owns end, or wait for it. then is to be called without the lock.
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

// waitLocked has the terminal wait for its owner. Host.mu is held.
func (e *clientExecutor) waitLocked(grace time.Duration) *absence {
	a := &absence{}
	a.timer = time.AfterFunc(grace, func() { e.expire(a) })
	e.away = a
	e.sinceLocked(e.t.host.now())
	e.noteLocked(NoteAway)
	return a
}

// sinceLocked notes since when the owner is away; the zero time: it is here. Host.mu is held.
func (e *clientExecutor) sinceLocked(at time.Time) {
	e.t.away.Store(&at)
	text := ""
	if !at.IsZero() {
		text = at.UTC().Format(time.RFC3339)
	}
	e.t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.AwaySince = text })
	e.t.host.list.changed()
}

// noteLocked tells the viewers what became of the owner. Host.mu is held.
func (e *clientExecutor) noteLocked(kind NoteKind) {
	for a := range e.t.host.attaches {
		if a.t == e.t && a.hasWindow() {
			a.noteLocked(Note{Kind: kind, Who: e.t.origin.createdBy})
		}
	}
}

// AwaySince returns since when the owner of a client-executed terminal is away, which waits for it;
// zero: it is here, or there is none.
func (t *Terminal) AwaySince() (at time.Time) {
	if p := t.away.Load(); p != nil {
		at = *p
	}
	return at
}

// graceFor returns how long the terminal waits for an owner whose connection c has ended. It is not
// longer than the owner's rights last. Host.mu is held.
func (e *clientExecutor) graceFor(c *Conn) time.Duration {
	if c.host.closed || c.proof == nil && c.door == DoorForward {
		return 0
	}
	if expires := c.principal.Expires; !expires.IsZero() {
		return min(e.grace, expires.Sub(c.host.now()))
	}
	return e.grace
}

// followProof has the wait end at once when the owner's proof is withdrawn.
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
		e.presentLocked()
	}
}

// presentLocked ends the wait for the owner, which is back, or whose terminal is gone. Host.mu is
// held.
func (e *clientExecutor) presentLocked() {
	a := e.away
	if a == nil {
		return
	}
	e.away = nil
	e.sinceLocked(time.Time{})
	a.over = true
	a.timer.Stop()
	if a.release != nil {
		a.release()
	}
}

// expire ends a terminal whose owner has not come back.
func (e *clientExecutor) expire(a *absence) {
	h, t := e.t.host, e.t
	h.mu.Lock()
	late := e.away == a
	if late {
		e.presentLocked()
	}
	h.mu.Unlock()
	if late {
		h.log.Info("a terminal ends because its owner stays away",
			"name", t.Name(), "principal", t.origin.creator.Name)
		h.remove(t, "")
	}
}

// maxEnded bounds for how many ended terminals the notices are kept for an owner that is away.
const maxEnded = 64

// tellOwner sends the notice to an owner that does not follow the terminal (one that does gets it
// with the exit), and keeps it for an owner that is away.
func (e *clientExecutor) tellOwner() {
	t, cl := e.t, e.client
	t.host.mu.Lock()
	defer t.host.mu.Unlock()
	if len(cl.ended) < maxEnded {
		if cl.ended == nil {
			cl.ended = map[string]string{}
		}
		cl.ended[t.uri] = e.notice
	}
	if c := cl.conn; c != nil && !c.sub.Subscribed(t.ch) {
		code := ptypool.UnknownExit
		c.sub.Answer(t.uri, ahp.TerminalExited{ExitCode: &code, Notice: e.notice}, nil, "")
	}
}

// standing returns how the terminals of an owner that has come back stand. No action of the owner's
// earlier connection is taken any more.
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
