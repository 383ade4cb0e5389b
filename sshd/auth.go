package sshd

import (
	"context"
	"errors"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/host"
	"termhost/authz"
	"termhost/authz/admit"
	"termhost/keys"
)

// serverConfig returns a fresh configuration for one connection. charm.land/ssh adds host keys and
// version to it.
func (c *conn) serverConfig() *gossh.ServerConfig {
	switch {
	case c.proven != nil:
		return c.provenConfig(authz.Grant{Principal: *c.proven})
	case c.outer != nil:
		return c.provenConfig(c.outer.c.grant)
	case c.carried != nil:
		return c.carriedConfig()
	}
	return &gossh.ServerConfig{
		Config:                    c.algorithms(),
		PublicKeyAuthAlgorithms:   gossh.SupportedAlgorithms().PublicKeyAuths,
		MaxAuthTries:              c.cfg.MaxAuthTries,
		PublicKeyCallback:         c.keyOffered,
		VerifiedPublicKeyCallback: c.keyVerified,
		PreAuthConnCallback:       func(gossh.ServerPreAuthConn) { c.admission.Advance(encrypted) },
		AuthLogCallback: func(gossh.ConnMetadata, string, error) {
			c.admission.Advance(encrypted)
		},
	}
}

// errRefused is all that a refused peer is told. The log has the reason.
var errRefused = errors.New("sshd: permission denied")

// keyOffered says whether a key would do. It also runs for keys that a client only asks about, so
// it remembers nothing of them.
func (c *conn) keyOffered(m gossh.ConnMetadata, key gossh.PublicKey) (*gossh.Permissions, error) {
	c.triedKey = true
	grant, err := c.authorised(m, key, false)
	if err != nil {
		return nil, err
	}
	c.admission.Advance(offered)
	return permissions(grant), nil
}

// keyVerified logs the peer in: it has proven that it holds the private key.
func (c *conn) keyVerified(m gossh.ConnMetadata, key gossh.PublicKey, _ *gossh.Permissions,
	_ string) (*gossh.Permissions, error) {
	grant, err := c.authorised(m, key, true)
	if err != nil {
		return nil, err
	}
	if err := c.login(grant); err != nil {
		return nil, c.refuse(grant.Principal, err)
	}
	return permissions(grant), nil
}

// refuse logs why somebody with a good key is not let in, and returns the error for x/crypto. If
// there is no room, the peer is told so before it is refused (RFC 4252 section 5.4).
func (c *conn) refuse(p authz.Principal, err error) error {
	c.log.Info("login refused", "principal", p.Name, "reason", err)
	c.refusal = err
	var quota *admit.QuotaError
	if !errors.As(err, &quota) && !errors.Is(err, errNoRoom) {
		return errRefused
	}
	c.crowded = true
	c.audit(authz.AuditLimit, "who", p.Name, "reason", err.Error())
	return &gossh.BannerError{Err: errRefused,
		Message: "termhost: " + err.Error() + "; close some and try again\r\n"}
}

// errNoRoom refuses a login while there are as many connections as there may be.
var errNoRoom = errors.New("there are as many connections as this host takes")

// authorised returns what the key is good for, or errRefused. proven: the peer holds the private
// key. A user name that begins as an invitation's does is nothing else: whoever comes with one is a
// guest, even with a key that would be good for more. The log never gets that name.
func (c *conn) authorised(m gossh.ConnMetadata, key gossh.PublicKey, proven bool) (
	grant authz.Grant, err error) {
	c.owed.Store(true)
	tried := gossh.FingerprintSHA256(key)
	c.mu.Lock()
	c.tried = tried
	c.mu.Unlock()
	if secret, ok := keys.InviteSecret(m.User()); ok {
		grant, err = c.cfg.Authority.AuthenticateGuest(secret, key, proven)
	} else {
		grant, err = c.cfg.Authority.AuthenticateKey(m.User(), key, m.RemoteAddr())
	}
	if err != nil {
		c.log.Info("key refused", "key", tried, "reason", err)
		c.refusal = err
		return authz.Grant{}, errRefused
	}
	return grant, nil
}

// permissions tells x/crypto the one thing that it acts upon. Everything else is in the grant.
func permissions(g authz.Grant) *gossh.Permissions {
	p := &gossh.Permissions{}
	if g.Identity.NoTouchRequired {
		p.Extensions = map[string]string{"no-touch-required": ""}
	}
	return p
}

// login connects the grant's principal to the host, and has the connection end with the grant.
func (c *conn) login(g authz.Grant) error {
	if c.host != nil {
		return errors.New("somebody has logged in already")
	}
	p := g.Principal
	if !p.Inside {
		p.Inside, c.source.Within = c.cfg.Host.Within(c.nc.LocalAddr(), c.nc.RemoteAddr())
	}
	if p.Inside && c.carried == nil { // another host has said whom it counts as
		g.Principal.Inside = true
		p = c.cfg.Host.Counts(p, c.source.Within)
		g = g.AtMost(p.Role)
	}
	g.From = c.source
	door := host.DoorSSH
	if c.proven != nil {
		door = host.DoorLocal
	}
	hc, err := c.cfg.Host.ConnectFrom(p, door, c.source)
	if err != nil {
		return err
	}
	c.admission.Authenticated()
	limit := admit.Limit{Most: c.srv.cfg().MaxConnections, Bound: true}
	if c.srv.logins.Take(p, limit) != nil {
		hc.Close()
		return errNoRoom
	}
	hc.Prove(c.prove(g))
	c.mu.Lock()
	c.grant, c.host = g, hc
	c.in.account = p.Account()
	if p.Role == authz.Observer {
		c.in.observer.Store(hc)
	}
	c.mu.Unlock()
	context.AfterFunc(hc.Context(), func() { c.end(context.Cause(hc.Context())) })
	c.release = func() {}
	c.audit(authz.AuditLogin, "who", p.Name, "role", p.Role)
	if c.ofTermhost() {
		c.log.Info("login", "principal", p.Name, "role", p.Role)
		return nil
	}
	c.release = c.cfg.Authority.Track(g, func(err error) {
		c.log.Info("login ended", "principal", p.Name, "reason", err)
		c.end(lostRights(err))
	})
	c.log.Info("login", "principal", p.Name, "role", p.Role,
		"key", p.Fingerprint, "inside", p.Inside)
	return nil
}

// prove returns what follows the peer's key when the connection is over; nil for a peer that
// another door or host has identified.
func (c *conn) prove(g authz.Grant) host.Proof {
	if c.outer != nil {
		return c.outer.c.prove(g)
	}
	if c.trusted() {
		return nil
	}
	authority := c.cfg.Authority // the proof outlives the connection
	return func(end func(error)) (release func()) { return authority.Track(g, end) }
}

// lostRights is what a peer is told when its grant ends. Why a key went is for the log only.
func lostRights(err error) error {
	switch {
	case errors.Is(err, keys.ErrBadInvite):
		return errors.New("your invitation has ended")
	case errors.Is(err, authz.ErrChanged):
		return errors.New("the rights of your key have changed; connect again")
	case errors.Is(err, keys.ErrUnknownKey), errors.Is(err, keys.ErrWithdrawn):
		return errors.New("your key is no longer authorised")
	}
	return errors.New("your login has ended")
}
