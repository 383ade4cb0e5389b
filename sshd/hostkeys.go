package sshd

import (
	"bytes"
	"crypto/rand"
	"errors"
	"slices"
	"strings"

	"charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"
)

// The host tells its clients all its keys, so that they learn a new one while they still know the
// old one (OpenSSH's PROTOCOL, section 2.5; UpdateHostKeys in ssh_config(5)). A client asks for a
// proof of those that it does not know. What is told and proven are the keys of the configuration
// in force when the connection came: a client that is told twice gives up.
const (
	hostKeysRequest = "hostkeys-00@openssh.com"
	proveRequest    = "hostkeys-prove-00@openssh.com"
)

// maxProofs bounds the signatures that one connection gets: a client asks once, for each key.
const maxProofs = 32

// established is called with the first that an authenticated peer asks for, because charm.land/ssh
// does not say when a handshake has ended.
func (c *conn) established(sc *gossh.ServerConn) {
	c.begun.Do(func() {
		if c.carried == nil { // the fleet knows better whether the other host is there
			c.keepalive(sc)
		}
		if !c.trusted() {
			_, _, _ = sc.SendRequest(hostKeysRequest, false, c.hostKeyList()) // fails with sc
		}
	})
}

// plainKeys returns the signers of the host's keys without those of certificates.
func (c *Config) plainKeys() (plain []gossh.Signer) {
	for _, s := range c.HostKeys {
		if _, certificate := s.PublicKey().(*gossh.Certificate); !certificate {
			plain = append(plain, s)
		}
	}
	return plain
}

// exchangeKeys returns the signers for key exchanges: of several of one type the first.
func (c *Config) exchangeKeys() (first []gossh.Signer) {
	types := map[string]bool{}
	for _, s := range c.HostKeys {
		if kind := s.PublicKey().Type(); !types[kind] {
			types[kind] = true
			first = append(first, s)
		}
	}
	return first
}

// hostKeyList returns the payload of a hostKeysRequest.
func (c *conn) hostKeyList() (payload []byte) {
	for _, s := range c.cfg.plainKeys() {
		payload = append(payload, sshString(s.PublicKey().Marshal())...)
	}
	return payload
}

// sshString encodes b as a string (RFC 4251 section 5).
func sshString(b []byte) []byte { return gossh.Marshal(struct{ B []byte }{b}) }

// proveHostKeys answers a proveRequest. It replies itself, because charm.land/ssh does so too late
// for awaitProofs.
func (c *conn) proveHostKeys(ctx ssh.Context, _ *ssh.Server, req *gossh.Request) (bool, []byte) {
	sc, ok := ctx.Value(ssh.ContextKeyConn).(*gossh.ServerConn)
	if !ok || c.trusted() {
		return false, nil
	}
	c.established(sc)
	c.proving.Lock()
	defer c.proving.Unlock()
	proofs, err := c.proveKeys(sc, req.Payload)
	if err != nil {
		c.log.Debug("host keys are not proven", "err", err)
	}
	_ = req.Reply(err == nil, proofs) // fails with the connection
	req.WantReply = false
	return false, nil
}

// proveKeys returns a proof for each key that a payload names, if the host has all of them.
func (c *conn) proveKeys(sc *gossh.ServerConn, payload []byte) (proofs []byte, err error) {
	for len(payload) > 0 {
		var msg struct {
			Key  []byte
			Rest []byte `ssh:"rest"`
		}
		if err := gossh.Unmarshal(payload, &msg); err != nil {
			return nil, err
		}
		if c.proofs++; c.proofs > maxProofs {
			return nil, errProofs
		}
		proof, err := c.proveKey(sc, msg.Key)
		if err != nil {
			return nil, err
		}
		payload, proofs = msg.Rest, append(proofs, proof...)
	}
	if proofs == nil {
		return nil, errNotOurs
	}
	return proofs, nil
}

// awaitProofs waits until the host keys are proven that the peer has asked about. OpenSSH's client
// does so before it asks for a command, and leaves with the command's end. x/crypto hands the two
// requests to different goroutines, and a short command may be over first. When the peer has
// answered, the other has had its turn, unless the machine is very busy; such a client learns the
// keys at its next login. Only the first SSH session waits, and only where a client may have met a
// new key.
func (s *sshSession) awaitProofs() {
	c := s.c
	openSSH := strings.HasPrefix(string(s.sc.ClientVersion()), "SSH-2.0-OpenSSH_")
	if !c.trusted() && openSSH && len(c.cfg.plainKeys()) > 1 && !c.awaited.Swap(true) {
		s.Answers()
	}
	c.proving.Lock()
	defer c.proving.Unlock()
}

// proveKey returns the proof that the host has the private key of a public one.
func (c *conn) proveKey(sc *gossh.ServerConn, key []byte) ([]byte, error) {
	all := c.cfg.plainKeys()
	i := slices.IndexFunc(all, func(s gossh.Signer) bool {
		return bytes.Equal(s.PublicKey().Marshal(), key)
	})
	if i < 0 {
		return nil, errNotOurs
	}
	data := gossh.Marshal(struct {
		Name         string
		Session, Key []byte
	}{proveRequest, sc.SessionID(), key})
	algorithm := all[i].PublicKey().Type()
	if algorithm == gossh.KeyAlgoRSA {
		algorithm = rsaAlgorithm(sc)
	}
	signer, ok := all[i].(gossh.AlgorithmSigner)
	if !ok {
		return nil, errors.New("it cannot choose its algorithm")
	}
	proof, err := signer.SignWithAlgorithm(rand.Reader, data, algorithm)
	if err != nil {
		return nil, err
	}
	return sshString(gossh.Marshal(proof)), nil
}

var (
	errNotOurs = errors.New("no key of this host is named")
	errProofs  = errors.New("too many were asked for")
)

// rsaAlgorithm returns how an RSA key proves itself: as it did in the key exchange, if one did,
// which is the only way that OpenSSH accepts then.
func rsaAlgorithm(sc *gossh.ServerConn) string {
	m, ok := sc.Conn.(gossh.AlgorithmsConnMetadata)
	if ok && m.Algorithms().HostKey == gossh.KeyAlgoRSASHA256 {
		return gossh.KeyAlgoRSASHA256
	}
	return gossh.KeyAlgoRSASHA512
}
