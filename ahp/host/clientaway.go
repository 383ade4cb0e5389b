package host

import (
	"time"

	"termhost/ahp"
	"termhost/authz"
	"termhost/ptypool"
)

// absence is an owner's being away from a terminal that waits for it. Guarded by
// Host.mu.
type absence struct {
	timer   *time.Timer
	release func() // of what follows the owner's proof; nil: nothing does
	over    bool
}

// Prove says how the proof of who the peer is can be followed beyond the
// connection: track calls end once, from any goroutine or before it returns, when
// the proof is gone, until release is called; it must not call the Host.
// Terminals that wait for an owner end with its proof, and so do connections from
// inside of terminals: see [Host.CreatorOf]. It is called before the connection is
// used. A connection without it is the unix socket's, whose peer is who it is for
// good, or a forwarded one, whose terminals wait for nobody.
func (c *Conn) Prove(track Proof) {
	c.host.mu.Lock()
	defer c.host.mu.Unlock()
	c.track = track
}

// Proof follows the proof of who somebody is; see [Conn.Prove].
type Proof = func(end func(error)) (release func())

// proofOf returns the proof of a principal that is connected, perhaps with another
// role: an SSH connection proves what comes through its forwards. One that is not
// comes from inside a terminal of its own, and goes with that. nil: there is none to
// follow.
func (h *Host) proofOf(p authz.Principal) Proof {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.conns {
		if c.track != nil && c.principal.ID == p.ID {
			return c.track
		}
	}
	return h.origins.proofOf(p)
}

// ownedLocked returns the running terminals that a clientId owns.
func (h *Host) ownedLocked(cl *client) (list []*Terminal) {
	for _, t := range h.order {
		if t.ownedBy(cl) && !t.exitedNow() {
			list = append(list, t)
		}
	}
	return list
}

func (t *Terminal) ownedBy(cl *client) bool {
	return t.owned != nil && t.owned.clientID == cl.id && t.owned.principal == cl.principal
}

// leaveLocked is called when the last connection of a clientId has ended: what it
// owns ends, or waits for it. then is to be called without the lock.
func (h *Host) leaveLocked(c *Conn) (then func()) {
	var due []*Terminal
	var waiting []*absence
	for _, t := range h.ownedLocked(c.client) {
		grace := h.graceFor(t, c)
		if grace <= 0 {
			due = append(due, t)
			continue
		}
		a := &absence{}
		a.timer = time.AfterFunc(grace, func() { h.expire(t, a) })
		t.owned.away = a
		waiting = append(waiting, a)
	}
	return func() {
		for _, t := range due {
			h.remove(t)
		}
		for _, a := range waiting {
			h.follow(c, a)
		}
	}
}

// graceFor returns how long t waits for an owner whose connection c has ended:
// not longer than its rights last.
func (h *Host) graceFor(t *Terminal, c *Conn) time.Duration {
	if h.closed || c.track == nil && c.door == DoorForward {
		return 0
	}
	if expires := c.principal.Expires; !expires.IsZero() {
		return min(t.owned.grace, expires.Sub(h.now()))
	}
	return t.owned.grace
}

// follow ends an absence when the owner's proof is gone.
func (h *Host) follow(c *Conn, a *absence) {
	if c.track == nil {
		return
	}
	release := c.track(func(error) { a.timer.Reset(0) })
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
	for _, t := range h.ownedLocked(cl) {
		t.presentLocked()
	}
}

// presentLocked ends the wait for t's owner: it is back, or t is no more.
func (t *Terminal) presentLocked() {
	if t.owned == nil || t.owned.away == nil {
		return
	}
	a := t.owned.away
	t.owned.away = nil
	a.over = true
	a.timer.Stop()
	if a.release != nil {
		a.release()
	}
}

// expire ends a terminal whose owner has not come back.
func (h *Host) expire(t *Terminal, a *absence) {
	h.mu.Lock()
	late := t.owned.away == a
	if late {
		t.presentLocked()
	}
	h.mu.Unlock()
	if late {
		h.log.Info("a terminal ends because its owner stays away", "name", t.name, "principal", t.creator.Name)
		h.remove(t)
	}
}

// disposeOwned ends a client-executed terminal at somebody's wish. Its owner is
// told first, and by whom, so that it can end its program.
func (h *Host) disposeOwned(t *Terminal, by authz.Principal) {
	notice := "disposed by " + Printable(by.Name)
	t.term.Lock()
	running := !t.exited
	if running {
		t.owned.notice = notice
		t.endOwned(ptypool.UnknownExit, nil)
	}
	t.term.Unlock()
	if running {
		h.tellOwner(t, notice)
	}
	h.remove(t)
}

// maxEnded bounds what is kept for an owner that is not here, in terminals.
const maxEnded = 64

// tellOwner tells the owner of a terminal that has been disposed, also one that
// does not follow it, and keeps it for an owner that is not here.
func (h *Host) tellOwner(t *Terminal, notice string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	cl := h.clients[t.owned.clientID]
	if cl == nil || !t.ownedBy(cl) {
		return
	}
	if len(cl.ended) < maxEnded {
		if cl.ended == nil {
			cl.ended = map[string]string{}
		}
		cl.ended[t.uri] = notice
	}
	if c := cl.conn; c != nil && !c.sub.Subscribed(t.ch) {
		code := ptypool.UnknownExit
		c.sub.Answer(t.uri, ahp.TerminalExited{ExitCode: &code, Notice: notice}, nil, "")
	}
}

// standing tells an owner that has come back how its terminals stand. From then
// on no action of its earlier connection is taken any more.
func (h *Host) standing(cl *client) map[string]ahp.OwnedTerminal {
	h.mu.Lock()
	owned := h.ownedLocked(cl)
	all := make(map[string]ahp.OwnedTerminal, len(owned))
	for uri, why := range cl.ended {
		all[uri] = ahp.OwnedTerminal{Ended: why}
	}
	h.mu.Unlock()
	for _, t := range owned {
		t.term.Lock()
		if !t.exited {
			all[t.uri] = ahp.OwnedTerminal{ClientSeq: t.owned.taken}
		}
		t.term.Unlock()
	}
	return all
}
