package sshd

import (
	"net"
	"os"
	"path/filepath"

	gossh "golang.org/x/crypto/ssh"

	"termhost/authz"
)

const (
	// agentRequest asks on an SSH session for agent forwarding, as `ssh -A` does (OpenSSH's
	// PROTOCOL.agent).
	agentRequest = "auth-agent-req@openssh.com"
	// agentChannel is the type of a channel to the peer's agent.
	agentChannel = "auth-agent@openssh.com"
	// agentSocket is the name of the socket in its folder.
	agentSocket = "agent"
)

// agentReq lets what the SSH session makes use the peer's agent.
func (s *sshSession) agentReq() bool {
	if !s.c.srv.policy.Load().AgentForwarding {
		return false
	}
	if err := authz.Check(s.c.principal(), authz.ForwardAgent, authz.Target{}); err != nil {
		s.c.log.Info("agent forwarding refused", "principal", s.c.principal().Name, "reason", err)
		return false
	}
	path, err := s.c.forwardAgent(s.sc)
	if err != nil {
		s.c.log.Warn("agent forwarding failed", "err", err)
		return false
	}
	s.agent = path
	return true
}

// forwardAgent returns the path of a socket that leads to the peer's agent. There is one for a
// connection, in a folder that only the host's user can enter, and it goes with the connection.
func (c *conn) forwardAgent(sc *gossh.ServerConn) (path string, err error) {
	c.agentMu.Lock()
	defer c.agentMu.Unlock()
	if c.agent != "" {
		return c.agent, nil
	}
	folder, err := os.MkdirTemp("", "termhost-agent-") // with mode 0700
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			os.Remove(folder)
		}
	}()
	dir, err := openPath(folder)
	if err != nil {
		return "", err
	}
	l, err := listenIn(c.ctx, dir, agentSocket)
	if err != nil {
		dir.Close()
		return "", err
	}
	path = filepath.Join(folder, agentSocket)
	at := endpoint{path: path}
	c.channels.Add(1) // this is called while an SSH session is open
	go func() {
		defer c.channels.Done()
		c.accept(sc, &listening{at: at, listeners: []net.Listener{l}, agent: true})
		os.Remove(folder)
	}()
	c.agent = path
	return path, nil
}
