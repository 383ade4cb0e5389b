package sshd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

	"termhost/ahp/host"
	"termhost/authz"
)

const (
	// agentRequest asks on an SSH session for agent forwarding, as `ssh -A` does (OpenSSH's
	// PROTOCOL.agent).
	agentRequest = "auth-agent-req@openssh.com"
	// agentChannel is the type of a channel to the peer's agent.
	agentChannel = "auth-agent@openssh.com"
	// agentFolder has the sockets, in the state folder.
	agentFolder = "agent"
	// agentNameBytes is how many bytes of a hash name a socket: a host has thousands at most.
	agentNameBytes = 6
	// maxSocketPath bounds a socket's path, in bytes (unix(7): sun_path has 108, with the NUL).
	maxSocketPath = 107
)

var _ host.KeyAgents = (*agents)(nil)

// agents leads programs to key agents. A terminal outlives its connections, so it has a socket of
// its own, whose path stays the same, for the next host too. It leads to the newest connection with
// an agent of the person who holds the terminal. While there is none, nobody listens: programs are
// refused when they connect, as after sshd has removed its socket, and see that there is no agent.
type agents struct {
	srv *Server

	mu      sync.Mutex // nothing of ours is locked under it; the host's locks may be held
	folder  string     // of the sockets; "": there is none yet
	own     bool       // the folder goes with this host
	by      map[string][]agentConn
	sockets map[string]*agentSocket // by markers
	closed  bool
	done    sync.WaitGroup // of the accepting goroutines
}

// agentConn is a connection whose peer has an agent.
type agentConn struct {
	conn *conn
	sc   *gossh.ServerConn
}

// agentSocket is the socket of a terminal's programs.
type agentSocket struct {
	path   string            // "": this host has not made it
	holder string            // the principal whose agent it leads to; "": nobody
	listen *net.UnixListener // nil: who connects is refused
	led    map[*net.UnixConn]struct{}
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
	s.agent = s.c.srv.agents.add(s.c, s.sc)
	return s.agent
}

// add makes c the newest connection of its principal with an agent, until it ends.
func (a *agents) add(c *conn, sc *gossh.ServerConn) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
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
			a.fitLocked()
		})
	}
	a.fitLocked()
	return true
}

// Open implements [host.KeyAgents].
func (a *agents) Open(marker string) (path string) {
	if !a.srv.policy.Load().AgentForwarding {
		return ""
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.socketLocked(marker)
	if a.closed || s.listen != nil {
		return s.path
	}
	if err := a.listenLocked(marker, s); err != nil {
		a.srv.log.Warn("a terminal has no socket for key agents", "err", err)
		return ""
	}
	a.fitOneLocked(marker, s)
	return s.path
}

// Lead implements [host.KeyAgents]. Who was led to the agent of another principal is cut off.
func (a *agents) Lead(marker, principal string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.socketLocked(marker)
	if s.holder != principal {
		for nc := range s.led {
			nc.Close()
		}
	}
	s.holder = principal
	a.fitOneLocked(marker, s)
}

// Close implements [host.KeyAgents]. What was led to an agent goes on.
func (a *agents) Close(marker string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sockets[marker]
	if s == nil {
		return
	}
	delete(a.sockets, marker)
	s.refuse()
	if a.folder != "" { // otherwise it goes when the folder is opened
		_ = os.Remove(filepath.Join(a.folder, agentName(marker))) // there may be none
	}
}

func (a *agents) socketLocked(marker string) *agentSocket {
	s := a.sockets[marker]
	if s == nil {
		s = &agentSocket{led: map[*net.UnixConn]struct{}{}}
		a.sockets[marker] = s
	}
	return s
}

// fit has sockets listen that lead to an agent, and no others.
func (a *agents) fit() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fitLocked()
}

func (a *agents) fitLocked() {
	for marker, s := range a.sockets {
		a.fitOneLocked(marker, s)
	}
}

func (a *agents) fitOneLocked(marker string, s *agentSocket) {
	leads := !a.closed && s.holder != "" && len(a.by[s.holder]) > 0 &&
		a.srv.policy.Load().AgentForwarding
	switch {
	case !leads:
		s.refuse()
	case s.listen == nil:
		if err := a.listenLocked(marker, s); err != nil {
			a.srv.log.Warn("a terminal's key agent cannot be reached", "err", err)
		}
	}
}

