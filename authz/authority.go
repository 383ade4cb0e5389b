package authz

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"

	"termhost/keys"
)

// Grant is a principal together with what proved it, so that the proof can be
// asked for again. It is a value; the zero Grant is nobody.
type Grant struct {
	// Principal is what the proof is good for.
	Principal Principal
	// Identity is the key, or the key of the token, as it was let in.
	Identity keys.Identity

	token keys.Token // of Principal.Token, if that is not ""
	limit Role       // see AtMost; NoRole: none
}

// AtMost returns g with its principal's role lowered to limit if it was above,
// now and whenever its proof is asked for again.
func (g Grant) AtMost(limit Role) Grant {
	g.limit = limit
	g.Principal = g.Principal.AtMost(limit)
	return g
}

// ErrChanged ends a connection whose principal is not what it was: its role or
// its key's restrictions have changed. A new connection gets the new ones.
var ErrChanged = errors.New("authz: the rights of this key have changed; connect again")

// Authority authenticates keys and tokens, and ends what it granted when the
// proof goes. Its methods may be called concurrently.
type Authority struct {
	ring      *keys.Ring
	tokens    *keys.Tokens
	directory atomic.Pointer[Directory]
	clock     func() time.Time
	log       *slog.Logger

	mu      sync.Mutex // a leaf: no end function is called under it
	tracked map[*tracking]struct{}

	wake    chan struct{} // capacity 1: an earlier expiry than before is tracked
	renewed chan struct{} // capacity 1: the directory is another
	stop    context.CancelFunc
	done    chan struct{} // closed when the goroutine has ended
}

// tracking is one grant that ends when its proof does.
type tracking struct {
	grant Grant
	end   func(error)
}

// AuthorityOptions are the parts of an Authority; all but Log are required.
type AuthorityOptions struct {
	Ring      *keys.Ring
	Tokens    *keys.Tokens
	Directory *Directory
	// Clock tells the time; time.Now.
	Clock func() time.Time
	// Log gets one record per token that ends with its key; nil discards them.
	Log *slog.Logger
}

// NewAuthority ends the tokens whose keys went while the host was down, and
// begins to follow the ring and the tokens. Close must be called; the ring and
// the tokens stay the caller's.
func NewAuthority(o AuthorityOptions) *Authority {
	a := &Authority{
		ring: o.Ring, tokens: o.Tokens, clock: o.Clock, log: o.Log,
		tracked: map[*tracking]struct{}{},
		wake:    make(chan struct{}, 1),
		renewed: make(chan struct{}, 1),
		done:    make(chan struct{}),
	}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	a.directory.Store(o.Directory)
	ctx, stop := context.WithCancel(context.Background())
	a.stop = stop
	ring, tokens := a.ring.Changed(), a.tokens.Changed()
	a.endTokens()
	go a.follow(ctx, ring, tokens)
	return a
}

// Close stops following and waits for that. Nothing that is tracked is ended
// afterwards.
func (a *Authority) Close() error {
	a.stop()
	<-a.done
	return nil
}

// SetDirectory replaces the directory. What was granted by the former one and
// would not be granted so by d ends.
func (a *Authority) SetDirectory(d *Directory) {
	a.directory.Store(d)
	select {
	case a.renewed <- struct{}{}:
	default:
	}
}

// Key authenticates a key or certificate; see keys.Ring.Authenticate, also for
// the errors. The caller verifies that the peer holds the private key.
func (a *Authority) Key(user string, key ssh.PublicKey, remote net.Addr) (Grant, error) {
	now := a.clock()
	id, err := a.ring.Authenticate(user, key, remote, now)
	if err != nil {
		return Grant{}, err
	}
	return a.grant(id, now)
}

// Bearer authenticates a token. Its key must still be authorised, from remote
// too, and have the role that it had when it minted the token. Errors match
// keys.ErrBadToken or say, for the log, why the key is refused.
func (a *Authority) Bearer(secret string, remote net.Addr) (Grant, error) {
	now := a.clock()
	token, err := a.tokens.Verify(secret, now)
	if err != nil {
		return Grant{}, err
	}
	id, err := a.ring.StillFrom(token.Identity, remote, now)
	if err != nil {
		return Grant{}, fmt.Errorf("authz: the token's key: %w", err)
	}
	return a.tokenGrant(token, id, now)
}

