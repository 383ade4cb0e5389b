package host

import (
	"strconv"

	"termhost/ahp"
	"termhost/ahp/journal"
)

// nextHeldID returns the ID of a new held input. No ID is used twice, not even by the next host: a
// person may list inputs in one place and decide in another.
func (h *Host) nextHeldID() string {
	n := h.lastHeldID.Add(1)
	h.note(journal.Note{Asks: n})
	return "@" + strconv.FormatInt(n, 10)
}

// ReadableAsks returns the held inputs of a channel's terminal that the connection's principal may
// read. known: there is such a terminal. The list must not be modified.
func (c *Conn) ReadableAsks(channel string) (list []ahp.TerminalAsk, known bool) {
	t := c.host.lookupFor(c.principal, channel)
	if t == nil {
		return nil, false
	}
	list, _ = c.audience().asks(t)
	return list, true
}
