package authz

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"termhost/keys"
)

// A notification has a link, with which the person who is notified opens the page once, on a phone.
// Whoever carries the message could open it as well. So the page shows the terminals that the
// notification is about and no others, may do only what a person does to a terminal, and lasts for
// an hour. Its session has no token on this host: the secret is keys.LinkPrefix, the link's secret,
// a dot and the browser's public key.

// LinkRequest describes a link to be made.
type LinkRequest struct {
	// Person is the ID of the Principal that the page acts for: of a key, or of a user of this
	// machine.
	Person string
	// Proof is a Record of that Principal, for a key that only a certificate authorises; nil: none.
	Proof json.RawMessage
	// Terminals are the only ones that the page shows.
	Terminals []keys.InvitedTerminal
	// Origin is the page's.
	Origin string
}

// MakeLink makes a link, and returns the ticket with which its page opens once, for an hour. The
// ticket ends with a mark of the host's key, as those of [Authority.OpenPage]. Errors are *Denied,
// why the person may not come in, or come from the disk.
func (a *Authority) MakeLink(r LinkRequest) (ticket string, made Grant, err error) {
	if a.links == nil {
		return "", Grant{}, errors.New("authz: this host keeps no links")
	}
	g, err := a.personGrant(r.Person, r.Proof)
	if err != nil {
		return "", Grant{}, err
	}
	p := g.Principal
	if err := Check(p, OpenPage, Target{TokenRole: p.Role}); err != nil {
		return "", Grant{}, err
	}
	by := keys.Inviter{Fingerprint: p.owner(), User: g.Identity.User, Key: g.Identity.Key}
	secret, _, err := a.links.Make(keys.Link{
		By: by, ByRole: p.Role.String(), Terminals: r.Terminals, Origin: r.Origin,
	}, a.clock())
	if err != nil {
		return "", Grant{}, err
	}
	return keys.LinkPrefix + secret + a.pageHostMark(), g, nil
}

// personGrant returns a person's present grant. The person need not be connected.
func (a *Authority) personGrant(id string, proof json.RawMessage) (Grant, error) {
	if uid, ok := (keys.Token{Identity: keys.Identity{Fingerprint: id}}).OfUser(); ok {
		return a.AuthenticateUID(uid), nil
	}
	now := a.clock()
	for _, known := range a.ring.Identities() {
		if known.Fingerprint != id {
			continue
		}
		still, err := a.ring.StillAnywhere(known, now)
		if err != nil {
			return Grant{}, err
		}
		return a.keyGrant(still, now)
	}
	if proof == nil {
		proof = a.Record(Principal{ID: id})
	}
	g, err := a.Restore(Principal{ID: id}, proof)
	if err != nil || g.Identity.Fingerprint != id {
		return Grant{}, errNoRecord
	}
	still, err := a.ring.StillAnywhere(g.Identity, now)
	if err != nil {
		return Grant{}, err
	}
	return a.keyGrant(still, now)
}

// linkGrant returns what a link grants now. still finds its key.
func (a *Authority) linkGrant(l keys.Link, now time.Time,
	still func() (keys.Identity, error)) (Grant, error) {
	var by Principal
	var id keys.Identity
	var err error
	if uid, ok := l.OfUser(); ok {
		by = a.userPrincipal(uid)
	} else if id, err = still(); err == nil {
		by, err = a.directory.Load().KeyPrincipal(id)
	}
	switch {
	case err != nil:
		return Grant{}, err
	case by.Role.String() != l.ByRole:
		return Grant{}, fmt.Errorf("%w: the role of its key has changed", keys.ErrBadLink)
	}
	p := by
	p.Token = linkName(l)
	p.ID += "/" + p.Token
	p.Name += "/" + pageName(Operator)
	p.NoForward, p.NoAgent = true, true
	p.Reach = reachOf(l.Terminals)
	p.Expires = earlier(by.Expires, l.Expires)
	return Grant{Principal: p, Identity: id, link: l}, p.Valid(now)
}

// linkPrefix begins the names of what links open. The link's ID follows.
const linkPrefix = "page-link-"

// linkIDBytes is the length of a link's ID, in hexadecimal digits.
const linkIDBytes = 16

func linkName(l keys.Link) string { return linkPrefix + l.ID }

// linkPerson is [Person] for what a link opens; ok is false for anything else.
func linkPerson(id string) (person string, ok bool) {
	at := len(id) - len("/"+linkPrefix) - linkIDBytes
	if at < 0 || !strings.HasPrefix(id[at:], "/"+linkPrefix) {
		return "", false
	}
	return id[:at], true
}

