package host

import (
	"slices"
	"strings"

	"termhost/ahp"
	"termhost/ahp/store"
	"termhost/authz"
	"termhost/keys"
)

// A guest sees the terminals that its invitation names, and no others: for a guest a hidden
// terminal is one that does not exist, in every listing, error and completion. What remains is that
// serverSeqs are the whole host's: from the gaps between them a guest can tell that something
// happens, but not what. And a clientId that is refused tells it that somebody else has that one.

// sees reports whether t exists for p.
func (t *Terminal) sees(p authz.Principal) bool { return p.Sees(t.id, t.origin.created) }

// seen are the facts by which the policy knows t for a verb that needs no others.
func (t *Terminal) seen() authz.Target {
	return authz.Target{Name: t.id, Created: t.origin.created, Called: t.Name()}
}

// lookupFor returns the terminal of a normalized URI if it exists for p, or nil.
func (h *Host) lookupFor(p authz.Principal, uri string) *Terminal {
	if t := h.lookup(uri); t != nil && t.sees(p) {
		return t
	}
	return nil
}

// visibleLocked returns the terminals that exist for p, oldest first.
func (h *Host) visibleLocked(p authz.Principal) []*Terminal {
	list := make([]*Terminal, 0, len(h.order))
	for _, t := range h.order {
		if t.sees(p) {
			list = append(list, t)
		}
	}
	return list
}

// connected reports whether a principal has a connection that has not ended.
func (h *Host) connected(principal string) bool {
	return slices.ContainsFunc(h.connections(), func(c *Conn) bool {
		return c.principal.ID == principal && c.ctx.Err() == nil
	})
}

// addRootLocked gives a guest's connection a root channel of its own.
func (c *Conn) addRootLocked() {
	c.root = c.host.store.Root()
	if c.principal.Guest == "" {
		return
	}
	var within []*store.Channel
	for _, t := range c.host.visibleLocked(c.principal) {
		within = append(within, t.ch)
	}
	c.root = c.host.store.AddRoot(within)
}

// removeRoot ends that channel.
func (c *Conn) removeRoot() {
	if c.principal.Guest != "" {
		c.root.Remove()
	}
}

// ownRoot replaces the root channel of another connection by c's own.
func (c *Conn) ownRoot(channels []*store.Channel) []*store.Channel {
	for i, ch := range channels {
		if ch.URI() == ahp.RootURI {
			channels[i] = c.root
		}
	}
	return channels
}

// Invite makes an invitation to terminals, each by its whole NAME, for g's principal. It returns
// the invitation with the NAMEs that they have now. Errors are those of [authz.Authority.Invite]
// and [*NotFoundError].
func (c *Conn) Invite(g authz.Grant, r authz.InviteRequest, names []string) (
	secret string, made keys.Invitation, err error,
) {
	h := c.host
	var called []string
	for _, name := range names {
		t, err := h.Find(g.Principal, name)
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

// Invitations returns the live invitations that p may end, the oldest first, with those of their
// terminals that are still there, or *authz.Denied.
func (h *Host) Invitations(p authz.Principal) ([]keys.Invitation, error) {
	list, err := h.cfg().Authority.Invitations(p)
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

// Uninvite ends the invitation of a guest, and what is connected with it. Errors are those of
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
