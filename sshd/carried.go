package sshd

import (
	"errors"
	"net"
	"time"

	"charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"

	"termhost/authz"
)

// Carried is how another host proves for whom it carries SSH sessions here.
type Carried struct {
	// Host is this host's name in the fleet.
	Host string
	// Signer proves this host to the other.
	Signer gossh.Signer
	// Authenticate returns for whom the other host speaks, and how the audit log names that host
	// and where it has them from. user is the user name of the SSH login, which may be the other
	// host's assertion: who has signed it has the key (RFC 4252 section 7). It may be called before
	// that is proven, and remembers nothing. The error wraps ErrStranger if key is not the other
	// host's; any other one is told to that host.
	Authenticate func(user string, key gossh.PublicKey) (p authz.Principal, from string, err error)
	// Late returns by how much more than a host may be silent it is since this one has said the
	// heartbeat of a number; negative: it is less.
	Late func(heard uint64) time.Duration
}

// ErrStranger refuses a peer that has not the key of the host that it says it is.
var ErrStranger = errors.New("it does not have the key of the door")

// CarriedPatience is how long such a connection may stand still, because the network between the
// hosts does: its viewers go on afterwards. The other host ends it when its own peer is gone.
const CarriedPatience = 10 * time.Minute

// ServeCarried serves an SSH connection from another host until it ends, and closes nc. There are
// SSH sessions on it, and no forwards.
func (s *Server) ServeCarried(nc net.Conn, by Carried) {
	s.admit(nc, origin{carried: &by}, func(serve func()) { serve() })
}

// ServeJump serves a connection that another host passes on as it is: its peer proves itself as if
// it had come over TCP from that host.
func (s *Server) ServeJump(nc net.Conn) {
	s.admit(nc, origin{}, func(serve func()) { serve() })
}

// carriedConfig is the configuration for such a peer. Only the key counts that signs: see
// keyVerified.
func (c *conn) carriedConfig() *gossh.ServerConfig {
	by := c.carried
	return &gossh.ServerConfig{
		Config:                  c.algorithms(),
		PublicKeyAuthAlgorithms: []string{gossh.KeyAlgoED25519},
		MaxAuthTries:            1,
		PublicKeyCallback: func(m gossh.ConnMetadata, key gossh.PublicKey) (
			*gossh.Permissions, error) {
			if _, _, err := by.Authenticate(m.User(), key); errors.Is(err, ErrStranger) {
				c.log.Info("another host was refused", "reason", err)
				c.triedKey, c.refusal = true, err
				return nil, errRefused
			}
			return &gossh.Permissions{}, nil // other faults are told once the key is proven
		},
		VerifiedPublicKeyCallback: func(m gossh.ConnMetadata, key gossh.PublicKey,
			_ *gossh.Permissions, _ string) (*gossh.Permissions, error) {
			p, from, err := by.Authenticate(m.User(), key)
			if err != nil {
				return nil, c.refuseHost(err)
			}
			c.source.From = from
			grant := authz.AssertedGrant(p, func() (authz.Principal, error) {
				now, _, err := by.Authenticate(m.User(), key)
				return now, err
			})
			if err := c.login(grant); err != nil {
				return nil, c.refuseHost(err)
			}
			return &gossh.Permissions{}, nil
		},
	}
}

// refuseHost logs why another host's user is not let in, and has that host told.
func (c *conn) refuseHost(err error) error {
	c.log.Info("a carried login was refused", "reason", err)
	c.crowded = true // it is not that the key were wrong, and has no penalty
	c.audit(authz.AuditRefused, "reason", err)
	return &gossh.BannerError{Err: errRefused, Message: err.Error()}
}

// carriedServer makes a server one for such a peer.
func (c *conn) carriedServer(server *ssh.Server) *ssh.Server {
	server.AddHostKey(c.carried.Signer)
	server.ChannelHandlers = map[string]ssh.ChannelHandler{"session": c.sessionChannel}
	server.RequestHandlers = map[string]ssh.RequestHandler{}
	return server
}
