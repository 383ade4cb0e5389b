package host

import (
	"termhost/ahp"
	"termhost/ahp/store"
	"termhost/authz"
)

// Asked says whom somebody has asked for the keyboard.
type Asked struct {
	Holder string // its name for people
	Here   bool   // the holder is told now
}

// Ask asks the holder of t for the keyboard. The request is that of the person at the viewer a, or
// of the connection's AHP client if a is nil. A holder that has a viewer or a client here is told
// now; otherwise its first one within requestTime is told. A client may ask another client of the
// same principal.
//
// Ask returns *authz.Denied for a principal that may never type, ErrExited if the program has
// exited, and other errors if the connection has ended, if there are too many requests, and if
// there is nobody to ask.
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

// hasKeyboard reports whether the requester may type already and need not ask: see Ask. The Term's
// lock is held.
func (c *Conn) hasKeyboard(t *Terminal, a *Attach) bool {
	if a != nil {
		return authz.Check(c.principal, authz.Input, t.target(a.step())) == nil
	}
	by := t.keyboard.holder
	return by.principal == c.principal.ID && (by.claim.Kind != ahp.ClaimClient || c.holds(t))
}

// HandedBack says who was given the keyboard. To is empty if nobody has asked for the keyboard and
// nobody has lent it.
type HandedBack struct {
	To    string // the new holder's name for people
	Asked bool   // the new holder has asked for the keyboard
}

// HandBack gives the keyboard to the first who has asked for it. If nobody has asked, HandBack
// gives it back to the holder from whom it was taken, unless onlyAsked is set. The keyboard is
// that of the person at the viewer a, or of the connection's AHP client if a is nil.
//
// HandBack returns *authz.Denied if the person or client does not hold the claim, and other errors
// if the former holder is gone and if the connection has ended.
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

// tellAsked tells a client that has begun to follow ch who requests the keyboard, if the client
// holds it. No request is missed: keyboardClaim.request sets hasRequests before it looks for the
// clients that follow the channel, so it or tellAsked tells of a request that comes meanwhile.
func (c *Conn) tellAsked(ch *store.Channel) {
	if t := c.host.lookup(ch.URI()); t != nil && t.ch == ch && t.keyboard.hasRequests.Load() {
		c.sub.TellAsked(ch, "")
	}
}

// AskedBy returns the names of those who request the keyboard of a channel's terminal, the oldest
// request first. If holds is true, the connection's client has the keyboard and has to be told.
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

// giveToRequester gives the keyboard to the first who has requested it, and returns the name of the
// new holder, "" if nobody has requested it. It tells all viewers except but. The Term's lock is
// held.
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
