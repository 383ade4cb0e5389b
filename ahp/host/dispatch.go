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
	reasonExited   = "terminal has exited"
	reasonUnknown  = "there is no such terminal; it may have been disposed"
	reasonSize     = "cols must be 1 to 1000 and rows 1 to 500"
	reasonTitle    = "the title is empty"
	reasonQueue    = "the terminal's input queue is full; send it again when the program has read some"
	reasonReadOnly = "this channel takes no actions from clients"
)

// Dispatch is AHP's dispatchAction. The answer, an echo or a rejection, comes
// through the connection's Subscriber.
func (c *Conn) Dispatch(ref string, clientSeq int64, a ahp.Action) {
	if c.ctx.Err() != nil {
		return // taken over or revoked: nothing it says counts any more
	}
	origin := &ahp.Origin{ClientID: c.client.id, ClientSeq: clientSeq}
	uri, ok := ahp.NormalizeChannel(ref)
	if !ok {
		c.sub.Answer(clip(ref), a, origin, "channel is not a valid URI")
		return
	}
	if uri == ahp.RootURI {
		c.sub.Answer(uri, a, origin, reasonReadOnly)
		return
	}
	t := c.host.lookup(uri)
	if t == nil {
		c.sub.Answer(uri, a, origin, reasonUnknown)
		return
	}
	t.dispatch(step{conn: c, principal: c.principal, origin: origin}, a)
}

// step is who asks for a change of a terminal.
type step struct {
	conn      *Conn // whose Subscriber gets the answer
	principal authz.Principal
	origin    *ahp.Origin
}

// dispatch is the one place where a client's action changes a server-executed
// terminal: check, side effect and append, in one step under the Term's lock.
func (t *Terminal) dispatch(s step, a ahp.Action) {
	// Who a clientId belongs to is asked before the lock is taken.
	next, known := t.claimFor(s, a)
	t.term.Lock()
	defer t.term.Unlock()
	reason := t.apply(s, a, next, known)
	if reason == "" {
		return
	}
	s.conn.sub.Answer(t.uri, a, s.origin, reason)
	if current := t.current(a); current != nil {
		// Official clients apply a rejected action to their mirror all the
		// same: tell them what is true.
		s.conn.sub.Answer(t.uri, current, nil, "")
	}
}

// apply does what the action asks for, or returns why not.
func (t *Terminal) apply(s step, a ahp.Action, next holder, known bool) (reason string) {
	verb, ok := verbOf(a)
	if !ok {
		return "terminal actions of type " + Printable(clip(a.Type())) + " are not dispatched by clients"
	}
	if err := authz.Check(s.principal, verb, t.target(s.principal)); err != nil {
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
		return t.resize(a, s.origin)
	case ahp.TerminalTitleChanged:
		return t.rename(a, s)
	case ahp.TerminalClaimed:
		if !known {
			return "the claim names a clientId that nobody here uses"
		}
		return t.claim(s, next)
	case ahp.TerminalCleared:
		t.accept(s, a)
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

func (t *Terminal) resize(a ahp.TerminalResized, origin *ahp.Origin) (reason string) {
	if a.Cols < 1 || a.Cols > MaxCols || a.Rows < 1 || a.Rows > MaxRows {
		return reasonSize
	}
	if t.exited {
		return reasonExited
	}
	if err := t.term.Resize(a.Cols, a.Rows); err != nil {
		return reasonExited
	}
	t.ch.Append(a, origin)
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

// current returns the value that a rejected action would have changed, as an
// action; nil where a rejection leaves no trace.
func (t *Terminal) current(a ahp.Action) ahp.Action {
	sum := t.ch.Summary()
	switch a.(type) {
	case ahp.TerminalClaimed:
		return ahp.TerminalClaimed{Claim: sum.Claim}
	case ahp.TerminalResized:
		return ahp.TerminalResized{Cols: sum.Cols, Rows: sum.Rows}
	case ahp.TerminalTitleChanged:
		return ahp.TerminalTitleChanged{Title: sum.Title}
	}
	return nil
}
