package host

import (
	"termhost/ahp"
	"termhost/authz"
)

// asker returns the agent that asks.
func (s step) asker() asker {
	k := asker{principal: s.principal.ID}
	if s.conn.client != nil {
		k.client = s.conn.client.id
	}
	return k
}

// step says who asks for a change of a terminal.
type step struct {
	conn      *Conn // its Subscriber gets the answer; nil: there is no connection, but a principal
	principal authz.Principal
	origin    *ahp.Origin // of the action; nil: it is the host's own
	notice    string      // goes with the answer to terminal/output; "": nothing
	approved  bool        // a person has agreed to exactly this
	answers   *question   // that is all it may answer; nil: anything
}

// step returns the connection's client as the one who asks, with an action of the given clientSeq.
func (c *Conn) step(clientSeq int64) step {
	origin := &ahp.Origin{ClientID: c.client.id, ClientSeq: clientSeq}
	return step{conn: c, principal: c.principal, origin: origin}
}

// over reports whether the sender's connection has ended, so that its client is or will be told
// that what comes now was not taken: see typedBy.
func (s step) over() bool { return s.conn.ctx.Err() != nil }

// name returns how the one who asks is called.
func (s step) name() string {
	if s.conn != nil {
		return s.conn.Name()
	}
	return Printable(nameOf(s.principal))
}

// person returns the ID of the principal if a person asks with its own hands; "": somebody else
// does.
func (s step) person() string {
	if s.conn == nil || s.conn.door == DoorSSH && !s.conn.agent() {
		return s.principal.ID
	}
	return ""
}
