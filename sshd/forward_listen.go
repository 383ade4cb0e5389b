package sshd

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"syscall"

	"charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"

	"termhost/authz"
)

// maxListening bounds what one SSH connection listens at: more than anybody writes -R options.
const maxListening = 32

// listening is one place where the peer has the host listen (`ssh -R`). It belongs to its
// connection, and no other can end it.
type listening struct {
	at        endpoint
	listeners []net.Listener // of one port, at each address that the host's name stands for
	agent     bool           // what connects is led to the peer's agent
	stop      sync.Once
}

// close ends the listening. What has been forwarded goes on.
func (l *listening) close() {
	l.stop.Do(func() {
		for _, nl := range l.listeners {
			nl.Close()
		}
	})
}

// listenTCP serves "tcpip-forward" (RFC 4254 section 7.1). The answer holds the port if the host
// was to choose it.
func (c *conn) listenTCP(ctx ssh.Context, _ *ssh.Server, req *gossh.Request) (bool, []byte) {
	var msg struct {
		Host string
		Port uint32
	}
	if gossh.Unmarshal(req.Payload, &msg) != nil {
		return false, nil
	}
	at := endpoint{host: msg.Host, port: msg.Port}
	port, ok := c.listen(ctx, at, func() ([]net.Listener, error) {
		addrs, err := c.permitted(authz.ForwardListen, msg.Host, msg.Port)
		if err != nil {
			return nil, err
		}
		return listenAt(c.ctx, addrs)
	})
	if !ok || msg.Port != 0 {
		return ok, nil
	}
	return true, gossh.Marshal(struct{ Port uint32 }{port})
}

// listenUnix serves "streamlocal-forward@openssh.com" (OpenSSH's PROTOCOL, section 2.4).
func (c *conn) listenUnix(ctx ssh.Context, _ *ssh.Server, req *gossh.Request) (bool, []byte) {
	path, ok := stringPayload(req.Payload)
	if !ok {
		return false, nil
	}
	_, ok = c.listen(ctx, endpoint{path: path}, func() ([]net.Listener, error) {
		l, err := c.listenSocket(path)
		return []net.Listener{l}, err
	})
	return ok, nil
}

// cancelTCP serves "cancel-tcpip-forward".
func (c *conn) cancelTCP(_ ssh.Context, _ *ssh.Server, req *gossh.Request) (bool, []byte) {
	var msg struct {
		Host string
		Port uint32
	}
	return gossh.Unmarshal(req.Payload, &msg) == nil &&
		c.unlisten(endpoint{host: msg.Host, port: msg.Port}), nil
}

// cancelUnix serves "cancel-streamlocal-forward@openssh.com".
func (c *conn) cancelUnix(_ ssh.Context, _ *ssh.Server, req *gossh.Request) (bool, []byte) {
	path, ok := stringPayload(req.Payload)
	return ok && c.unlisten(endpoint{path: path}), nil
}

// listenAt listens at all of the addresses, which have one port. Port 0 becomes the one that the
// first of them gets. Addresses of a kind that this machine does not have are left out.
func listenAt(ctx context.Context, addrs []netip.AddrPort) (all []net.Listener, err error) {
	var config net.ListenConfig
	for _, addr := range addrs {
		if len(all) > 0 {
			port := all[0].Addr().(*net.TCPAddr).Port
			addr = netip.AddrPortFrom(addr.Addr(), uint16(port))
		}
		network := "tcp" // at :: that is IPv4 as well
		if addr.Addr().Is4() {
			network = "tcp4"
		}
		var l net.Listener
		l, err = config.Listen(ctx, network, addr.String())
		switch {
		case err == nil:
			all = append(all, l)
		case !errors.Is(err, syscall.EADDRNOTAVAIL) && !errors.Is(err, syscall.EAFNOSUPPORT):
			(&listening{listeners: all}).close()
			return nil, plainError(err)
		}
	}
	if len(all) == 0 {
		return nil, plainError(err)
	}
	return all, nil
}

