package host

import (
	"slices"
	"strings"

	"termhost/ahp"
	"termhost/ahp/store"
	"termhost/authz"
	"termhost/keys"
)

// A guest sees only the terminals that its invitation names: in every listing, error and completion
// the others do not exist. Two things remain visible. The whole host numbers its actions with one
// serverSeq: from the gaps a guest can tell that something happens, but not what. And a refused
// clientId tells a guest that somebody else has it.

// addRootLocked gives the connection of a guest, or of a link's page, a root channel of its own.
func (c *Conn) addRootLocked() {
	c.root.Store(c.host.store.Root())
	if !c.principal.Bounded() {
		return
	}
	var within []*store.Channel
	for _, t := range c.host.visibleLocked(c.principal) {
		within = append(within, t.ch)
	}
	c.root.Store(c.host.store.AddRoot(within))
}

// removeRoot removes that root channel.
func (c *Conn) removeRoot() {
	if c.principal.Bounded() {
		c.root.Load().Remove()
	}
}

// ownRoot replaces another connection's root channel among channels by c's own.
func (c *Conn) ownRoot(channels []*store.Channel) []*store.Channel {
	for i, ch := range channels {
		if ch.URI() == ahp.RootURI {
			channels[i] = c.root.Load()
		}
	}
	return channels
}

// Invite creates an invitation to terminals, each named by its whole NAME, on behalf of g's
// principal. It returns the invitation with the present NAMEs of the terminals. Errors are those of
// [authz.Authority.Invite] and [*NotFoundError].
func (c *Conn) Invite(g authz.Grant, r authz.InviteRequest, names []string) (
	secret string, made keys.Invitation, err error,
) {
	h := c.host
	var called []string
	for _, name := range names {
		t, err := c.Find(name)
		if err != nil {
			return "", made, err
		}
		r.Terminals = append(r.Terminals,
			keys.InvitedTerminal{Name: t.id, Created: t.origin.created})
		called = append(called, t.Name())
	}
	secret, made, err = h.cfg().Authority.Invite(g, r)
	if err == nil {
		h.log.Info("guest invited", "guest", made.Guest, "role", made.Role, "terminals", called,
			"principal", g.Principal.Name)
		c.Audit(authz.AuditInvited, "who", g.Principal.Name, "guest", made.Guest,
			"role", made.Role, "terminal", strings.Join(called, " "), "expires", made.Expires)
	}
	made.Terminals = slices.Clone(made.Terminals)
	for i := range made.Terminals {
		made.Terminals[i].Name = called[i]
	}
	return secret, made, err
}

// Invitations returns the live invitations that the principal may end, the oldest first, with the
// terminals that still exist. It returns *authz.Denied if the principal may not.
func (c *Conn) Invitations() ([]keys.Invitation, error) {
	h := c.host
	list, err := h.cfg().Authority.Invitations(c.principal)
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range list {
		var here []keys.InvitedTerminal
		for _, t := range h.order {
			for _, it := range list[i].Terminals {
				if t.id == it.Name && t.origin.created.Equal(it.Created) {
					here = append(here,
						keys.InvitedTerminal{Name: t.Name(), Created: t.origin.created})
				}
			}
		}
		list[i].Terminals = here
	}
	return list, err
}

// Uninvite ends the invitation of a guest and the guest's connections. Errors are those of
// [authz.Authority.Uninvite].
func (c *Conn) Uninvite(guest string) error {
	h, p := c.host, c.principal
	err := h.cfg().Authority.Uninvite(p, guest)
	if err == nil {
		h.log.Info("invitation revoked", "guest", guest, "principal", p.Name)
		c.Audit(authz.AuditUninvited, "who", p.Name, "guest", guest)
	}
	return err
}
