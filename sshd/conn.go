package sshd

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"
	"time"

	"charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/host"
	"termhost/ahp/rpc"
	"termhost/authz"
)

const (
	// maxForwards bounds the forwarded connections of one SSH connection: some
	// browser tabs and clients.
	maxForwards = 64
	// goodbye is how long SSH sessions have to show why their connection ends.
	goodbye = 2 * time.Second
	// keepaliveMisses is how many intervals a peer may let pass without an
	// answer: with the default interval a dead one is gone within a minute.
	keepaliveMisses = 3
)

// conn is one SSH connection.
type conn struct {
	srv    *Server
	log    *slog.Logger
	nc     progressing
	ticket *ticket
	known  *authz.Principal // who the peer is proven to be; nil: it must prove it

	// Used by the serving goroutine only, during the handshake.
	ciphers  []string
	triedKey bool

	// Set by login under mu, before any channel is served, and read-only then;
	// host is nil until then.
	grant   authz.Grant
	host    *host.Conn
	release func() // of the grant's tracking

	// ctx ends when the connection must be closed; the cause may be shown.
	ctx    context.Context
	cancel context.CancelCauseFunc

	alive sync.Once // starts keepalive

	mu       sync.Mutex  // a leaf
	next     *time.Timer // of the next keepalive; nil: not begun
	sessions int
	forwards int
	sealed   bool // no more SSH sessions
	over     bool // no more channels are served

	channels   sync.WaitGroup // served channels; added under mu while not over
	background sync.WaitGroup // outstanding keepalives; likewise
}

// errPeerGone ends a connection that the peer has closed.
var errPeerGone = errors.New("the connection was closed by the peer")

func newConn(s *Server, nc net.Conn, t *ticket, known *authz.Principal) *conn {
	c := &conn{srv: s, nc: progressing{rpc.NewProgress(nc, s.stall)}, ticket: t, known: known, ciphers: ciphers(), log: s.log.With("remote", nc.RemoteAddr().String())}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	return c
}

// serve handles the connection to its end.
func (c *conn) serve() {
	defer c.cleanUp()
	defer c.recovered("serving a connection")
	if err := tuneSocket(c.nc.Conn); err != nil {
		c.log.Debug("socket options were refused", "err", err)
	}
	disconnected := make(chan struct{})
	stop := context.AfterFunc(c.ctx, func() {
		defer close(disconnected)
		c.disconnect()
	})
	defer func() {
		if !stop() {
			<-disconnected
		}
	}()
	deadline := time.Now().Add(c.srv.cfg.HandshakeTimeout)
	nc, err := c.preview(deadline)
	if err != nil {
		c.failed(c.nc, err)
		return
	}
	server := &ssh.Server{
		Version:                  serverVersion,
		HandshakeTimeout:         max(time.Until(deadline), time.Millisecond),
		ServerConfigCallback:     func(ssh.Context) *gossh.ServerConfig { return c.serverConfig() },
		ConnectionFailedCallback: c.failed,
		ChannelHandlers: map[string]ssh.ChannelHandler{
			"session":      c.sessionChannel,
			"direct-tcpip": c.forwardChannel,
		},
		RequestHandlers: map[string]ssh.RequestHandler{
			"no-more-sessions@openssh.com": c.noMoreSessions,
		},
	}
	for _, k := range c.srv.cfg.HostKeys {
		server.AddHostKey(k)
	}
	server.HandleConn(nc)
}

// failed is called when the handshake did not succeed. A peer that was slow and
// one that has no key are made to wait before they may try again and again.
func (c *conn) failed(_ net.Conn, err error) {
	var ne net.Error
	switch {
	case c.ctx.Err() != nil: // ended by us
	case errors.As(err, &ne) && ne.Timeout():
		c.ticket.penalize(penaltyTimeout)
	case c.triedKey:
		c.ticket.penalize(penaltyAuth)
	default:
		c.ticket.penalize(penaltyNoAuth)
	}
	c.log.Debug("handshake failed", "err", err)
}

// login seats the connection for whom the verified key belongs to.
func (c *conn) login(g authz.Grant) error {
	if c.host != nil {
		return errors.New("somebody has logged in already")
	}
	hc, err := c.srv.cfg.Host.Connect(g.Principal, host.DoorSSH)
	if err != nil {
		return err
	}
	hc.Prove(c.prove(g))
	c.mu.Lock()
	c.grant, c.host = g, hc
	c.mu.Unlock()
	c.ticket.authenticated()
	context.AfterFunc(hc.Context(), func() { c.end(context.Cause(hc.Context())) })
	c.release = func() {}
	if c.known != nil {
		c.log.Info("login", "principal", g.Principal.Name, "role", g.Principal.Role)
		return nil
	}
	c.release = c.srv.cfg.Authority.Track(g, func(err error) {
		c.log.Info("login ended", "principal", g.Principal.Name, "reason", err)
		c.end(lostRights(err))
	})
	c.log.Info("login", "principal", g.Principal.Name, "role", g.Principal.Role, "key", g.Principal.Fingerprint)
	return nil
}

