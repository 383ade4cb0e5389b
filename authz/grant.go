package authz

import (
	"errors"
	"log/slog"
	"time"

	"termhost/keys"
)

// Grant is a principal with the proof of its identity, so that the proof can be checked again. It
// is a value; the zero Grant is nobody.
type Grant struct {
	// Principal is who was authenticated.
	Principal Principal
	// Identity is the key, or the key of the token, as it was when it was authenticated. A user of
	// this machine has none.
	Identity keys.Identity
	// From is the connection, for the audit log.
	From Source

	token keys.Token // of Principal.Token, if that is not ""

	// Of a guest, whose Identity is zero: its invitation, and its key as "type base64".
	invitation keys.Invitation
	guestKey   string

	link keys.Link // what has opened the page; zero: no link has

	asserted func() (Principal, error) // of whom another host speaks for: see AssertedGrant

	limit Role // see AtMost; NoRole: none
	user  bool // the proof is uid, not a key
	uid   uint32
}

// AtMost returns g with its principal's role lowered to limit, also whenever the proof is checked
// again.
func (g Grant) AtMost(limit Role) Grant {
	g.limit = limit
	g.Principal = g.Principal.AtMost(limit)
	return g
}

// audit logs an event of the grant's principal.
func (g Grant) audit(log *slog.Logger, event string, attrs ...any) {
	attrs = append([]any{"who", g.Principal.Name}, attrs...)
	log.Info(event, append(attrs, g.From.Attrs(g.Principal)...)...)
}

// ErrChanged ends a connection whose principal has changed: its role or its key's restrictions. A
// new connection gets the new ones.
var ErrChanged = errors.New("authz: the rights of this key have changed; connect again")

// again checks a grant's proof again and returns the grant as it is now. The error says why it has
// ended: the key or token is gone or has expired, or ErrChanged.
func (a *Authority) again(g Grant) (Grant, error) {
	if g.asserted != nil {
		return g.assertedAgain()
	}
	if g.user {
		if now := a.userPrincipal(g.uid); now.ID != g.Principal.ID ||
			now.Role != g.Principal.Role {
			return Grant{}, ErrChanged
		}
		return g, nil
	}
	now := a.clock()
	if g.Principal.Guest != "" {
		return a.guestAgain(g, now)
	}
	renewed, err := a.renew(g, now)
	if err != nil {
		return Grant{}, err
	}
	if g.limit != NoRole {
		renewed = renewed.AtMost(g.limit)
	}
	// A new comment ends nothing: the name is for display. New limits apply to what is opened from
	// now on.
	before := g.Principal
	before.Inside = false // the proof is the same, inside a terminal and out of it
	before.Name, before.Limits = renewed.Principal.Name, renewed.Principal.Limits
	if !samePrincipal(before, renewed.Principal) {
		return Grant{}, ErrChanged
	}
	return renewed, nil
}

// renew returns what the key, token or link of a grant grants now.
func (a *Authority) renew(g Grant, now time.Time) (Grant, error) {
	if g.link.ID != "" {
		return a.renewLink(g, now)
	}
	if g.Principal.Token != "" && !a.tokens.Current(g.token, now) {
		return Grant{}, keys.ErrBadToken
	}
	id, err := a.stillOwned(g.token, func() (keys.Identity, error) {
		return a.ring.Still(g.Identity, now)
	})
	switch {
	case err != nil:
		return Grant{}, err
	case g.Principal.Token != "":
		return a.tokenGrant(g.token, id, now)
	}
	return a.keyGrant(id, now)
}

func samePrincipal(a, b Principal) bool {
	sameEnd := a.Expires.Equal(b.Expires)
	a.Expires, b.Expires = time.Time{}, time.Time{}
	return sameEnd && a == b
}
