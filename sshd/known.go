package sshd

import (
	"net"
	"strings"

	gossh "golang.org/x/crypto/ssh"

	"termhost/authz"
)

// ServeConn serves an SSH connection whose peer another door has already proven
// to be p, until it ends, and closes nc. No key is asked for.
func (s *Server) ServeConn(nc net.Conn, p authz.Principal) {
	s.startKnown(nc, &p, func(serve func()) { serve() })
}

// comeBack returns the command that shows a terminal, for somebody who came as this
// peer did: only `termhost attach` comes from another door.
func (c *conn) comeBack(name string) string {
	if strings.HasPrefix(name, "-") { // it would be taken for a flag
		name = "-- " + name
	}
	if c.known != nil {
		return "termhost attach " + name
	}
	return "ssh -t HOST attach " + name
}

// knownConfig is the configuration for a peer that needs to prove nothing.
func (c *conn) knownConfig() *gossh.ServerConfig {
	return &gossh.ServerConfig{
		Config:       gossh.Config{KeyExchanges: keyExchanges(), Ciphers: c.ciphers, MACs: macs()},
		NoClientAuth: true,
		NoClientAuthCallback: func(gossh.ConnMetadata) (*gossh.Permissions, error) {
			if err := c.login(authz.Grant{Principal: *c.known}); err != nil {
				c.log.Info("login refused", "principal", c.known.Name, "reason", err)
				return nil, errRefused
			}
			return &gossh.Permissions{}, nil
		},
	}
}
