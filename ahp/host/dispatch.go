package host

import (
	"termhost/ahp"
	"termhost/authz"
)

// Dispatch is AHP's dispatchAction. The answer comes through the connection's Subscriber: an echo
// if the action was taken, else a rejection.
func (c *Conn) Dispatch(ref string, clientSeq int64, a ahp.Action) (taken bool) {
	if c.ctx.Err() != nil {
		return false // the connection has ended, and nothing that its peer says counts any more
	}
	s := c.step(clientSeq)
	s.notice = c.client.output.chargeAction(a, c.host.cfg().ClientOutputRate, c.host.now())
	uri, ok := c.ChannelURI(ref)
	switch {
	case !ok:
		s.refuse(clip(ref), a, reasonURI)
	case uri == ahp.RootURI:
		s.refuse(uri, a, reasonReadOnly)
	default:
		if t := c.host.lookupFor(c.principal, uri); t != nil {
			return t.dispatch(s, a)
		}
		s.refuse(uri, a, reasonUnknown)
	}
	return false
}

// Reject refuses an action that its door could not read, as Dispatch refuses others.
func (c *Conn) Reject(ref string, clientSeq int64, a ahp.Unknown, reason string) {
	if c.ctx.Err() != nil {
		return
	}
	s := c.step(clientSeq)
	uri, ok := c.ChannelURI(ref)
	if !ok {
		s.refuse(clip(ref), a, reason)
		return
	}
	t := c.host.lookupFor(c.principal, uri)
	if t == nil {
		s.refuse(uri, a, reason)
		return
	}
	t.term.Lock()
	defer t.term.Unlock()
	t.reject(s, a, reason)
}

// dispatch is the one place where a client's action changes a terminal. The check, the side effect
// and the append are one step under the Term's lock.
func (t *Terminal) dispatch(s step, a ahp.Action) (taken bool) {
	t.kept.load()
	var next claimant
	if cl, ok := a.(ahp.TerminalClaimed); ok {
		// Asked before the lock is taken: both take Host.mu.
		next.holder, _ = t.host.holderOf(cl.Claim, s.principal, s.name())
		next.here = t.host.clientsHere()
	}
	t.term.Lock()
	defer t.term.Unlock()
	reason := t.apply(s, a, next)
	if reason != "" {
		t.reject(s, a, reason)
	}
	return reason == ""
}

// apply does what the action asks for, or returns why not. next is whom a claim names.
func (t *Terminal) apply(s step, a ahp.Action, next claimant) (reason string) {
	t.exec.heard(s)
	verb, ok := verbOf(a)
	if !ok {
		return "terminal actions of type " + Printable(clip(a.Type())) +
			" are not dispatched by clients"
	}
	if err := t.check(s, verb); err != nil {
		if verb != authz.Input { // whose refusals are as many as keys
			s.conn.Denied(err)
		}
		return reasonOf(err)
	}
	switch a := a.(type) {
	case ahp.TerminalInput:
		a.Data = t.cellsToPixels(a.Data)
		return t.input(s, a)
	case ahp.TerminalResized:
		t.viewers.pixels = Pixels{} // AHP has none
		if reason := t.resize(a); reason != "" {
			return reason
		}
		t.accept(s, a)
	case ahp.TerminalTitleChanged:
		return t.rename(a, s)
	case ahp.TerminalClaimed:
		switch {
		case !validClaim(a.Claim):
			return reasonNoClaim
		case next.principal == "":
			return reasonClaim
		}
		return t.keyboard.claim(s, next)
	case ahp.TerminalCleared:
		return t.clear(s, a)
	default:
		return t.exec.take(s, a)
	}
	return ""
}

// verbOf returns the policy's verb for an action, if clients may dispatch such actions at all.
func verbOf(a ahp.Action) (authz.Verb, bool) {
	switch a.(type) {
	case ahp.TerminalInput:
		return authz.Input, true
	case ahp.TerminalResized:
		return authz.Resize, true
	case ahp.TerminalClaimed:
		return authz.Claim, true
	case ahp.TerminalTitleChanged:
		return authz.Rename, true
	case ahp.TerminalCleared:
		return authz.Clear, true
	case ahp.TerminalOutput:
		return authz.Output, true
	case ahp.TerminalExited:
		return authz.Exited, true
	case ahp.TerminalCommandExecuted:
		return authz.CommandExecuted, true
	case ahp.TerminalCommandFinished:
		return authz.CommandFinished, true
	}
	return 0, false
}

// rename does a person's or a client's terminal/titleChanged, or returns why not.
func (t *Terminal) rename(a ahp.TerminalTitleChanged, s step) (reason string) {
	a.Title = CleanTitle(a.Title)
	if a.Title == "" {
		return reasonTitle
	}
	t.renamed = true
	t.accept(s, a)
	t.host.list.changed()
	return ""
}
