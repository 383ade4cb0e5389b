package sshd

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/host"
	"termhost/ahp/transport"
	"termhost/authz"
	"termhost/authz/admit"
)

// conn is one SSH connection.
type conn struct {
	srv       *Server
	cfg       *settings // in force when the connection came
	log       *slog.Logger
	nc        progressing
	in        *intake
	admission *admit.Admission
	source    authz.Source
	proven    *authz.Principal // whom another door has proven the peer to be; nil: nobody has
	carried   *Carried         // how another host proves it; nil: no other host carries it
	outer     *sshSession      // see origin

	// Used during the handshake only, by the goroutine that serves the connection.
	ciphers  []string // to be offered
	triedKey bool
	tried    string // the fingerprint of the last key; guarded by mu
	refusal  error  // why the last key was refused
	crowded  bool   // it has a key, and there was no room

	// Set by login under mu, before any channel is served, and read-only then.
	grant   authz.Grant
	host    *host.Conn // nil: nobody has logged in
	release func()     // of the grant's tracking

	// ctx ends when the connection must be closed; the cause may be shown to the peer.
	ctx    context.Context
	cancel context.CancelCauseFunc

	begun sync.Once // see established

	// owed is whether the host works for the peer, while it is a stranger. After the key exchange
	// x/crypto reads ahead, so that it is only known of what authentication costs.
	owed atomic.Bool

	awaited atomic.Bool // see awaitProofs
	proving sync.Mutex  // held while host keys are proven; the locks of x/crypto are taken under it
	proofs  int         // how many the peer has asked for; guarded by proving

	mu        sync.Mutex              // nothing is locked under it
	next      *time.Timer             // of the next keepalive; nil: there is none yet
	sessions  int                     // open SSH sessions
	forwards  int                     // open forwards
	listens   int                     // of listening, those being opened and closed included
	listening map[endpoint]*listening // by what cancels them
	refusals  []string                // of listening, to be shown by the next SSH session
	opened    bool                    // there has been an SSH session
	sealed    bool                    // there are to be no more SSH sessions than the first
	over      bool                    // there are to be no more channels

	channels   sync.WaitGroup // open channels; added under mu while not over
	background sync.WaitGroup // unanswered keepalives, and inBackground; likewise
}

// errPeerGone ends a connection that the peer has closed.
var errPeerGone = errors.New("the connection was closed by the peer")

func newConn(s *Server, nc net.Conn, a *admit.Admission, by origin) *conn {
	c := &conn{
		srv:       s,
		cfg:       s.cfg(),
		log:       s.log.With("remote", nc.RemoteAddr().String()),
		admission: a,
		proven:    by.proven,
		carried:   by.carried,
		outer:     by.outer,
		ciphers:   ciphers(),
		listening: map[endpoint]*listening{},
	}
	c.owed.Store(true) // nothing has been said to it
	door := host.DoorSSH
	switch {
	case by.proven != nil:
		door = host.DoorUnix
	case by.carried != nil:
		door = host.DoorFleet
	}
	c.source = authz.NewSource(nc.RemoteAddr(), door)
	c.source.Within = by.within
	if by.outer != nil {
		c.source.Within = by.outer.c.source.Within
	}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	c.in = &intake{unread: &s.unread, patience: s.patience, background: c.inBackground,
		inlets: map[*inlet]struct{}{}}
	stall := s.stall
	if by.carried != nil {
		stall = max(stall, CarriedPatience)
	}
	c.nc = progressing{transport.NewProgress(nc, stall), c.in, c.ctx.Done()}
	return c
}

// serve handles the connection to its end.
func (c *conn) serve() {
	defer c.cleanUp()
	defer c.recovered("serving a connection")
	if c.outer != nil {
		defer c.endWith(c.outer)()
	}
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
	deadline := time.Now().Add(c.cfg.HandshakeTimeout)
	var nc net.Conn = c.nc
	if !c.trusted() {
		nc = &handshake{Conn: nc, socket: c.nc.Conn, admission: c.admission, turns: c.srv.turns,
			stop: c.ctx.Done(), refuse: c.drop, owed: &c.owed}
	}
	nc, err := c.preview(nc, deadline)
	if err != nil {
		c.failed(c.nc, err)
		return
	}
	c.sshServer(deadline).HandleConn(nc)
}

// awaits returns what must happen before the peer, a stranger, gets on.
func (c *conn) awaits() admit.Awaits {
	switch {
	case hungUp(c.nc.Conn):
		return admit.AwaitsNobody
	case c.owed.Load(), unread(c.nc.Conn):
		return admit.AwaitsHost
	}
	return admit.AwaitsPeer
}

// trusted reports whether the peer is no stranger, for whom the host must not compute much.
func (c *conn) trusted() bool { return c.proven != nil || c.carried != nil || c.outer != nil }

