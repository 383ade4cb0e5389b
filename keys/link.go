package keys

import (
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"
)

const (
	// LinkPrefix begins a link's ticket and the secret of the page that it opens.
	LinkPrefix = "link-"
	// LinkTTL is how long a link can be opened: a phone may be in a pocket for as long.
	LinkTTL = time.Hour
	// LinkPageTTL is how long the page lasts that a link has opened. The next notification brings
	// another link.
	LinkPageTTL = time.Hour
	// MaxLinks bounds all links, so that comparing a secret with each of them takes no time that
	// anybody notices.
	MaxLinks = 1024
	// MaxLinksPerKey bounds the links of one key; the oldest one gives way. More notifications than
	// that are not sent in an hour.
	MaxLinksPerKey = 64
)

// Errors of links.
var (
	// ErrBadLink says that no link has this secret: it is unknown, expired or revoked.
	ErrBadLink = errors.New("keys: the link is older than an hour, or was revoked")
	// ErrLinkUsed says that a link has been opened already.
	ErrLinkUsed = errors.New("keys: the link has been opened already, and works once")
	// ErrLinkOrigin says that a link was opened at another address than it was made for.
	ErrLinkOrigin = errors.New("keys: the link is for a page at another address")
	// ErrTooManyLinks says that there are MaxLinks.
	ErrTooManyLinks = errors.New("keys: too many links")
)

// Link lets one browser in, once, as the owner of a key, who then sees some terminals and no
// others. Only who gets the link knows its secret. A Link is a value that must not be modified.
type Link struct {
	// ID is random. It is not secret.
	ID string `json:"id"`
	// By is the key that the page acts for. Of a user of this machine it has only the Fingerprint,
	// see [UserPrefix].
	By Inviter `json:"by"`
	// ByRole is the role of that key, which is also the page's. If it changes, the link ends.
	ByRole string `json:"byRole"`
	// Terminals are the only ones that the page shows.
	Terminals []InvitedTerminal `json:"terminals"`
	// Origin is the page's; no other one may open the link.
	Origin string `json:"origin"`
	// Browser is the public key of the browser that has opened the link, as in [Token]; "": none
	// has.
	Browser string `json:"browser,omitempty"`
	// Created and Expires bound the life of the link, and once it is opened that of the page.
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
}

// OfUser is [Token.OfUser] for a link.
func (l *Link) OfUser() (uid uint32, ok bool) {
	return Token{Identity: l.By.Identity()}.OfUser()
}

// check returns what is wrong with a link.
func (l *Link) check() error {
	_, ofUser := l.OfUser()
	key, _, err := parseKeyFields(l.By.Key)
	if cert, ok := key.(*ssh.Certificate); ok {
		key = cert.Key
	}
	switch {
	case ofUser && l.By.Key == "":
	case len(l.By.Key) > MaxLineBytes, len(l.By.User) > MaxUserBytes, err != nil:
		return errors.New("keys: a link's key cannot be read")
	case ssh.FingerprintSHA256(key) != l.By.Fingerprint:
		return errors.New("keys: a link's key and fingerprint do not belong together")
	}
	switch {
	case len(l.ID) != hex.EncodedLen(inviteIDBytes):
		return errors.New("keys: a link has no id")
	case !slices.Contains([]string{RoleAdmin, RoleOperator, RoleObserver}, l.ByRole):
		return errors.New("keys: a link's role is unknown")
	case len(l.Terminals) == 0, len(l.Terminals) > MaxInviteTerminals:
		return errors.New("keys: a link shows 1 to 32 terminals")
	case l.Origin == "", len(l.Origin) > maxOriginBytes, len(l.Browser) > maxBrowserBytes:
		return errors.New("keys: a link's page cannot be read")
	case l.Expires.Sub(l.Created) <= 0 || l.Expires.Sub(l.Created) > LinkTTL+LinkPageTTL:
		return errors.New("keys: a link's lifetime is wrong")
	}
	for _, t := range l.Terminals {
		if !validTokenName(t.Name) {
			return errors.New("keys: a link shows an invalid terminal")
		}
	}
	return nil
}
