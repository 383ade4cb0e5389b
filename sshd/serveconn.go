package sshd

import (
	"net"

	gossh "golang.org/x/crypto/ssh"

	"termhost/authz"
)

// ServeConn serves an SSH connection whose peer another door has already proven to be p, until it
// ends, and closes nc. No key is asked for. within is its Source's Within.
func (s *Server) ServeConn(nc net.Conn, p authz.Principal, within string) {
	s.admit(nc, origin{proven: &p, within: within}, func(serve func()) { serve() })
}

// provenConfig is the configuration for a peer of which it is known who it is.
func (c *conn) provenConfig(g authz.Grant) *gossh.ServerConfig {
	return &gossh.ServerConfig{
		Config:       c.algorithms(),
		NoClientAuth: true,
		NoClientAuthCallback: func(gossh.ConnMetadata) (*gossh.Permissions, error) {
			if err := c.login(g); err != nil {
				return nil, c.refuse(g.Principal, err)
			}
			return &gossh.Permissions{}, nil
		},
	}
}