// enterLink is [Authority.EnterPage] with a ticket of MakeLink, without its prefix.
func (a *Authority) enterLink(ticket, origin string, browser []byte, remote net.Addr) (
	string, keys.Token, error) {
	if a.links == nil {
		return "", keys.Token{}, keys.ErrBadLink
	}
	mark := base64.RawURLEncoding.EncodedLen(hostMark)
	secret := ticket[:max(0, len(ticket)-mark)]
	point, now := base64.RawURLEncoding.EncodeToString(browser), a.clock()
	l, err := a.links.Open(secret, origin, point, now)
	if err != nil {
		return "", keys.Token{}, err
	}
	g, err := a.linkGrant(l, now, func() (keys.Identity, error) {
		return a.ring.StillFrom(l.By.Identity(), remote, now)
	})
	if err != nil {
		return "", keys.Token{}, err
	}
	return keys.LinkPrefix + secret + "." + point, linkToken(l, g.Principal), nil
}

// linkToken describes what a link opens in the form of a token.
func linkToken(l keys.Link, p Principal) keys.Token {
	return keys.Token{Name: linkName(l), Role: p.Role.String(), KeyRole: l.ByRole,
		Identity: l.By.Identity(), Created: l.Created, Expires: p.Expires, Browser: l.Browser,
		Origin: l.Origin}
}

// authenticateLink is [Authority.AuthenticatePage] for a page that a link has opened.
func (a *Authority) authenticateLink(secret, browser string, proof PageProof, remote net.Addr) (
	Grant, error) {
	if a.links == nil {
		return Grant{}, keys.ErrBadLink
	}
	now := a.clock()
	l, err := a.links.Verify(secret, browser, now)
	if err != nil {
		return Grant{}, err
	}
	token := keys.Token{Browser: l.Browser, Origin: l.Origin}
	if err := a.pages.prove(token, proof, now); err != nil {
		return Grant{}, err
	}
	return a.linkGrant(l, now, func() (keys.Identity, error) {
		return a.ring.StillFrom(l.By.Identity(), remote, now)
	})
}

// renewLink is renew for what a link has opened.
func (a *Authority) renewLink(g Grant, now time.Time) (Grant, error) {
	if !a.links.Current(g.link.ID, now) {
		return Grant{}, keys.ErrBadLink
	}
	return a.linkGrant(g.link, now, func() (keys.Identity, error) {
		return a.ring.Still(g.Identity, now)
	})
}

// endLinks ends the links whose key is gone or refused, or has another role than when they were
// made. A key that is only withdrawn keeps its links, which are refused meanwhile.
func (a *Authority) endLinks() {
	if a.links == nil {
		return
	}
	now := a.clock()
	for _, l := range a.links.List(now) {
		_, err := a.linkGrant(l, now, func() (keys.Identity, error) {
			return a.ring.StillAnywhere(l.By.Identity(), now)
		})
		if err == nil || errors.Is(err, keys.ErrWithdrawn) {
			continue
		}
		log := a.log.With("token", linkName(l), "key", l.By.Fingerprint)
		if err := a.links.Revoke(l.ID); err != nil && !errors.Is(err, keys.ErrBadLink) {
			log.Error("a link could not be ended on disk", "reason", err.Error())
			continue
		}
		log.Info("link ended with its key", "reason", err.Error())
		a.audit.Info(AuditRights, "who", l.By.Fingerprint, "token", linkName(l), "reason",
			err.Error())
	}
}

// linksChanged is [keys.Links.Changed]; nil if there are no links.
func (a *Authority) linksChanged() <-chan struct{} {
	if a.links == nil {
		return nil
	}
	return a.links.Changed()
}

// linkTokens returns the live links of a key, or of a user of this machine, the oldest first.
func (a *Authority) linkTokens(owner string) (list []keys.Token) {
	if a.links == nil {
		return nil
	}
	now := a.clock()
	for _, l := range a.links.List(now) {
		g, err := a.linkGrant(l, now, func() (keys.Identity, error) {
			return a.ring.StillAnywhere(l.By.Identity(), now)
		})
		if l.By.Fingerprint == owner && err == nil {
			list = append(list, linkToken(l, g.Principal))
		}
	}
	return list
}

// revokeLink ends the link of that owner whose page has, or would have, that name, or returns
// keys.ErrNoToken.
func (a *Authority) revokeLink(owner, name string) error {
	if a.links != nil {
		for _, l := range a.links.List(a.clock()) {
			if l.By.Fingerprint == owner && linkName(l) == name {
				return a.links.Revoke(l.ID)
			}
		}
	}
	return keys.ErrNoToken
}

// linkRefusal returns why what a link has opened may not do v, whatever its role; "": the tables
// decide. It lists what it may do, so that a new verb is refused.
func linkRefusal(p Principal, v Verb, t Target) string {
	switch v {
	case List:
		return ""
	case Subscribe, Read, Wait, AttachReadOnly, Input, Resize, Clear, Claim, Seize, Approve:
		if p.Reach.Has(t.Name, t.Created) {
			return ""
		}
	}
	return ruleLink
}
