package host

import (
	"termhost/ahp"
	"termhost/authz"
)

// step says who acts on a terminal, and how.
type step struct {
	conn      *Conn // its Subscriber gets the answer; nil: only the principal is known
	principal authz.Principal
	origin    *ahp.Origin // of the action; nil: the action is the host's own
	notice    string      // goes with the answer to terminal/output; "": none
	approved  bool        // a person has approved exactly this input
	answers   *question   // the only question that the input may answer; nil: any
}

// step returns a step of the connection's client: its action with the given clientSeq.
func (c *Conn) step(clientSeq int64) step {
	origin := &ahp.Origin{ClientID: c.client.id, ClientSeq: clientSeq}
	return step{conn: c, principal: c.principal, origin: origin}
}

// over reports whether the sender's connection has ended. Then its input is not taken, because its
// client may have been told already what was taken: see typedBy.
func (s step) over() bool { return s.conn.ctx.Err() != nil }

// name returns the name of who acts.
func (s step) name() string {
	if s.conn != nil {
		return s.conn.Name()
	}
	return Printable(nameOf(s.principal))
}

// person returns the ID of the principal if a person acts by hand; "": somebody else does.
func (s step) person() string {
	if s.conn == nil || s.conn.door == DoorSSH && !s.conn.agent() {
		return s.principal.ID
	}
	return ""
}
