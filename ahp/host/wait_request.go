package host

import (
	"errors"

	"termhost/ahp"
	"termhost/authz/admit"
)

// WaitRequest is [Conn.StartWait] for termhost/wait, with the channel of the terminal.
func (c *Conn) WaitRequest(ref string, w WaitFor) (*PendingWait, *ahp.Error) {
	if e := c.Ended(); e != nil {
		return nil, e
	}
	uri, ok := ahp.NormalizeChannel(ref)
	if !ok {
		return nil, ahp.FieldProblem("channel", "must be an absolute URI of at most 256 bytes")
	}
	t := c.host.lookupFor(c.principal, uri)
	if t == nil {
		return nil, unknownChannel(ref)
	}
	p, err := c.StartWait(t, w)
	var quota *admit.QuotaError
	switch {
	case errors.Is(err, ErrNoCommands):
		return nil, ahp.FieldProblem("for.command", "cannot hold: "+err.Error())
	case errors.As(err, &quota):
		return nil, ahp.NewError(ahp.CodeLimit, err.Error()+"; let some finish", "limit", "waits")
	}
	return p, c.ProtocolError(err)
}