// refuse has the socket refuse whoever connects. Its file stays.
//
// A process that is just being started has a copy of the socket until its program runs. While that
// listens, programs would connect to what is then closed, instead of being refused; so it is shut
// down (shutdown(2)), which is for all copies.
func (s *agentSocket) refuse() {
	if s.listen == nil {
		return
	}
	if raw, err := s.listen.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_RDWR) })
	}
	s.listen.Close()
	s.listen = nil
}

// listenLocked makes the socket of a marker, in place of one that an earlier host has left.
func (a *agents) listenLocked(marker string, s *agentSocket) error {
	if err := a.openFolderLocked(); err != nil {
		return err
	}
	name := agentName(marker)
	path := filepath.Join(a.folder, name)
	if len(path) > maxSocketPath {
		return fmt.Errorf("the path of the agent's socket has %d bytes and may have %d: "+
			"set state_dir to a shorter one", len(path), maxSocketPath)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dir, err := openPath(a.folder)
	if err != nil {
		return err
	}
	defer dir.Close()
	l, err := bindIn(context.Background(), dir, name)
	if err != nil {
		return err
	}
	s.path, s.listen = path, l
	a.done.Go(func() { a.accept(l, s) })
	return nil
}

// openFolderLocked makes the folder of the sockets, unless it is there.
func (a *agents) openFolderLocked() (err error) {
	if a.folder != "" {
		return nil
	}
	if state := a.srv.cfg().StateDir; state != "" {
		folder := filepath.Join(state, agentFolder)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
		a.folder = folder
		a.sweepLocked()
		return nil
	}
	a.folder, err = os.MkdirTemp("", "termhost-agent-") // with mode 0700
	a.own = err == nil
	return err
}

// sweepLocked removes what terminals have left that ended without a host.
func (a *agents) sweepLocked() {
	known := map[string]bool{}
	for marker := range a.sockets {
		known[agentName(marker)] = true
	}
	left, _ := os.ReadDir(a.folder) // what cannot be read stays
	for _, f := range left {
		if !known[f.Name()] {
			_ = os.Remove(filepath.Join(a.folder, f.Name()))
		}
	}
}

// agentName returns the name of a marker's socket, which all hosts of a state folder give it.
func agentName(marker string) string {
	sum := sha256.Sum256([]byte(marker))
	return hex.EncodeToString(sum[:agentNameBytes])
}

// accept leads what connects to a socket.
func (a *agents) accept(l net.Listener, s *agentSocket) {
	for {
		nc, err := l.Accept()
		switch {
		case err == nil:
			a.lead(nc.(*net.UnixConn), s)
		case !isTemporary(err) || !a.srv.sleep(acceptPauseMost):
			return
		}
	}
}

// lead leads a program to the agent of the socket's holder, or refuses it. The program must be of a
// terminal that the same person holds, so that nobody uses another's agent by its path.
func (a *agents) lead(nc *net.UnixConn, s *agentSocket) {
	who := a.srv.cfg().Host.AgentHolder(peerPid(nc))
	a.mu.Lock()
	list := a.by[who]
	if who == "" || who != s.holder || s.listen == nil || len(list) == 0 {
		a.mu.Unlock()
		nc.Close()
		return
	}
	newest := list[len(list)-1]
	s.led[nc] = struct{}{}
	a.mu.Unlock()
	led := &ledConn{nc, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(s.led, nc)
	}}
	l := &listening{at: endpoint{path: s.path}, agent: true}
	newest.conn.forwardBack(newest.sc, l, led)
}

// ledConn is the connection of a program that was led to an agent. over is called when it ends.
type ledConn struct {
	*net.UnixConn
	over func()
}

// Close closes the connection. It may be called again.
func (c *ledConn) Close() error {
	c.over()
	return c.UnixConn.Close()
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

// close has all sockets refuse. Their files stay for terminals that go on. What was led to an agent
// goes on until its connection ends.
func (a *agents) close() {
	a.mu.Lock()
	a.closed = true
	a.fitLocked()
	folder, own := a.folder, a.own
	a.mu.Unlock()
	a.done.Wait()
	if own {
		_ = os.RemoveAll(folder) // it is in the folder for temporary files
	}
}
