package sshd

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"time"

	"charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"

	"termhost/authz"
	"termhost/authz/admit"
)

const (
	// forwardHost and forwardPort are the HTTP door as a target of forwards: a name that needs no
	// lookup, and HTTP's port, so that `ssh -L 7722:ahp:80` says what it does.
	forwardHost = "ahp"
	forwardPort = 80
	// maxForwards bounds the forwarded connections of one SSH connection: some browser tabs and
	// clients.
	maxForwards = 64
	// forwardsPerAccount bounds the forwards of an account below an admin, each of which takes some
	// goroutines and buffers: those of two connections that have all they may.
	forwardsPerAccount = 2 * maxForwards
	// lastWords is how long a connection may take what was sent before the peer has closed the
	// forward.
	lastWords = 10 * time.Second
)

// errMalformed refuses a request whose payload cannot be read.
var errMalformed = errors.New("malformed request")

// directTCP serves a channel of type "direct-tcpip" (RFC 4254 section 7.2): `ssh -L` and -D. It
// leads to the HTTP door or to an address.
func (c *conn) directTCP(_ *ssh.Server, sc *gossh.ServerConn, nch gossh.NewChannel, _ ssh.Context) {
	var to struct {
		Host       string
		Port       uint32
		OriginHost string
		OriginPort uint32
	}
	if gossh.Unmarshal(nch.ExtraData(), &to) != nil {
		_ = nch.Reject(gossh.ConnectionFailed, errMalformed.Error())
		return
	}
	door := to.Host == forwardHost && to.Port == forwardPort && c.cfg.Forward != nil
	c.direct(sc, nch, endpoint{host: to.Host, port: to.Port}, func() (remote net.Conn, err error) {
		if door {
			target := authz.Target{Host: to.Host, Port: to.Port}
			return nil, authz.Check(c.principal(), authz.Forward, target)
		}
		return c.connect(to.Host, to.Port)
	})
}

// directSocket serves a channel of type "direct-streamlocal@openssh.com" (OpenSSH's PROTOCOL,
// section 2.4): `ssh -L` to a unix socket.
func (c *conn) directSocket(_ *ssh.Server, sc *gossh.ServerConn, nch gossh.NewChannel,
	_ ssh.Context) {
	var to struct {
		Path      string
		Reserved  string
		Reserved2 uint32
	}
	if gossh.Unmarshal(nch.ExtraData(), &to) != nil {
		_ = nch.Reject(gossh.ConnectionFailed, errMalformed.Error())
		return
	}
	c.direct(sc, nch, endpoint{path: to.Path}, func() (net.Conn, error) {
		return c.connectSocket(to.Path)
	})
}

// direct serves a forward that the peer opens. connect returns what it leads to; nil: the HTTP
// door.
func (c *conn) direct(sc *gossh.ServerConn, nch gossh.NewChannel, to endpoint,
	connect func() (net.Conn, error)) {
	defer c.recovered("serving a forward")
	c.established(sc)
	if refusal := c.enterForward(); refusal != "" {
		_ = nch.Reject(gossh.ResourceShortage, refusal)
		return
	}
	defer c.leaveForward()
	remote, err := connect()
	if err != nil {
		c.logForward("forward refused", "local", to, slog.Any("reason", err))
		_ = nch.Reject(rejection(err), err.Error())
		return
	}
	ch, reqs, err := nch.Accept()
	if err != nil {
		if remote != nil {
			remote.Close()
		}
		return
	}
	c.logForward("forward opened", "local", to)
	defer c.logForward("forward closed", "local", to)
	if remote == nil {
		c.carry(ch, reqs)
		return
	}
	c.join(ch, reqs, remote)
}

// forwardLimit is that of all connections of an account.
var forwardLimit = admit.Limit{What: "forwards", Each: forwardsPerAccount}

// enterForward counts a forward in. If there may be no more, refusal says why.
func (c *conn) enterForward() (refusal string) {
	if refusal := c.enter(&c.forwards, maxForwards, false); refusal != "" {
		return refusal
	}
	if c.srv.forwards.Take(c.principal(), forwardLimit) != nil {
		c.leave(&c.forwards)
		return "this key has too many forwards; close some"
	}
	return ""
}