// ofTermhost reports whether the peer is termhost's own client, which is told more than ssh: see
// package wire.
func (c *conn) ofTermhost() bool { return c.proven != nil || c.outer != nil }

// sshServer returns what handles the connection.
func (c *conn) sshServer(deadline time.Time) *ssh.Server {
	server := &ssh.Server{
		Version:                  serverVersion,
		HandshakeTimeout:         max(time.Until(deadline), time.Millisecond),
		ServerConfigCallback:     func(ssh.Context) *gossh.ServerConfig { return c.serverConfig() },
		ConnectionFailedCallback: c.failed,
		ChannelHandlers: map[string]ssh.ChannelHandler{
			"session":                        c.sessionChannel,
			"direct-tcpip":                   c.directTCP,
			"direct-streamlocal@openssh.com": c.directSocket,
		},
		RequestHandlers: map[string]ssh.RequestHandler{
			proveRequest:                             c.proveHostKeys,
			"no-more-sessions@openssh.com":           c.noMoreSessions,
			"tcpip-forward":                          c.listenTCP,
			"cancel-tcpip-forward":                   c.cancelTCP,
			"streamlocal-forward@openssh.com":        c.listenUnix,
			"cancel-streamlocal-forward@openssh.com": c.cancelUnix,
		},
	}
	if c.carried != nil {
		return c.carriedServer(server)
	}
	for _, k := range c.cfg.exchangeKeys() {
		server.AddHostKey(k)
	}
	return server
}

// failed is called when the handshake did not succeed. A peer that was too slow, and one that has
// no key, has to wait after some failures before it may try again.
func (c *conn) failed(_ net.Conn, err error) {
	var ne net.Error
	switch {
	case c.ctx.Err() != nil, c.crowded: // not its fault
	case errors.As(err, &ne) && ne.Timeout():
		c.admission.Penalize(admit.TimeoutPenalty)
	case c.triedKey:
		c.admission.Penalize(admit.AuthPenalty)
		if c.refusal != nil {
			c.audit(authz.AuditRefused, "reason", c.refusal)
		}
	default:
		c.admission.Penalize(admit.NoAuthPenalty)
	}
	c.log.Debug("handshake failed", "err", err)
}

// audit records an event of the connection in the audit log.
func (c *conn) audit(event string, attrs ...any) {
	c.mu.Lock()
	p := authz.Principal{ID: c.tried}
	if c.host != nil {
		p = c.host.Principal()
	}
	c.mu.Unlock()
	c.cfg.Host.Audit().Info(event, append(attrs, c.source.Attrs(p)...)...)
}

// principal returns who the peer is. Somebody must have logged in.
func (c *conn) principal() authz.Principal { return c.host.Principal() }

// end has the connection closed for the given reason, or if the host has ended it before for its
// reason. The peer is shown that. It does not wait.
func (c *conn) end(reason error) {
	c.mu.Lock()
	hc := c.host
	c.mu.Unlock()
	if hc != nil && hc.Context().Err() != nil {
		reason = context.Cause(hc.Context())
	}
	c.cancel(reason)
}

// drop ends the connection because others need its place. It does not wait.
func (c *conn) drop() {
	if c.ctx.Err() == nil {
		c.audit(authz.AuditDropped, "reason", errDropped.Error())
		c.end(errDropped)
	}
}

// goodbye is how long SSH sessions have to show why their connection ends.
const goodbye = 2 * time.Second

// disconnect closes the connection when its SSH sessions have said goodbye.
func (c *conn) disconnect() {
	// Nothing more is done for the peer from now on. It is only told why, by its SSH sessions,
	// because x/crypto has no way to send a disconnect message with a text.
	c.mu.Lock()
	hc := c.host
	c.mu.Unlock()
	if hc == nil { // there is nobody to say goodbye to
		c.nc.Close()
		return
	}
	hc.Close()
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
	c.in.leave()
	if c.host != nil {
		c.release()
		c.host.Close()
		c.srv.logins.Leave(c.host.Principal())
		c.audit(authz.AuditLogout, "who", c.principal().Name, "why",
			host.Printable(context.Cause(c.ctx).Error()))
		c.log.Info("connection closed", "principal", c.principal().Name)
	}
	c.admission.Leave()
}

// stopServing refuses channels and ends the keepalives.
func (c *conn) stopServing() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	if c.next != nil {
		c.next.Stop()
	}
}

// inBackground runs f on a goroutine of the connection's, unless that is being closed.
func (c *conn) inBackground(doing string, f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	c.background.Go(func() {
		defer c.recovered(doing)
		f()
	})
}

// recovered is deferred by each goroutine of the connection. When one panics it ends the
// connection, and only that.
func (c *conn) recovered(doing string) {
	if v := recover(); v != nil {
		c.log.Error("panic while "+doing, "panic", v, "stack", string(debug.Stack()))
		c.cancel(errors.New(transport.InternalError))
		c.nc.Close()
	}
}
