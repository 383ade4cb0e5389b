package ws

import (
	"context"
	"errors"
	"net/http"
	"runtime/debug"
	"strconv"

	"github.com/gorilla/websocket"

	"termhost/ahp/host"
	"termhost/ahp/rpc"
	"termhost/ahp/transport"
	"termhost/authz"
	"termhost/authz/admit"
)

// upgrade turns the connection into a WebSocket that speaks AHP. Its goroutines
// belong to the Server from then on.
func (s *Server) upgrade(w http.ResponseWriter, r *http.Request, p Peer) error {
	if !websocket.IsWebSocketUpgrade(r) {
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Connection", "Upgrade")
		return &Refusal{http.StatusUpgradeRequired,
			"this is a WebSocket: connect with a WebSocket client"}
	}
	c, err := s.register(p)
	if err != nil {
		return err
	}
	conn, err := s.upgrader.Upgrade(transport.ExplainTooLong(w, s.cfg().MaxFrameBytes), r, nil)
	if err != nil {
		s.unregister(c) // the upgrader has answered
		return nil
	}
	if p.proof != nil {
		c.Prove(p.proof)
	}
	release := p.Follow(c.End)
	doorOf(r).pace.Store(c)
	t := transport.NewWebSocket(conn, s.cfg().MaxFrameBytes,
		func() int { return closeCode(c.Context()) },
		// An error is the connection's end.
		func() { _ = c.Pace(c.Context(), 0, host.MessageParts) })
	audit := []any{"who", p.Principal.Name, "role", p.Principal.Role}
	if p.Principal.Token != "" {
		audit = append(audit, "token", p.Principal.Token)
	}
	c.Audit(authz.AuditLogin, audit...)
	s.log.Info("connected", "door", p.Door, "principal", p.Principal.Name,
		"remote", p.Remote.String())
	// The goroutine that net/http has for the request ends here: it holds 10 KiB.
	go s.run(c, t, p, s.hostProof(r), release)
	return nil
}

// register makes the connection known to the host, if there is room for it.
func (s *Server) register(p Peer) (*host.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, &Refusal{http.StatusServiceUnavailable, host.ErrClosed.Error()}
	case len(s.open) >= s.room(p):
		return nil, &Refusal{http.StatusServiceUnavailable, "all " +
			strconv.Itoa(s.cfg().MaxConnections) +
			" connections are taken; see http.max_connections"}
	}
	c, err := s.cfg().Host.ConnectFrom(p.Principal, p.Door, p.source)
	var quota *admit.QuotaError
	switch {
	case errors.Is(err, host.ErrClosed):
		return nil, &Refusal{http.StatusServiceUnavailable, err.Error()}
	case errors.As(err, &quota):
		return nil, &Refusal{http.StatusTooManyRequests, err.Error() + "; close some"}
	case err != nil:
		return nil, &Refusal{http.StatusUnauthorized,
			"the credentials have expired; authenticate again"}
	}
	s.open[c] = struct{}{}
	s.running.Add(1)
	return c, nil
}

// Room returns why a peer with a grant would get no WebSocket now, as a *Refusal; nil: it would.
func (s *Server) Room(g authz.Grant, p Peer) error {
	p.Principal = throughDoor(g, p.Door).Principal
	c, err := s.register(p)
	if err == nil {
		s.unregister(c)
	}
	return err
}

// room returns how many WebSockets there may be before p is refused one. The last of them are for
// admins and for peers of the unix socket.
func (s *Server) room(p Peer) int {
	if p.Door == host.DoorUnix {
		return s.cfg().MaxConnections
	}
	return admit.Open(s.cfg().MaxConnections, p.Principal.Role)
}

func (s *Server) unregister(c *host.Conn) {
	c.Close()
	s.mu.Lock()
	delete(s.open, c)
	s.mu.Unlock()
	s.running.Done()
}

// run serves a WebSocket until it ends. Its first message is first, unless that is nil.
func (s *Server) run(c *host.Conn, t *transport.WebSocket, p Peer, first []byte, release func()) {
	log := s.log.With("principal", p.Principal.Name, "remote", p.Remote.String())
	defer s.unregister(c)
	defer func() {
		if v := recover(); v != nil {
			log.Error("panic in a connection", "stack", string(debug.Stack()))
		}
	}()
	defer release()
	if first != nil {
		_ = t.Write(first) // after an error nothing can be read either
	}
	err := rpc.Serve(t, c, rpc.Options{MaxSubscriptions: s.cfg().MaxSubscriptions,
		RequestsPerSecond: s.cfg().RequestsPerSecond, Extend: s.cfg().Extend,
		Fleet: s.cfg().Fleet, Log: s.log})
	c.Close()
	t.Finish()
	reason := "closed by the peer"
	if err != nil {
		reason = err.Error()
	}
	c.Audit(authz.AuditLogout, "who", p.Principal.Name, "why", host.Printable(reason))
	log.Info("disconnected", "reason", reason)
}

// closeCode returns the code that goes with the reason in a close frame (RFC
// 6455 section 7.4.1, and IANA's registry of codes): the host is shutting down or
// restarted, or this connection has to end. After the last clients do not come back.
func closeCode(ctx context.Context) int {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, host.ErrLeaving):
		return websocket.CloseServiceRestart
	case errors.Is(cause, host.ErrClosed):
		return websocket.CloseGoingAway
	}
	return websocket.ClosePolicyViolation
}
