package authz

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/base64"
	"strings"

	"golang.org/x/crypto/ssh"

	"termhost/keys"
)

// A guest may come with a browser instead of ssh. The key pair of the browser is then the guest's
// key, which is bound to the invitation as any other is: when it has proven itself for the first
// time. The session of such a page has no token on this host. Its secret is keys.InvitePrefix, the
// invitation's secret, a dot and the browser's public key, and it ends with the invitation.

// GuestTicket returns the ticket with which a browser opens the page as a guest, as often as the
// invitation permits. It ends with a mark of the host's key, as those of [Authority.OpenPage].
func (a *Authority) GuestTicket(secret string) string {
	return keys.InvitePrefix + secret + a.pageHostMark()
}

// enterGuest is [Authority.EnterPage] with a ticket of GuestTicket, without its prefix.
func (a *Authority) enterGuest(ticket string, browser []byte) (string, keys.Token, error) {
	mark := base64.RawURLEncoding.EncodedLen(hostMark)
	secret := ticket[:max(0, len(ticket)-mark)]
	key, err := browserKey(browser)
	if err != nil {
		return "", keys.Token{}, err
	}
	g, err := a.AuthenticateGuest(secret, key, false)
	if err != nil {
		return "", keys.Token{}, err
	}
	session := keys.InvitePrefix + secret + "." + base64.RawURLEncoding.EncodeToString(browser)
	return session, keys.Token{Name: g.Principal.Name, Role: g.Principal.Role.String(),
		Expires: g.Principal.Expires}, nil
}

// cutSession returns the parts of the secret of a page that has no token: prefix is that of a
// guest's page, or of one that a link has opened. ok is false for any other.
func cutSession(text, prefix string) (secret, browser string, ok bool) {
	text, ok = strings.CutPrefix(text, prefix)
	if !ok {
		return "", "", false
	}
	return strings.Cut(text, ".") // no token has a dot
}

// authenticateGuestPage is [Authority.AuthenticatePage] for the page of a guest.
func (a *Authority) authenticateGuestPage(secret, browser string, proof PageProof) (
	Grant, error) {
	if err := a.pages.prove(keys.Token{Browser: browser, Origin: proof.Origin}, proof,
		a.clock()); err != nil {
		return Grant{}, err
	}
	point, err := base64.RawURLEncoding.DecodeString(browser)
	if err != nil {
		return Grant{}, ErrPageKey
	}
	key, err := browserKey(point)
	if err != nil {
		return Grant{}, err
	}
	return a.AuthenticateGuest(secret, key, true)
}

// browserKey returns a browser's public key, an uncompressed point on P-256, as one of SSH.
func browserKey(point []byte) (ssh.PublicKey, error) {
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return nil, ErrPageKey
	}
	return ssh.NewPublicKey(key)
}
