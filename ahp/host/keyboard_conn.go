package host

import (
	"termhost/ahp"
	"termhost/ahp/store"
	"termhost/authz"
)

// Asked is whom somebody has asked for the keyboard.
type Asked struct {
	Holder string // for people
	Here   bool   // the holder is told now
}

// Ask asks the holder for the keyboard: for a client of AHP, or if a is not nil, for the person at
// that viewer of t. A holder that has a viewer or a client here is told now; otherwise its first
// one within askTime is told. A client may ask another one of the same principal. Ask returns
// *authz.Denied for those who may never type, ErrExited, why the connection has ended, or why there
// is nobody to ask.
func (c *Conn) Ask(t *Terminal, a *Attach) (Asked, error) {
	k := request{conn: c}
	if a != nil {
		c.host.sshClient(c.principal)
		k.to, k.left = sshHolder(c.principal), func() bool { return a.closed }
	} else {
		t.kept.load()
		k.to = holder{claim: ahp.ClientClaim(c.client.id), principal: c.principal.ID, name: c.name}
		k.left = func() bool { return false }
	}
	t.term.Lock()
	defer t.term.Unlock()
	if t.life.exited {
		return Asked{}, ErrExited
	}
	if err := a.mayActLocked(); err != nil {
		return Asked{}, err
	}
	if c.hasKeyboard(t, a) {
		return Asked{}, errHaveIt
	}
	if err := t.keyboard.request(k); err != nil {
		return Asked{}, err
	}
	return Asked{Holder: t.keyboard.holder.text(), Here: t.keyboard.reachable()}, nil
}

// hasKeyboard reports whether who asks needs not ask for the keyboard: see Ask. The Term's lock is
// held.
func (c *Conn) hasKeyboard(t *Terminal, a *Attach) bool {
	if a != nil {
		return authz.Check(c.principal, authz.Input, t.target(a.step())) == nil
	}
	by := t.keyboard.holder
	return by.principal == c.principal.ID && (by.claim.Kind != ahp.ClaimClient || c.holds(t))
}

// HandedBack is who was given the keyboard. To is empty if nobody has asked for it and nobody has
// lent it.
type HandedBack struct {
	To    string // for people
	Asked bool   // that one has asked
}

// HandBack gives the keyboard to the first who has asked for it, or if nobody has, back to the
// holder that it was taken from; onlyAsked: not the latter. It is for a client of AHP, or if a is
// not nil, for the person at that viewer. HandBack returns *authz.Denied if that one does not
// hold the claim, that the former holder is gone, or why the connection has ended.
func (c *Conn) HandBack(t *Terminal, a *Attach, onlyAsked bool) (HandedBack, error) {
	t.kept.load()
	prior, known := t.keyboard.lender()
	t.term.Lock()
	defer t.term.Unlock()
	s := step{conn: c, principal: c.principal}
	if err := a.mayActLocked(); err != nil {
		return HandedBack{}, err
	}
	if err := t.check(s, authz.Claim); err != nil {
		return HandedBack{}, err
	}
	if a != nil && !a.holdsLocked() || a == nil && !c.holds(t) {
		return HandedBack{}, t.keyboard.heldElsewhere()
	}
	if name := t.keyboard.giveToRequester(s, a); name != "" {
		return HandedBack{To: name, Asked: true}, nil
	}
	if t.keyboard.prior == nil || onlyAsked {
		return HandedBack{}, nil
	}
	name, err := t.keyboard.handBack(prior, known, s, a)
	return HandedBack{To: name}, err
}

// holds reports whether the connection's client holds t's claim. The Term's lock is held.
func (c *Conn) holds(t *Terminal) bool {
	by := t.keyboard.holder
	return !t.Client() && by.principal == c.principal.ID && c.claims(by)
}

// claims reports whether h's claim names the connection's clientId.
func (c *Conn) claims(h holder) bool { return h.claim == ahp.ClientClaim(c.client.id) }

// tellAsked tells a client that has begun to follow ch who requests the keyboard, if it holds that.
// No request is missed: one that comes meanwhile is told here or by keyboardClaim.request, which
// sets hasRequests before it looks for those who follow the channel.
func (c *Conn) tellAsked(ch *store.Channel) {
	if t := c.host.lookup(ch.URI()); t != nil && t.ch == ch && t.keyboard.hasRequests.Load() {
		c.sub.TellAsked(ch, "")
	}
}

// AskedBy returns the names of those who request the keyboard of a channel's terminal, the oldest
// request first. holds: the connection's client has the keyboard, and has to be told.
func (c *Conn) AskedBy(channel string) (names []string, holds bool) {
	t := c.host.lookup(channel)
	if t == nil {
		return nil, false
	}
	t.term.Lock()
	defer t.term.Unlock()
	for _, k := range t.keyboard.requests {
		names = append(names, k.to.text())
	}
	return names, c.holds(t)
}

// giveToRequester gives the keyboard to the first who has requested it, and returns that one's
// name; "": nobody has. The viewer but is not told. The Term's lock is held.
func (kb *keyboardClaim) giveToRequester(s step, but *Attach) (name string) {
	kb.dropRequests()
	if len(kb.requests) == 0 {
		return ""
	}
	to := kb.requests[0].to
	kb.lend(to, s, false)
	kb.tell(but, Note{Kind: NoteGiven, Who: s.name(), by: s.person()})
	return to.text()
}
