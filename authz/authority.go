package authz

import (
	"context"
	"crypto/ecdsa"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"

	"termhost/keys"
)

// Authority authenticates keys and tokens, and ends its grants when their proof is no longer valid.
// Its methods may be called concurrently.
type Authority struct {
	ring        *keys.Ring
	tokens      *keys.Tokens
	invitations *keys.Invitations // nil: none
	links       *keys.Links       // nil: none
	directory   atomic.Pointer[Directory]
	clock       func() time.Time
	log, audit  *slog.Logger

	mu      sync.Mutex // guards tracked; no function, end included, is called under it
	tracked map[*tracking]struct{}

	pages *pages
	seen  roles
	self  self

	wake    chan struct{} // capacity 1: a new grant may expire before all others
	renewed chan struct{} // capacity 1: the directory was replaced
	stop    context.CancelFunc
	done    chan struct{} // closed when the goroutine has ended
}

// AuthorityOptions are the parts of an Authority. Those that may be nil say so.
type AuthorityOptions struct {
	Ring   *keys.Ring
	Tokens *keys.Tokens
	// Invitations may be nil: there are none.
	Invitations *keys.Invitations
	// Links may be nil: there are none.
	Links     *keys.Links
	Directory *Directory
	// PageKey proves this host to web pages: an ECDSA key on P-256; see [keys.PageKey]. nil: a new
	// one is made, and pages do not recognise the host after a restart.
	PageKey *ecdsa.PrivateKey
	// Clock is time.Now outside tests.
	Clock func() time.Time
	// Log gets one record per token that ends with its key, and per key and user whose role becomes
	// a higher one; nil discards them.
	Log *slog.Logger
	// Audit gets AuditTokenMinted and others; nil discards them.
	Audit *slog.Logger
}

// NewAuthority ends the tokens of keys that were removed while the host was down, and starts to
// follow the ring and the tokens, which stay the caller's. Close must be called.
func NewAuthority(o AuthorityOptions) *Authority {
	a := &Authority{
		ring: o.Ring, tokens: o.Tokens, invitations: o.Invitations, links: o.Links,
		clock: o.Clock, log: o.Log, audit: o.Audit,
		tracked: map[*tracking]struct{}{},
		wake:    make(chan struct{}, 1),
		renewed: make(chan struct{}, 1),
		done:    make(chan struct{}),
		pages:   newPages(o.PageKey),
	}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if a.audit == nil {
		a.audit = slog.New(slog.DiscardHandler)
	}
	a.directory.Store(o.Directory)
	ctx, stop := context.WithCancel(context.Background())
	a.stop = stop
	ring, tokens := a.ring.Changed(), a.tokens.Changed()
	a.endWithKeys()
	a.seen = a.roles()
	go a.follow(ctx, ring, tokens, a.invitationsChanged(), a.linksChanged())
	return a
}

// Close stops following and waits for that. It ends no grant.
func (a *Authority) Close() error {
	a.stop()
	<-a.done
	return nil
}

// SetDirectory replaces the directory, and ends each grant that d would not give in the same way.
func (a *Authority) SetDirectory(d *Directory) {
	a.directory.Store(d)
	a.Recheck()
}

// Recheck ends each grant that would not be given in the same way now.
func (a *Authority) Recheck() {
	select {
	case a.renewed <- struct{}{}:
	default:
	}
}

// AuthenticateKey returns what a key or certificate grants. Errors are those of
// [keys.Ring.Authenticate]. The caller verifies that the peer holds the private key.
func (a *Authority) AuthenticateKey(user string, key ssh.PublicKey, remote net.Addr) (
	Grant, error) {
	now := a.clock()
	id, err := a.ring.Authenticate(user, key, remote, now)
	if err != nil {
		return Grant{}, err
	}
	return a.keyGrant(id, now)
}

// AuthenticateToken returns what a token grants. Its key must still be authorised, also from
// remote, and have the role that it had when it minted the token. Errors match keys.ErrBadToken, or
// say, for the log, why the key is refused.
func (a *Authority) AuthenticateToken(secret string, remote net.Addr) (Grant, error) {
	return a.AuthenticatePage(secret, PageProof{}, remote)
}

// AuthenticatePage is AuthenticateToken with the proof that a page's token needs beside its secret.
func (a *Authority) AuthenticatePage(secret string, proof PageProof, remote net.Addr) (
	Grant, error) {
	if invitation, browser, ok := cutSession(secret, keys.InvitePrefix); ok {
		return a.authenticateGuestPage(invitation, browser, proof)
	}
	if link, browser, ok := cutSession(secret, keys.LinkPrefix); ok {
		return a.authenticateLink(link, browser, proof, remote)
	}
	now := a.clock()
	token, err := a.tokens.Verify(secret, now)
	if err != nil {
		return Grant{}, err
	}
	if err := a.pages.prove(token, proof, now); err != nil {
		return Grant{}, err
	}
	id, err := a.stillOwned(token, func() (keys.Identity, error) {
		return a.ring.StillFrom(token.Identity, remote, now)
	})
	if err != nil {
		return Grant{}, fmt.Errorf("authz: the token's key: %w", err)
	}
	return a.tokenGrant(token, id, now)
}

// AuthenticateUID returns what a user id grants to a peer of the unix socket: the host's own user
// is the person of [Directory.ForMe], and of others [Directory.UIDPrincipal] knows. The caller has
// checked it against the kernel's peer credentials.
func (a *Authority) AuthenticateUID(uid uint32) Grant {
	return Grant{Principal: a.userPrincipal(uid), user: true, uid: uid}
}

func (a *Authority) keyGrant(id keys.Identity, now time.Time) (Grant, error) {
	p, err := a.directory.Load().KeyPrincipal(id)
	if err == nil {
		err = p.Valid(now)
	}
	if err != nil {
		return Grant{}, err
	}
	return Grant{Principal: p, Identity: id}, nil
}

func (a *Authority) tokenGrant(token keys.Token, id keys.Identity, now time.Time) (Grant, error) {
	var key Principal
	var err error
	if uid, ok := token.OfUser(); ok {
		key = a.userPrincipal(uid)
	} else if key, err = a.directory.Load().KeyPrincipal(id); err != nil {
		return Grant{}, err
	}
	if key.Role.String() != token.KeyRole {
		return Grant{}, fmt.Errorf("%w: the role of its key has changed", keys.ErrBadToken)
	}
	p, err := a.directory.Load().TokenPrincipal(key, token)
	if err == nil {
		err = p.Valid(now)
	}
	if err != nil {
		return Grant{}, err
	}
	return Grant{Principal: p, Identity: id, token: token}, nil
}