// listen has the host listen, and returns the port. Why it does not is in the log, and shown by the
// next SSH session, because the answer to such a request has no room for it.
func (c *conn) listen(ctx ssh.Context, at endpoint, open func() ([]net.Listener, error)) (
	port uint32, ok bool) {
	sc, ok := ctx.Value(ssh.ContextKeyConn).(*gossh.ServerConn)
	if !ok {
		return 0, false
	}
	c.established(sc)
	if refusal := c.enter(&c.listens, maxListening, false); refusal != "" {
		c.refuseListening(at, errors.New(refusal))
		return 0, false
	}
	listeners, err := open()
	if err != nil {
		c.leave(&c.listens)
		c.refuseListening(at, err)
		return 0, false
	}
	if tcp, ok := listeners[0].Addr().(*net.TCPAddr); ok {
		at.port = uint32(tcp.Port)
	}
	l := &listening{at: at, listeners: listeners}
	c.mu.Lock()
	c.listening[at] = l // the system refuses to listen twice at one place
	c.mu.Unlock()
	c.logForward("forward listens", "remote", at)
	go func() {
		defer c.leave(&c.listens)
		c.accept(sc, l)
		c.logForward("forward listens no more", "remote", at)
	}()
	return at.port, true
}

// refuseListening notes why the host does not listen.
func (c *conn) refuseListening(at endpoint, why error) {
	c.logForward("forward refused", "remote", at, slog.Any("reason", why))
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.refusals) < maxListening {
		c.refusals = append(c.refusals, "-R "+at.String()+": "+why.Error())
	}
}

// takeRefusals returns what the next SSH session is to show of that.
func (c *conn) takeRefusals() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.refusals
	c.refusals = nil
	return all
}

// unlisten ends what the peer has had the host listen at.
func (c *conn) unlisten(at endpoint) bool {
	c.mu.Lock()
	l := c.listening[at]
	delete(c.listening, at)
	c.mu.Unlock()
	if l == nil {
		return false
	}
	l.close()
	return true
}

// accept forwards what connects, until the listening ends.
func (c *conn) accept(sc *gossh.ServerConn, l *listening) {
	defer c.recovered("listening for forwards")
	stop := context.AfterFunc(c.ctx, l.close)
	defer stop()
	var accepting sync.WaitGroup
	for _, nl := range l.listeners {
		accepting.Go(func() {
			defer c.recovered("listening for forwards")
			for {
				remote, err := nl.Accept()
				switch {
				case err == nil:
					c.forwardBack(sc, l, remote)
				case !isTemporary(err) || !c.srv.sleep(acceptPauseMost):
					l.close()
					return
				}
			}
		})
	}
	accepting.Wait()
	c.mu.Lock()
	if c.listening[l.at] == l {
		delete(c.listening, l.at)
	}
	c.mu.Unlock()
}

// forwardBack opens a channel to the peer for a connection that was accepted, and carries that.
func (c *conn) forwardBack(sc *gossh.ServerConn, l *listening, remote net.Conn) {
	if refusal := c.enterForward(); refusal != "" {
		c.logForward("forward refused", "remote", l.at, "reason", refusal)
		remote.Close()
		return
	}
	go func() {
		defer c.leaveForward()
		defer c.recovered("serving a forward")
		kind, payload := l.open(remote)
		ch, reqs, err := sc.OpenChannel(kind, payload)
		if err != nil {
			remote.Close()
			return
		}
		c.logForward("forward opened", "remote", l.at)
		defer c.logForward("forward closed", "remote", l.at)
		c.join(ch, reqs, remote)
	}()
}

// open returns the type and the payload of a channel for a connection that was accepted. The peer
// finds by them which of its forwards it belongs to.
func (l *listening) open(remote net.Conn) (kind string, payload []byte) {
	if l.agent {
		return agentChannel, nil
	}
	if l.at.path != "" {
		return "forwarded-streamlocal@openssh.com",
			gossh.Marshal(struct{ Path, Reserved string }{l.at.path, ""})
	}
	from, _ := remote.RemoteAddr().(*net.TCPAddr)
	if from == nil {
		from = &net.TCPAddr{}
	}
	return "forwarded-tcpip", gossh.Marshal(struct {
		Host     string
		Port     uint32
		FromHost string
		FromPort uint32
	}{l.at.host, l.at.port, from.IP.String(), uint32(from.Port)})
}
