package host

import (
	"termhost/ahp"
	"termhost/ahp/store"
	"termhost/authz"
)

// Asked is the answer to termhost/ask.
type Asked struct {
	Holder string `json:"holder"` // for people
	Here   bool   `json:"here"`   // the holder is told now
}

// Ask is termhost/ask: [Attach.Ask] for a client of AHP. It may ask another client of the same
// principal.
func (c *Conn) Ask(ref string) (Asked, *ahp.Error) {
	t, e := c.asksAbout(ref)
	if e != nil {
		return Asked{}, e
	}
	t.term.Lock()
	defer t.term.Unlock()
	mine := t.keyboard.holder.principal == c.principal.ID
	switch {
	case t.life.exited:
		return Asked{}, c.refusal(ErrExited)
	case mine && (t.keyboard.holder.claim.Kind != ahp.ClaimClient || c.holds(t)):
		return Asked{}, c.refusal(errHaveIt)
	}
	to := holder{claim: ahp.ClientClaim(c.client.id), principal: c.principal.ID,
		name: c.name}
	k := request{conn: c, to: to, left: func() bool { return false }}
	if err := t.keyboard.request(k); err != nil {
		return Asked{}, c.refusal(err)
	}
	return Asked{Holder: t.keyboard.holder.text(), Here: t.keyboard.hears()}, nil
}

// HandedBack is the answer to termhost/handBack. To is empty if nobody has asked for the keyboard
// and nobody has lent it.
type HandedBack struct {
	To    string `json:"to,omitempty"` // for people
	Asked bool   `json:"asked,omitempty"`
}

// HandBack is termhost/handBack: [Attach.GiveAsked], or if nobody has asked, [Attach.HandBack];
// onlyAsked: not the latter.
func (c *Conn) HandBack(ref string, onlyAsked bool) (HandedBack, *ahp.Error) {
	t, e := c.asksAbout(ref)
	if e != nil {
		return HandedBack{}, e
	}
	prior, known := t.keyboard.lender()
	t.term.Lock()
	defer t.term.Unlock()
	s := step{conn: c, principal: c.principal}
	if err := t.check(s, authz.Claim); err != nil {
		return HandedBack{}, c.refusal(err)
	}
	if !c.holds(t) {
		return HandedBack{}, c.refusal(t.keyboard.heldElsewhere())
	}
	if name := t.keyboard.giveToRequester(s, nil); name != "" {
		return HandedBack{To: name, Asked: true}, nil
	}
	if t.keyboard.prior == nil || onlyAsked {
		return HandedBack{}, nil
	}
	name, err := t.keyboard.handBack(prior, known, s, nil)
	return HandedBack{To: name}, c.refusal(err)
}

// Guard is termhost/guard: [Conn.SetGuard]. The root's list says so before the answer comes.
func (c *Conn) Guard(ref string, on bool) *ahp.Error {
	t, e := c.asksAbout(ref)
	if e != nil {
		return e
	}
	err := c.SetGuard(t, on)
	c.host.list.flush()
	return c.refusal(err)
}

// asksAbout returns the terminal of a channel, with its log read.
func (c *Conn) asksAbout(ref string) (*Terminal, *ahp.Error) {
	if e := c.Ended(); e != nil {
		return nil, e
	}
	uri, _ := ahp.NormalizeChannel(ref)
	t := c.host.lookupFor(c.principal, uri)
	if t == nil {
		return nil, unknownChannel(ref)
	}
	t.kept.load()
	return t, nil
}

// holds reports whether the client of AHP holds t's claim under the clientId of this connection.
// The Term's lock is held.
func (c *Conn) holds(t *Terminal) bool {
	by := t.keyboard.holder
	return !t.Client() && by.principal == c.principal.ID && c.claims(by)
}

// claims reports whether h has a claim under the clientId of this connection.
func (c *Conn) claims(h holder) bool { return h.claim == ahp.ClientClaim(c.client.id) }

// tellAsked tells a client that follows ch anew who has asked for its keyboard, if it holds it. A
// request that comes meanwhile is told here or by request, which marks the terminal before it looks
// for those who follow it.
func (c *Conn) tellAsked(ch *store.Channel) {
	if t := c.host.lookup(ch.URI()); t != nil && t.ch == ch && t.keyboard.wanted.Load() {
		c.sub.TellAsked(ch, "")
	}
}

// AskedBy returns who asks for the keyboard of a channel's terminal, for people, the first one
// first. holds: the connection's client has it, and is to be told.
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