// leaveForward counts a forward out.
func (c *conn) leaveForward() {
	c.srv.forwards.Leave(c.principal())
	c.leave(&c.forwards)
}

// endpoint is where a forward leads or listens, as the peer has written it.
type endpoint struct {
	host string
	port uint32
	path string // of a unix socket; "": it is an address
}

// String returns it as it is written on a command line.
func (e endpoint) String() string {
	if e.path != "" {
		return e.path
	}
	return net.JoinHostPort(e.host, strconv.FormatUint(uint64(e.port), 10))
}

// logForward is the one place where what becomes of forwards is recorded. direction is "local" for
// those that the peer opens and "remote" for those that it listens for.
func (c *conn) logForward(event, direction string, at endpoint, more ...any) {
	args := []any{"principal", c.principal().Name, "direction", direction, "at", at.String()}
	c.log.Info(event, append(args, more...)...)
	audited := []any{"who", c.principal().Name, "direction", direction, "at", at.String()}
	switch event {
	case "forward opened", "forward listens":
		c.audit(authz.AuditForward, audited...)
	case "forward refused":
		c.audit(authz.AuditDenied, append(audited, more...)...)
	}
}

// refusedForward is a refusal of a forward by what the configuration says.
type refusedForward string

func (r refusedForward) Error() string { return "not permitted: " + string(r) }

// The rules by which [ssh] forwarding refuses.
const (
	ruleForwardsOff = refusedForward("forwarding is turned off here" +
		` ([ssh] forwarding = "off")`)
	ruleForwardsLoopback = refusedForward("forwards lead to and from loopback addresses only" +
		` ([ssh] forwarding = "loopback")`)
	ruleDoorOnly = refusedForward("the name ahp stands for termhost itself, which is at ahp:80")
	ruleAbsolute = refusedForward("the path of a socket must begin with /")
	ruleNoSocket = refusedForward("that is not a unix socket")
	ruleState    = refusedForward("nothing may listen in the host's state folder")
)

// rejection returns the reason of RFC 4254 section 5.1 that fits an error.
func rejection(err error) gossh.RejectionReason {
	var denied *authz.Denied
	var refused refusedForward
	if errors.As(err, &denied) || errors.As(err, &refused) {
		return gossh.Prohibited
	}
	return gossh.ConnectionFailed
}

// remoteConn is a connection of which one direction can be ended; TCP's and unix sockets' can.
type remoteConn interface {
	net.Conn
	CloseWrite() error
}

// join carries bytes between a channel and a connection, which it closes, until both have ended.
// Each side may say that it has no more to send, and go on receiving. Nothing is read from either
// before the other has taken what came before.
func (c *conn) join(ch gossh.Channel, reqs <-chan *gossh.Request, remote net.Conn) {
	over := func() { remote.Close(); _ = ch.Close() }
	stop := context.AfterFunc(c.ctx, over)
	defer stop()
	var parts sync.WaitGroup
	part := func(f func()) {
		parts.Go(func() {
			defer c.recovered("carrying a forward")
			f()
		})
	}
	sent := make(chan struct{})
	in := c.in.open(ch, over)
	defer in.close()
	part(in.discardErrors)
	part(func() {
		_, err := io.Copy(remote, in)
		if half, ok := remote.(remoteConn); ok && err == nil {
			_ = half.CloseWrite()
		}
		close(sent)
		in.discard() // if it takes no more, which the peer learns when it has ended
	})
	part(func() {
		defer ch.Close()
		if _, err := io.Copy(ch, remote); err == nil {
			_ = ch.CloseWrite()
			<-sent
		}
	})
	gossh.DiscardRequests(reqs) // until the channel has ended
	late := time.AfterFunc(lastWords, over)
	defer late.Stop()
	<-sent // what the peer has said before
	over()
	parts.Wait()
}
