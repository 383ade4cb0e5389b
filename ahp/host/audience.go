package host

import (
	"termhost/ahp"
	"termhost/ahp/store"
	"termhost/authz"
)

// audience decides who is told a terminal's secret: the input of agents that waits for a yes. Every
// snapshot, listing, event, log and tool that tells of a terminal gets its view here.
//
//   - Admins and operators read all held input: each may come to decide about it.
//   - An agent, that is a token or a process inside a terminal, reads its own principal's.
//   - An MCP client, whatever its key, reads its own principal's.
//   - Observers, guests and read-only keys read none, a page as its person does.
//
// The zero value reads none.
type audience struct{ held store.AsksReader }

// audienceOf returns the audience that a principal is, at any door but MCP's.
func audienceOf(p authz.Principal) audience {
	ever := authz.Target{Executor: authz.Server, Holds: true}
	if p.Guest == "" {
		p.Reach = "" // the terminals beyond it are hidden anyway
	}
	if p.Guest != "" || authz.Check(p, authz.Input, ever) != nil {
		return audience{}
	}
	decides := authz.Check(p, authz.Approve, ever) == nil
	return audience{store.AsksReader{All: decides, Asker: p.ID}}
}

// audience returns the audience at the connection.
func (c *Conn) audience() audience {
	a := audienceOf(c.principal)
	if c.door.Tool {
		a.held.All = false
	}
	return a
}

// decides reports whether the audience may ever decide about held input, and so reads all of it.
func (a audience) decides() bool { return a.held.All }

// state returns a terminal's state as the audience may read it.
func (a audience) state(t *Terminal) ahp.TerminalState { return t.ch.TerminalFor(a.held) }

// asks returns what is held in a terminal, as far as the audience may read it, and whether there is
// more. The list must not be modified.
func (a audience) asks(t *Terminal) (list []ahp.TerminalAsk, more bool) {
	return t.ch.Asks(a.held)
}

// mayRead reports whether the audience may read what is held.
func (a audience) mayRead(is ahp.TerminalAsk) bool { return a.held.May(is) }

// event returns an event of the feed as the audience may read it: why an ask was refused may
// repeat what it says.
func (a audience) event(e Event) Event {
	if e.Ask != "" && !a.mayRead(ahp.TerminalAsk{Asker: e.asker}) {
		e.Reason = ""
	}
	return e
}
