package host

import (
	"errors"

	"termhost/ahp"
	"termhost/authz"
	"termhost/ptypool"
)

// The bounds of a terminal's size, in cells.
const (
	MaxCols = 1000
	MaxRows = 500
)

// The reasons for which an action is rejected whoever sends it.
const (
	reasonURI      = "channel is not a valid URI"
	reasonExited   = "terminal has exited"
	reasonUnknown  = "there is no such terminal; it may have been disposed"
	reasonSize     = "cols must be 1 to 1000 and rows 1 to 500"
	reasonClaim    = "the claim names a clientId that nobody here uses"
	reasonNoClaim  = "the claim names neither a clientId nor a session of at most 256 bytes"
	reasonTitle    = "the title is empty"
	reasonQueue    = "the terminal's input queue is full; send it again when the program has read some"
	reasonReadOnly = "this channel takes no actions from clients"
)

// Dispatch is AHP's dispatchAction. The answer, an echo or a rejection, comes
// through the connection's Subscriber; taken says which.
func (c *Conn) Dispatch(ref string, clientSeq int64, a ahp.Action) (taken bool) {
	if c.ctx.Err() != nil {
		return false // taken over or revoked: nothing it says counts any more
	}
	s := step{conn: c, principal: c.principal, origin: &ahp.Origin{ClientID: c.client.id, ClientSeq: clientSeq}}
	rate, now := c.host.cfg.ClientOutputRate, c.host.now()
	if out, ok := a.(ahp.TerminalOutput); ok { // whoever sends it, it was read and has to be looked at
		s.notice = c.client.flow.take(len(out.Data), rate, now)
	} else {
		c.client.flow.draw(weight(a), rate, now)
	}
	uri, ok := ahp.NormalizeChannel(ref)
	switch {
	case !ok:
		s.refuse(clip(ref), a, reasonURI)
	case uri == ahp.RootURI:
		s.refuse(uri, a, reasonReadOnly)
	default:
		if t := c.host.lookup(uri); t != nil {
			return t.dispatch(s, a)
		}
		s.refuse(uri, a, reasonUnknown)
	}
	return false
}

// Reject refuses an action that its door could not read, as Dispatch refuses
// others.
func (c *Conn) Reject(ref string, clientSeq int64, a ahp.Unknown, reason string) {
	if c.ctx.Err() != nil {
		return
	}
	s := step{conn: c, principal: c.principal, origin: &ahp.Origin{ClientID: c.client.id, ClientSeq: clientSeq}}
	uri, ok := ahp.NormalizeChannel(ref)
	if !ok {
		s.refuse(clip(ref), a, reason)
		return
	}
	t := c.host.lookup(uri)
	if t == nil {
		s.refuse(uri, a, reason)
		return
	}
	t.term.Lock()
	defer t.term.Unlock()
	t.reject(s, a, reason)
}

// step is who asks for a change of a terminal.
type step struct {
	conn      *Conn // whose Subscriber gets the answer
	principal authz.Principal
	origin    *ahp.Origin
	notice    string // to be said with the answer to terminal/output; "": nothing
}

// dispatch is the one place where a client's action changes a terminal: check,
// side effect and append, in one step under the Term's lock.
func (t *Terminal) dispatch(s step, a ahp.Action) (taken bool) {
	var next holder
	if cl, ok := a.(ahp.TerminalClaimed); ok {
		// Who a clientId belongs to is asked before the lock is taken.
		next, _ = t.host.holderOf(cl.Claim, s.principal)
	}
	t.term.Lock()
	defer t.term.Unlock()
	reason := t.apply(s, a, next)
	if reason != "" {
		t.reject(s, a, reason)
	}
	return reason == ""
}

// apply does what the action asks for, or returns why not. next is who a claim
// names.
func (t *Terminal) apply(s step, a ahp.Action, next holder) (reason string) {
	target := t.targetOf(s)
	if target.Owner {
		t.owned.taken = s.origin.ClientSeq
	}
	verb, ok := verbOf(a)
	if !ok {
		return "terminal actions of type " + Printable(clip(a.Type())) + " are not dispatched by clients"
	}
	if err := authz.Check(s.principal, verb, target); err != nil {
		var d *authz.Denied
		if errors.As(err, &d) {
			return d.Rule
		}
		return err.Error()
	}
	switch a := a.(type) {
	case ahp.TerminalInput:
		return t.input(s, a)
	case ahp.TerminalResized:
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
		return t.claim(s, next)
	case ahp.TerminalCleared:
		if t.owned != nil {
			if t.exited { // then it is the record of what the owner has shown
				return reasonExited
			}
			t.owned.half = 0
		}
		t.accept(s, a)
		t.cleared()
	default:
		return t.takeOwned(s, a)
	}
	return ""
}

// verbOf returns which verb an action is, for those that clients may dispatch.
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

// accept appends a client's action. A sender that does not subscribe to the
// terminal gets its echo all the same.
func (t *Terminal) accept(s step, a ahp.Action) {
	t.ch.Append(a, s.origin)
	if !s.conn.sub.Subscribed(t.ch) {
		s.conn.sub.Answer(t.uri, a, s.origin, "")
	}
}

// input forwards keys to the pty. The acknowledgement carries none of them: keys
// are passwords as often as not.
func (t *Terminal) input(s step, a ahp.TerminalInput) (reason string) {
	if t.exited {
		return reasonExited
	}
	switch err := t.term.Input(a.Data); {
	case errors.Is(err, ptypool.ErrInputFull):
		return reasonQueue
	case err != nil:
		return reasonExited
	}
	s.conn.sub.Answer(t.uri, ahp.TerminalInput{}, s.origin, "")
	return ""
}

// resize resizes program and screen; the caller appends the action.
func (t *Terminal) resize(a ahp.TerminalResized) (reason string) {
	if a.Cols < 1 || a.Cols > MaxCols || a.Rows < 1 || a.Rows > MaxRows {
		return reasonSize
	}
	if t.exited {
		return reasonExited
	}
	screen := t.term.Screen()
	lines, before := screen.HistoryLines(), screen.Scrolled()
	if err := t.term.Resize(a.Cols, a.Rows); err != nil {
		return reasonExited
	}
	t.pulledBack += screen.Scrolled() - before + uint64(lines-screen.HistoryLines())
	t.content.resized()
	return ""
}

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
