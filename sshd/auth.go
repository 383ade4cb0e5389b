package sshd

import (
	"errors"

	gossh "golang.org/x/crypto/ssh"

	"termhost/authz"
	"termhost/keys"
)

// serverVersion follows "SSH-2.0-" in the server's identification (RFC 4253
// section 4.2). It says nothing that helps an attacker choose.
const serverVersion = "termhost"

// keyExchanges, ciphers and macs are what is offered: everything modern that
// x/crypto has, and nothing that rests on SHA-1, CBC or finite-field groups
// (costly before anybody has authenticated). Strict key exchange is x/crypto's
// own doing.
func keyExchanges() []string {
	return []string{
		gossh.KeyExchangeMLKEM768X25519, gossh.KeyExchangeCurve25519,
		gossh.KeyExchangeECDHP256, gossh.KeyExchangeECDHP384, gossh.KeyExchangeECDHP521,
	}
}

func ciphers() []string {
	return []string{
		gossh.CipherAES128GCM, gossh.CipherAES256GCM, gossh.CipherChaCha20Poly1305,
		gossh.CipherAES128CTR, gossh.CipherAES192CTR, gossh.CipherAES256CTR,
	}
}

func macs() []string {
	return []string{gossh.HMACSHA256ETM, gossh.HMACSHA512ETM, gossh.HMACSHA256, gossh.HMACSHA512}
}

// strongSigner returns k without the signature algorithms that rest on SHA-1,
// which is what an RSA key offers by itself.
func strongSigner(k gossh.Signer) (gossh.Signer, error) {
	switch k.PublicKey().Type() {
	case gossh.KeyAlgoRSA, gossh.CertAlgoRSAv01:
	default:
		return k, nil
	}
	signer, ok := k.(gossh.AlgorithmSigner)
	if !ok {
		return nil, errors.New("an RSA key that signs with SHA-1 only cannot be used")
	}
	return gossh.NewSignerWithAlgorithms(signer, []string{gossh.KeyAlgoRSASHA512, gossh.KeyAlgoRSASHA256})
}

// serverConfig returns a fresh configuration for one connection; charm.land/ssh
// adds host keys and version to it.
func (c *conn) serverConfig() *gossh.ServerConfig {
	if c.known != nil {
		return c.knownConfig()
	}
	return &gossh.ServerConfig{
		Config:                    gossh.Config{KeyExchanges: keyExchanges(), Ciphers: c.ciphers, MACs: macs()},
		PublicKeyAuthAlgorithms:   gossh.SupportedAlgorithms().PublicKeyAuths,
		MaxAuthTries:              c.srv.cfg.MaxAuthTries,
		PublicKeyCallback:         c.keyOffered,
		VerifiedPublicKeyCallback: c.keyVerified,
	}
}

// errRefused is what the peer is refused with; the reason is for the log.
var errRefused = errors.New("sshd: permission denied")

// keyOffered says whether a key would do. It also runs for keys that a client
// only asks about, so it remembers nothing of them.
func (c *conn) keyOffered(meta gossh.ConnMetadata, key gossh.PublicKey) (*gossh.Permissions, error) {
	c.triedKey = true
	grant, err := c.srv.cfg.Authority.Key(meta.User(), key, meta.RemoteAddr())
	if err != nil {
		c.log.Info("key refused", "key", gossh.FingerprintSHA256(key), "reason", err)
		return nil, errRefused
	}
	return permissions(grant), nil
}

// keyVerified seats the connection: the peer holds the private key.
func (c *conn) keyVerified(meta gossh.ConnMetadata, key gossh.PublicKey, _ *gossh.Permissions, _ string) (*gossh.Permissions, error) {
	grant, err := c.srv.cfg.Authority.Key(meta.User(), key, meta.RemoteAddr())
	if err != nil {
		c.log.Info("key refused", "key", gossh.FingerprintSHA256(key), "reason", err)
		return nil, errRefused
	}
	if err := c.login(grant); err != nil {
		c.log.Info("login refused", "principal", grant.Principal.Name, "reason", err)
		return nil, errRefused
	}
	return permissions(grant), nil
}

// permissions tells x/crypto the one thing that it acts upon; everything else
// is the grant's.
func permissions(g authz.Grant) *gossh.Permissions {
	p := &gossh.Permissions{}
	if g.Identity.NoTouchRequired {
		p.Extensions = map[string]string{"no-touch-required": ""}
	}
	return p
}

// lostRights is what a peer is told when its grant ends. Why a key went is for
// the log only.
func lostRights(err error) error {
	switch {
	case errors.Is(err, authz.ErrChanged):
		return errors.New("the rights of your key have changed; connect again")
	case errors.Is(err, keys.ErrUnknownKey), errors.Is(err, keys.ErrWithdrawn):
		return errors.New("your key is no longer authorised")
	}
	return errors.New("your login has ended")
}