// Again asks for a grant's proof once more and returns the grant as it is now.
// An error says why it is over: the key or token is gone or has expired, or
// ErrChanged.
func (a *Authority) Again(g Grant) (Grant, error) {
	now := a.clock()
	if g.Principal.Token != "" && !a.tokens.Current(g.token, now) {
		return Grant{}, keys.ErrBadToken
	}
	id, err := a.ring.Still(g.Identity, now)
	if err != nil {
		return Grant{}, err
	}
	var renewed Grant
	if g.Principal.Token != "" {
		renewed, err = a.tokenGrant(g.token, id, now)
	} else {
		renewed, err = a.grant(id, now)
	}
	if err != nil {
		return Grant{}, err
	}
	if g.limit != NoRole {
		renewed = renewed.AtMost(g.limit)
	}
	// A new comment is no reason to end anything: the name is for people.
	before := g.Principal
	before.Name = renewed.Principal.Name
	if !samePrincipal(before, renewed.Principal) {
		return Grant{}, ErrChanged
	}
	return renewed, nil
}

func samePrincipal(a, b Principal) bool {
	sameEnd := a.Expires.Equal(b.Expires)
	a.Expires, b.Expires = time.Time{}, time.Time{}
	return sameEnd && a == b
}

func (a *Authority) grant(id keys.Identity, now time.Time) (Grant, error) {
	p, err := a.directory.Load().Key(id)
	if err != nil {
		return Grant{}, err
	}
	return Grant{Principal: p, Identity: id}, p.Valid(now)
}

func (a *Authority) tokenGrant(token keys.Token, id keys.Identity, now time.Time) (Grant, error) {
	key, err := a.directory.Load().Key(id)
	if err != nil {
		return Grant{}, err
	}
	if key.Role.String() != token.KeyRole {
		return Grant{}, fmt.Errorf("%w: the role of its key has changed", keys.ErrBadToken)
	}
	p, err := a.directory.Load().Token(key, token)
	if err != nil {
		return Grant{}, err
	}
	return Grant{Principal: p, Identity: id, token: token}, p.Valid(now)
}

// Mint makes a token for the grant's key. NoRole asks for operator, or for the
// key's own role if that is lower. Errors are *Denied, or keys.Tokens.Mint's.
// The secret is returned once and kept nowhere.
func (a *Authority) Mint(g Grant, name string, role Role, ttl time.Duration) (secret string, token keys.Token, err error) {
	if role == NoRole {
		role = min(Operator, g.Principal.Role)
	}
	if err := Check(g.Principal, MintToken, Target{TokenRole: role}); err != nil {
		return "", keys.Token{}, err
	}
	// Nothing is minted on the strength of a proof that has gone meanwhile.
	if _, err := a.Again(g); err != nil {
		return "", keys.Token{}, err
	}
	return a.tokens.Mint(keys.MintRequest{
		Name: name, Role: role.String(), KeyRole: g.Principal.Role.String(), Identity: g.Identity, TTL: ttl,
	}, a.clock())
}

// Tokens lists the live tokens of the grant's key, oldest first. Errors are
// *Denied.
func (a *Authority) Tokens(g Grant) ([]keys.Token, error) {
	if err := Check(g.Principal, ListTokens, Target{}); err != nil {
		return nil, err
	}
	return a.tokens.List(g.Principal.Fingerprint, a.clock()), nil
}

// Revoke ends a token of the grant's key, and what is connected with it. Errors
// are *Denied, keys.ErrNoToken, or come from the disk.
func (a *Authority) Revoke(g Grant, name string) error {
	if err := Check(g.Principal, RevokeToken, Target{}); err != nil {
		return err
	}
	return a.tokens.Revoke(g.Principal.Fingerprint, name)
}
