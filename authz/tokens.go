package authz

import (
	"errors"
	"time"

	"termhost/keys"
)

// TokenRequest describes a token to mint.
type TokenRequest struct {
	Name string        // "": [keys.DefaultTokenName]
	Role Role          // NoRole: operator, or the key's own role if that is lower
	TTL  time.Duration // 0: [keys.DefaultTokenTTL]
	// TypesSecrets lets it type where a program asks for a secret, as people do.
	TypesSecrets bool
}

// MintToken makes a token for the grant's key. Errors are *Denied, why the grant has ended, or
// those of keys.Tokens.Mint. The secret is returned once and kept nowhere.
func (a *Authority) MintToken(g Grant, r TokenRequest) (
	secret string, token keys.Token, err error) {
	role := r.Role
	if role == NoRole {
		role = min(Operator, g.Principal.Role)
	}
	if err := Check(g.Principal, MintToken, Target{TokenRole: role}); err != nil {
		return "", keys.Token{}, err
	}
	if isPageName(r.Name) {
		return "", keys.Token{}, ErrPageName
	}
	// The proof may have gone since g was granted.
	if _, err := a.again(g); err != nil {
		return "", keys.Token{}, err
	}
	secret, token, err = a.tokens.Mint(keys.MintRequest{
		Name: r.Name, Role: role.String(), KeyRole: g.Principal.Role.String(),
		Identity: g.Identity, TTL: r.TTL, TypesSecrets: r.TypesSecrets,
	}, a.clock())
	if err == nil {
		g.audit(a.audit, AuditTokenMinted, "token", token.Name, "role", token.Role,
			"expires", token.Expires)
	}
	return secret, token, err
}

// ListTokens returns the live tokens of the grant's key, oldest first, and then its links, opened
// or not, as the tokens of pages. Errors are *Denied.
func (a *Authority) ListTokens(g Grant) ([]keys.Token, error) {
	if err := Check(g.Principal, ListTokens, Target{}); err != nil {
		return nil, err
	}
	owner := g.Principal.owner()
	return append(a.tokens.List(owner, a.clock()), a.linkTokens(owner)...), nil
}

// RevokeToken ends a token or link of the grant's key, and the connections that use it. Errors are
// *Denied, keys.ErrNoToken, or come from the disk.
func (a *Authority) RevokeToken(g Grant, name string) error {
	if err := Check(g.Principal, RevokeToken, Target{}); err != nil {
		return err
	}
	owner := g.Principal.owner()
	err := a.tokens.Revoke(owner, name)
	if errors.Is(err, keys.ErrNoToken) {
		err = a.revokeLink(owner, name)
	}
	if !errors.Is(err, keys.ErrNoToken) { // it has ended, though that may not be on disk
		g.audit(a.audit, AuditTokenRevoked, "token", name)
	}
	return err
}

// endTokens ends the tokens whose key is gone or refused, or has another role than when it minted
// them. A key may also be withdrawn, as long as its file cannot be trusted: it keeps its tokens,
// which do not authenticate meanwhile.
func (a *Authority) endTokens() {
	now := a.clock()
	for _, token := range a.tokens.List("", now) {
		id, err := a.stillOwned(token, func() (keys.Identity, error) {
			return a.ring.StillAnywhere(token.Identity, now)
		})
		if errors.Is(err, keys.ErrWithdrawn) {
			continue
		}
		if err == nil {
			_, err = a.tokenGrant(token, id, now)
		}
		if err != nil {
			a.endToken(token, err)
		}
	}
}

func (a *Authority) endToken(token keys.Token, reason error) {
	key := token.Identity.Fingerprint
	log := a.log.With("token", token.Name, "key", key)
	if err := a.tokens.Revoke(key, token.Name); err != nil && !errors.Is(err, keys.ErrNoToken) {
		log.Error("a token could not be ended on disk", "reason", err.Error())
		return
	}
	log.Info("token ended with its key", "reason", reason.Error())
	a.audit.Info(AuditRights, "who", key, "token", token.Name, "reason", reason.Error())
}
