package ws

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"

	"github.com/gorilla/websocket"

	"termhost/ahp/host"
	"termhost/ahp/rpc"
	"termhost/authz"
)

// ServeHTTP answers one request. Serve, ServeUnix and ServeConn lead here; a
// request that came another way is treated as a TCP peer's.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d := &door{name: host.DoorWebSocket}
	remote := net.Addr(textAddr(r.RemoteAddr))
	if c, ok := r.Context().Value(doorKey{}).(*conn); ok {
		d, remote = c.door, c.RemoteAddr()
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if err := s.admit(r, d); err != nil {
		s.refuse(w, d, remote, err)
		return
	}
	var err error
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		s.refuse(w, d, remote, &refusal{http.StatusMethodNotAllowed, "only GET is answered here"})
		return
	}
	switch r.URL.Path {
	case s.cfg.Path:
		err = s.upgrade(w, r, d, remote)
	case healthPath:
		_, _ = io.WriteString(w, "ok\n") // a peer that left needs no answer
	case metricsPath:
		err = s.metrics(w, r, d, remote)
	case sshPath:
		err = s.ssh(w, r, d)
	default:
		err = &refusal{http.StatusNotFound, "there is nothing here; AHP is at " + s.cfg.Path}
	}
	if err != nil {
		s.refuse(w, d, remote, err)
	}
}

// healthPath answers whoever may reach the host that it is up.
const healthPath = "/healthz"

// textAddr is the address of a connection that is known by its text only.
type textAddr string

func (a textAddr) Network() string { return "tcp" }
func (a textAddr) String() string  { return string(a) }

// upgrade makes a WebSocket of the connection, whose goroutines are the
// Server's from then on.
func (s *Server) upgrade(w http.ResponseWriter, r *http.Request, d *door, remote net.Addr) error {
	g, err := s.authenticate(r, d, remote)
	if err != nil {
		return err
	}
	if !websocket.IsWebSocketUpgrade(r) {
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Connection", "Upgrade")
		return &refusal{http.StatusUpgradeRequired, "this is a WebSocket: connect with a WebSocket client"}
	}
	c, err := s.seat(g.Principal, d)
	if err != nil {
		return err
	}
	conn, err := s.upgrader.Upgrade(rpc.ExplainTooLong(w, s.cfg.MaxFrameBytes), r, nil)
	if err != nil {
		s.unseat(c) // the upgrader has answered
		return nil
	}
	release := func() {}
	if g.Identity.Fingerprint != "" { // proven here, by a token; not by the connection
		c.Prove(func(end func(error)) func() { return s.cfg.Authority.Track(g, end) })
		release = s.cfg.Authority.Track(g, func(err error) { c.End(lost(err)) })
	} else if d.proof != nil {
		c.Prove(d.proof)
		release = d.proof(func(err error) { c.End(lostProof(err)) })
	}
	t := rpc.NewWebSocket(conn, s.cfg.MaxFrameBytes, func() int { return closeCode(c.Context()) })
	s.log.Info("connected", "door", d.name, "principal", g.Principal.Name, "remote", remote.String())
	// On a goroutine of its own, because net/http's holds 10 KiB for a request
	// that is over.
	go s.run(c, t, release, remote)
	return nil
}

// lost returns what a peer is told whose proof is gone; its log record says more.
func lost(err error) error {
	if errors.Is(err, authz.ErrChanged) {
		return errors.New("your rights have changed: connect again")
	}
	return errors.New("your token is no longer valid")
}

// seat makes the connection known to the host, if there is room for it.
func (s *Server) seat(p authz.Principal, d *door) (*host.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, &refusal{http.StatusServiceUnavailable, host.ErrClosed.Error()}
	case len(s.open) >= s.cfg.MaxConnections:
		return nil, &refusal{http.StatusServiceUnavailable,
			"all " + strconv.Itoa(s.cfg.MaxConnections) + " connections are taken; see http.max_connections"}
	}
	c, err := s.cfg.Host.Connect(p, d.name)
	switch {
	case errors.Is(err, host.ErrClosed):
		return nil, &refusal{http.StatusServiceUnavailable, err.Error()}
	case err != nil:
		return nil, &refusal{http.StatusUnauthorized, "the credentials have expired; authenticate again"}
	}
	s.open[c] = struct{}{}
	s.running.Add(1)
	return c, nil
}

func (s *Server) unseat(c *host.Conn) {
	c.Close()
	s.mu.Lock()
	delete(s.open, c)
	s.mu.Unlock()
	s.running.Done()
}

// run serves a WebSocket to its end.
func (s *Server) run(c *host.Conn, t *rpc.WebSocket, release func(), remote net.Addr) {
	defer s.unseat(c)
	defer func() {
		if v := recover(); v != nil {
			s.log.Error("panic in a connection", "remote", remote.String(), "stack", string(debug.Stack()))
		}
	}()
	defer release()
	err := rpc.Serve(t, c, rpc.Options{MaxSubscriptions: s.cfg.MaxSubscriptions, RequestsPerSecond: s.cfg.RequestsPerSecond,
		Extend: s.cfg.Extend, Log: s.log})
	c.Close()
	t.Finish()
	reason := "closed by the peer"
	if err != nil {
		reason = err.Error()
	}
	s.log.Info("disconnected", "principal", c.Principal().Name, "remote", remote.String(), "reason", reason)
}

// closeCode returns what a close frame says beside its reason (RFC 6455 section
// 7.4.1): that the host goes away, or that this connection may not go on.
func closeCode(ctx context.Context) int {
	if errors.Is(context.Cause(ctx), host.ErrClosed) {
		return websocket.CloseGoingAway
	}
	return websocket.ClosePolicyViolation
}
