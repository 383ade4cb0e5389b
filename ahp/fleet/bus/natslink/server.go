package natslink

import (
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

const (
	// maxConnections bounds the connections to a server: maxOfOne for each of roster.MaxHosts, and
	// strangers and guests.
	maxConnections = 45_000
	// maxPayload bounds a message, in bytes: the bus's largest, with its head.
	maxPayload = 128 << 10
	// maxPending bounds what waits for one host, in bytes, before it is disconnected as too slow.
	maxPending = 64 << 20
	// maxSubscriptions bounds those of a connection: that for control has one for what is sent to
	// the host, and maxHeard at most for announcements.
	maxSubscriptions = 16
	// writeDeadline and authTimeout bound a host that takes nothing, or does not say who it is.
	writeDeadline = 10 * time.Second
	authTimeout   = 5 * time.Second
	startTimeout  = 5 * time.Second
	// pingOften is how often the server looks whether a client is there, which answers within
	// pingOften, too.
	pingOften = 20 * time.Second
	// guestTime bounds the connection of somebody who joins.
	guestTime = 30 * time.Second
)

// ServerOptions are those of a Server.
type ServerOptions struct {
	// Listen is host:port.
	Listen string
	// Certificate is the server's.
	Certificate tls.Certificate
	// Home is the name of the host that guests ask.
	Home string
	// Name returns the name of the host that has an NKEY; "": none has. Guest returns the name
	// under which somebody with a token may ask to become one, until a time. They may be called
	// concurrently.
	Name  func(publicKey string) string
	Guest func(token string) (name string, until time.Time)
	Log   *slog.Logger
}

// Server is a NATS server of this process, for a fleet. Its methods may be called concurrently.
type Server struct {
	*server.Server
	o        ServerOptions
	entrance *entrance
}

// Serve starts a server.
func Serve(o ServerOptions) (*Server, error) {
	e, err := enter(o.Listen, o.Log)
	if err != nil {
		return nil, fmt.Errorf("the fleet's server cannot listen: %w", err)
	}
	s, at := &Server{o: o, entrance: e}, e.Addr().(*net.TCPAddr)
	if s.Server, err = server.NewServer(&server.Options{
		ServerName: "termhost", Host: at.IP.String(), Port: at.Port, NoSigs: true, NoLog: true,
		MaxConn: maxConnections, MaxSubs: maxSubscriptions,
		MaxPayload: maxPayload, MaxPending: maxPending,
		PingInterval: pingOften, MaxPingsOut: 1,
		WriteDeadline: writeDeadline, AuthTimeout: authTimeout.Seconds(),
		TLSTimeout: authTimeout.Seconds(), TLS: true, NoSystemAccount: true,
		TLSConfig: &tls.Config{
			Certificates: []tls.Certificate{o.Certificate}, MinVersion: tls.VersionTLS13,
		},
		AlwaysEnableNonce: true, CustomClientAuthentication: s,
	}); err == nil {
		err = e.lead(s.Server)
	}
	e.payload = s.payload
	if err != nil {
		e.Close()
		return nil, fmt.Errorf("cannot make the fleet's server: %w", err)
	}
	s.SetLoggerV2(logger{o.Log}, false, false, false)
	s.Start()
	if !s.ReadyForConnections(startTimeout) {
		s.Shutdown()
		return nil, errors.New("the fleet's server cannot listen on " + o.Listen)
	}
	return s, nil
}

// Close ends the server and its connections.
func (s *Server) Close() {
	s.Shutdown()
	s.WaitForShutdown()
}

// Check lets a client in that has the key of a host, with that host's permissions. It implements
// server.Authentication.
func (s *Server) Check(c server.ClientAuthentication) bool {
	o := c.GetOpts()
	user := &server.User{}
	switch {
	case c.Kind() != server.CLIENT:
	case o.Nkey != "" && verify(o.Nkey, o.Sig, c.GetNonce()):
		user.Username = s.o.Name(o.Nkey)
		user.Permissions = Permissions(user.Username)
	case o.Nkey == "" && o.Token != "":
		var until time.Time
		user.Username, until = s.o.Guest(o.Token)
		user.Permissions = guestPermissions(user.Username, s.o.Home)
		user.ConnectionDeadline = time.Now().Add(min(guestTime, time.Until(until)))
	}
	if user.Username == "" {
		s.o.Log.Warn("a stranger was kept out of the fleet", "remote", remote(c),
			"key", o.Nkey, "reason", "its key or token is nobody's")
		return false
	}
	c.RegisterUser(user)
	if remote := c.RemoteAddress(); remote != nil {
		s.entrance.proven(remote.String(), c.GetID(), user.Username)
	}
	return true
}

// Prune ends the connections whose keys or tokens are nobody's any more.
func (s *Server) Prune() {
	all, err := s.Connz(&server.ConnzOptions{Username: true, Limit: maxConnections})
	if err != nil {
		s.o.Log.Warn("cannot list the connections of the fleet's server", "err", err)
		return
	}
	for _, c := range all.Conns {
		// For a guest this is the name that Check has given it.
		if nkeys.IsValidPublicUserKey(c.AuthorizedUser) && s.o.Name(c.AuthorizedUser) == "" {
			_ = s.DisconnectClientByID(c.Cid) // it may have gone
		}
	}
}

// Permissions are what a host may do at a server.
func Permissions(name string) *server.Permissions {
	return &server.Permissions{
		Publish: &server.SubjectPermission{Allow: []string{prefix + "." + name + ".>"}},
		Subscribe: &server.SubjectPermission{Allow: []string{
			prefix + ".*." + name + ".*", prefix + ".*." + All + "." + controlSuffix,
		}},
	}
}

// guestPermissions are what a guest may do: ask the fleet's home.
func guestPermissions(name, home string) *server.Permissions {
	return &server.Permissions{
		Publish: &server.SubjectPermission{
			Allow: []string{prefix + "." + name + "." + home + ".*"}},
		Subscribe: &server.SubjectPermission{Allow: []string{prefix + ".*." + name + ".*"}},
	}
}

// payload returns how many bytes of messages a connection has sent.
func (s *Server) payload(id uint64) int64 {
	found, err := s.Connz(&server.ConnzOptions{CID: id})
	if err != nil || len(found.Conns) == 0 { // it ends
		return 0
	}
	return found.Conns[0].InBytes
}

// End ends the connections of a host or guest.
func (s *Server) End(name string) { s.entrance.end(name) }

// verify reports whether a signature of the server's nonce is that of a key.
func verify(public, signature string, nonce []byte) bool {
	raw, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil || len(nonce) == 0 || !nkeys.IsValidPublicUserKey(public) {
		return false
	}
	key, err := nkeys.FromPublicKey(public)
	return err == nil && key.Verify(nonce, raw) == nil
}

func remote(c server.ClientAuthentication) string {
	if a := c.RemoteAddress(); a != nil {
		return a.String()
	}
	return "in this process"
}

// logger passes on what the server says of itself.
type logger struct{ log *slog.Logger }

// say logs a text. It begins with whom it is about, if that is a client, and a client has a say in
// the rest: package logs sums up what has the same remote and some reason.
func (l logger) say(level func(string, ...any), format string, v []any) {
	text := strings.TrimSpace(fmt.Sprintf(format, v...))
	if remote, reason, ok := strings.Cut(text, " - "); ok {
		if _, _, err := net.SplitHostPort(remote); err == nil {
			level("fleet server", "remote", remote, "reason", reason)
			return
		}
	}
	level("fleet server", "text", text)
}

func (l logger) Noticef(format string, v ...any) { l.say(l.log.Debug, format, v) }
func (l logger) Warnf(format string, v ...any)   { l.say(l.log.Warn, format, v) }
func (l logger) Errorf(format string, v ...any)  { l.say(l.log.Warn, format, v) }
func (l logger) Fatalf(format string, v ...any)  { l.say(l.log.Error, format, v) }
func (l logger) Debugf(string, ...any)           {}
func (l logger) Tracef(string, ...any)           {}
