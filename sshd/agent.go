package sshd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"

	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/sys/unix"

	"termhost/authz"
)

const (
	// agentRequest asks on an SSH session for agent forwarding, as `ssh -A` does (OpenSSH's
	// PROTOCOL.agent).
	agentRequest = "auth-agent-req@openssh.com"
	// agentChannel is the type of a channel to the peer's agent.
	agentChannel = "auth-agent@openssh.com"
	// agentSocket is the name of the socket in its folder.
	agentSocket = "agent.sock"
	// maxSocketPath bounds a socket's path, in bytes (unix(7): sun_path has 108, with the NUL).
	maxSocketPath = 107
)

// agents leads programs in terminals to key agents. A terminal outlives its connections, so the
// path in its SSH_AUTH_SOCK is one for the whole host, and for the next one: a program that
// connects is led to the newest connection with an agent of the person who holds its terminal. If
// there is none, or an agent of another kind holds it, it is refused. sshd makes a socket for each
// connection instead, which is of no use after that.
type agents struct {
	srv *Server

	mu     sync.Mutex // nothing is locked under it
	path   string     // of the socket; "": there is none yet
	listen net.Listener
	folder string // to be removed with it; "": it is the state folder
	by     map[string][]agentConn
	closed bool
	done   sync.WaitGroup // of the accepting goroutine
}

// agentConn is a connection whose peer has an agent.
type agentConn struct {
	conn *conn
	sc   *gossh.ServerConn
}

// agentReq lets what the SSH session makes use the peer's agent.
func (s *sshSession) agentReq() bool {
	if !s.c.srv.policy.Load().AgentForwarding {
		return false
	}
	if err := authz.Check(s.c.principal(), authz.ForwardAgent, authz.Target{}); err != nil {
		s.c.log.Info("agent forwarding refused", "principal", s.c.principal().Name, "reason", err)
		return false
	}
	path, err := s.c.srv.agents.add(s.c, s.sc)
	if err != nil {
		s.c.log.Warn("agent forwarding failed", "err", err)
		return false
	}
	s.agent = path
	return true
}

// add makes c the newest connection of its principal with an agent, until it ends, and returns the
// path of the socket.
func (a *agents) add(c *conn, sc *gossh.ServerConn) (path string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.openLocked(); err != nil {
		return "", err
	}
	who := c.principal().ID
	is := func(k agentConn) bool { return k.conn == c }
	known := slices.ContainsFunc(a.by[who], is)
	a.by[who] = append(slices.DeleteFunc(a.by[who], is), agentConn{c, sc})
	if !known {
		context.AfterFunc(c.ctx, func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			if a.by[who] = slices.DeleteFunc(a.by[who], is); len(a.by[who]) == 0 {
				delete(a.by, who)
			}
		})
	}
	return a.path, nil
}

// openLocked makes the socket, unless it is there.
func (a *agents) openLocked() error {
	switch {
	case a.closed:
		return errShutdown
	case a.listen != nil:
		return nil
	}
	folder := a.srv.cfg().StateDir
	if folder == "" {
		var err error
		if folder, err = os.MkdirTemp("", "termhost-agent-"); err != nil { // with mode 0700
			return err
		}
		a.folder = folder
	}
	path := filepath.Join(folder, agentSocket)
	if len(path) > maxSocketPath {
		return fmt.Errorf("the path of the agent's socket has %d bytes and may have %d: "+
			"set state_dir to a shorter one", len(path), maxSocketPath)
	}
	// What an earlier host has left; no other serves this folder.
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dir, err := openPath(folder)
	if err != nil {
		return err
	}
	l, err := listenIn(context.Background(), dir, agentSocket)
	if err != nil {
		dir.Close()
		return err
	}
	a.path, a.listen, a.by = path, l, map[string][]agentConn{}
	a.done.Go(func() { a.accept(l) })
	return nil
}

// accept leads what connects to agents.
func (a *agents) accept(l net.Listener) {
	for {
		nc, err := l.Accept()
		switch {
		case err == nil:
			a.lead(nc)
		case !isTemporary(err) || !a.srv.sleep(acceptPauseMost):
			return
		}
	}
}

// lead leads a program to the agent that it may use, or refuses it.
func (a *agents) lead(nc net.Conn) {
	who := ""
	if u, ok := nc.(*net.UnixConn); ok && a.srv.policy.Load().AgentForwarding {
		who = a.srv.cfg().Host.AgentHolder(peerPid(u))
	}
	a.mu.Lock()
	list := a.by[who]
	a.mu.Unlock()
	if who == "" || len(list) == 0 {
		nc.Close()
		return
	}
	newest := list[len(list)-1]
	at := endpoint{path: a.path}
	newest.conn.forwardBack(newest.sc, &listening{at: at, agent: true}, nc)
}

// peerPid returns the process at the other end of a unix socket; 0: the kernel does not tell.
func peerPid(c *net.UnixConn) (pid int) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err == nil {
			pid = int(cred.Pid)
		}
	})
	return pid
}

// close ends the socket. What was led to an agent goes on until its connection ends.
func (a *agents) close() {
	a.mu.Lock()
	a.closed = true
	l, folder := a.listen, a.folder
	a.listen = nil
	a.mu.Unlock()
	if l != nil {
		l.Close()
	}
	a.done.Wait()
	if folder != "" {
		os.Remove(folder)
	}
}
