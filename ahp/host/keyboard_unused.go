package host

import (
	"strings"

	"termhost/ahp"
	"termhost/authz"
)

// Unused is a terminal whose keyboard the connection's person may take without asking, because
// nobody else would lose it: a person's own SSH sessions have it, or a client that is not connected
// any more.
type Unused struct {
	Terminal *Terminal
	// Window: a page of the person's own had the keyboard, and is closed.
	Window bool
}

// Unused returns the terminals of those that the principal sees whose keyboard is unused. Their
// holder is not the connection's client. It returns *authz.Denied if the principal may not list, or
// an [*EndedError].
func (c *Conn) Unused() ([]Unused, error) {
	if err := c.Ended(); err != nil || c.client == nil {
		return nil, err
	}
	order, err := c.Terminals()
	here := c.host.clientsHere()
	var list []Unused
	for _, t := range order {
		t.term.Lock()
		if u, ok := t.keyboard.unusedBy(c, here); ok {
			list = append(list, u)
		}
		t.term.Unlock()
	}
	return list, err
}

// clientsHere returns the clientIds that are connected.
func (h *Host) clientsHere() map[string]bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	here := map[string]bool{}
	for id, cl := range h.clients {
		if cl.conn != nil || cl.ssh > 0 {
			here[id] = true
		}
	}
	return here
}

// unusedBy reports whether c may take the keyboard and nobody else loses it. here are the clientIds
// that are connected. Agents that AHP does not connect count as here. The Term's lock is held.
func (kb *keyboardClaim) unusedBy(c *Conn, here map[string]bool) (Unused, bool) {
	t, by := kb.t, kb.holder
	own := authz.Person(by.principal) == authz.Person(c.principal.ID)
	target := t.target(step{conn: c, principal: c.principal})
	switch {
	case t.life.exited, t.Client(), by.claim.Kind != ahp.ClaimClient, c.holds(t),
		by.agent != "", strings.HasPrefix(by.claim.ClientID, mcpPrefix),
		authz.Check(c.principal, authz.Claim, target) != nil:
		return Unused{}, false
	case own && by.byHand():
		return Unused{Terminal: t}, true
	}
	window := own && authz.Person(by.principal) != by.principal
	return Unused{t, window}, !here[by.claim.ClientID]
}
