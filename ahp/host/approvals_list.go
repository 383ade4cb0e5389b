package host

import (
	"strconv"

	"termhost/ahp"
	"termhost/ahp/journal"
	"termhost/ahp/store"
	"termhost/authz"
)

// nextHeldID returns the ID of a new held input. No ID is used twice, not even by the next host: a
// person may list inputs in one place and decide in another.
func (h *Host) nextHeldID() string {
	n := h.lastHeldID.Add(1)
	h.note(journal.Note{Asks: n})
	return "@" + strconv.FormatInt(n, 10)
}

// heldReader returns which held inputs a principal may read: all, if it could ever decide, or else
// its own. Others must not see what agents want to type.
func heldReader(p authz.Principal) store.AsksReader {
	ever := authz.Target{Executor: authz.Server, Holds: true}
	if p.Guest == "" {
		p.Reach = "" // the terminals beyond it are hidden anyway
	}
	if p.Guest != "" || authz.Check(p, authz.Input, ever) != nil {
		return store.AsksReader{}
	}
	return store.AsksReader{All: authz.Check(p, authz.Approve, ever) == nil, Asker: p.ID}
}

// ReadableAsks returns the held inputs of a channel's terminal that the connection's principal may
// read. known: there is such a terminal. The list must not be modified.
func (c *Conn) ReadableAsks(channel string) (list []ahp.TerminalAsk, known bool) {
	t := c.host.lookupFor(c.principal, channel)
	if t == nil {
		return nil, false
	}
	return t.ch.Asks(heldReader(c.principal)), true
}
