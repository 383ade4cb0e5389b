package host

import (
	"strconv"

	"termhost/ahp"
	"termhost/ahp/journal"
	"termhost/ahp/store"
	"termhost/authz"
)

// nextAsk returns the name of a new ask. It is never used again, not even by the next host: what a
// person has read in one place and decides in another must not have become something else.
func (h *Host) nextAsk() string {
	n := h.asks.Add(1)
	h.note(journal.Note{Asks: n})
	return "@" + strconv.FormatInt(n, 10)
}

// asksReader says which asks a principal reads: what agents want to type may be what others must
// not see. It is for those who could ever decide, and for the agent itself.
func asksReader(p authz.Principal) store.AsksReader {
	ever := authz.Target{Executor: authz.Server, Holds: true}
	if p.Guest != "" || authz.Check(p, authz.Input, ever) != nil {
		return store.AsksReader{}
	}
	return store.AsksReader{All: authz.Check(p, authz.Approve, ever) == nil, Asker: p.ID}
}

// askOf returns what is told of k. The Term's lock is held.
func (ap *approvals) askOf(k *heldInput) ahp.TerminalAsk {
	is := ahp.TerminalAsk{Ask: k.id, By: k.by, Since: k.since.UTC(), Does: k.does,
		Secret: k.question != nil, Lines: k.lines, Hidden: k.hidden,
		Warning: k.warning, All: ap.mayTrust(k), Asker: k.s.principal.ID}
	if k.question == nil {
		is.Text = string(k.text)
	}
	return is
}

// tellsCommands notes that the terminal's shell tells when a command ends. The Term's lock is held.
func (ap *approvals) tellsCommands() {
	if !ap.tells {
		ap.tells = true
		if len(ap.held) > 0 {
			ap.asksChanged() // yes to all is possible now
		}
	}
}

// ReadableAsks returns what is held in the terminal of a channel and the connection's principal may
// read; known: the terminal is there. The list must not be modified.
func (c *Conn) ReadableAsks(channel string) (list []ahp.TerminalAsk, known bool) {
	t := c.host.lookupFor(c.principal, channel)
	if t == nil {
		return nil, false
	}
	return t.ch.Asks(asksReader(c.principal)), true
}