// prove returns what follows the peer's key beyond the connection; nil for a peer
// that needs to prove nothing.
func (c *conn) prove(g authz.Grant) host.Proof {
	if c.known != nil {
		return nil
	}
	authority := c.srv.cfg.Authority // the proof outlives the connection
	return func(end func(error)) (release func()) { return authority.Track(g, end) }
}

// principal returns who the peer is.
func (c *conn) principal() authz.Principal { return c.host.Principal() }

// end has the connection closed for the given reason, which the peer is shown.
// It does not wait.
func (c *conn) end(reason error) { c.cancel(reason) }

// disconnect closes the connection when its SSH sessions have said goodbye.
func (c *conn) disconnect() {
	// Nothing more is done for the peer from now on; it is only told why, by
	// its SSH sessions, because x/crypto has no way to send a disconnect
	// message with a text.
	c.mu.Lock()
	seat := c.host
	c.mu.Unlock()
	if seat != nil {
		seat.Close()
	}
	said := make(chan struct{})
	go func() {
		defer close(said)
		c.stopServing()
		c.channels.Wait()
	}()
	t := time.NewTimer(goodbye)
	defer t.Stop()
	select {
	case <-said:
	case <-t.C:
	}
	c.nc.Close()
	<-said
}

// cleanUp runs when the transport has ended.
func (c *conn) cleanUp() {
	c.nc.Close()
	c.cancel(errPeerGone)
	c.stopServing()
	c.channels.Wait()
	c.background.Wait()
	if c.host != nil {
		c.release()
		c.host.Close()
		c.log.Info("connection closed", "principal", c.grant.Principal.Name)
	}
	c.ticket.leave()
}

func (c *conn) stopServing() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	if c.next != nil {
		c.next.Stop()
	}
}

// recovered ends the connection, and only it, when its goroutine panics.
func (c *conn) recovered(doing string) {
	if v := recover(); v != nil {
		c.log.Error("panic while "+doing, "panic", v, "stack", string(debug.Stack()))
		c.cancel(errors.New("internal error; the host's log says more"))
		c.nc.Close()
	}
}

// enter counts a channel in: count is one of the conn's counters. A refusal says
// why.
func (c *conn) enter(count *int, limit int, session bool) (refusal string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.over:
		return "the connection is being closed"
	case session && c.sealed:
		return "no more SSH sessions were asked for"
	case *count >= limit:
		return "too many channels on this connection; close some or connect again"
	}
	*count++
	c.channels.Add(1)
	return ""
}

func (c *conn) leave(count *int) {
	c.mu.Lock()
	*count--
	c.mu.Unlock()
	c.channels.Done()
}

// noMoreSessions honours a client that promises to open no other SSH session
// (OpenSSH's PROTOCOL, section 2.2).
func (c *conn) noMoreSessions(ssh.Context, *ssh.Server, *gossh.Request) (bool, []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sealed = true
	return true, nil
}

// keepalive begins to ask the peer for signs of life. It is started with the
// first channel: nothing tells of the end of a handshake, and a connection
// without channels is watched by TCP's own keepalive.
func (c *conn) keepalive(sc *gossh.ServerConn) {
	if c.srv.cfg.KeepaliveInterval > 0 {
		c.alive.Do(func() { c.askLater(sc) })
	}
}

// askLater asks when an interval has passed. There is a goroutine only while an
// answer is outstanding.
func (c *conn) askLater(sc *gossh.ServerConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		c.next = time.AfterFunc(c.srv.cfg.KeepaliveInterval, func() { c.ask(sc) })
	}
}

func (c *conn) ask(sc *gossh.ServerConn) {
	c.mu.Lock()
	if c.over {
		c.mu.Unlock()
		return
	}
	c.background.Add(1)
	c.mu.Unlock()
	defer c.background.Done()
	defer c.recovered("keeping a connection alive")
	late := time.AfterFunc(keepaliveMisses*c.srv.cfg.KeepaliveInterval, func() {
		c.log.Info("connection closed: no answer to keepalives")
		c.nc.Close()
	})
	defer late.Stop()
	// Whatever the answer is, it is a sign of life (RFC 4254 section 4).
	if _, _, err := sc.SendRequest("keepalive@openssh.com", true, nil); err == nil {
		c.askLater(sc)
	}
}
