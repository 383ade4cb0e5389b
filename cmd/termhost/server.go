package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/acp"
	"termhost/ahp/host"
	"termhost/ahp/rpc"
	"termhost/ahp/ws"
	"termhost/authz"
	"termhost/sshd"
)

// server is a running host with its doors.
type server struct {
	cfg    config
	log    *slog.Logger
	lock   *os.File
	access *access
	host   *host.Host
	acp    *acp.Methods
	ssh    *sshd.Server
	web    *ws.Server

	sshListener  net.Listener
	httpListener net.Listener // nil: none
	unixListener net.Listener // nil: none

	stopping atomic.Bool
	failed   chan error // a door that ended by itself
	doors    sync.WaitGroup
}

// startServer opens everything, in an order that leaves nothing behind if a
// step fails, and lets people in.
func startServer(cfg config, log *slog.Logger) (_ *server, err error) {
	s := &server{cfg: cfg, log: log, failed: make(chan error, 3)}
	defer func() {
		if err != nil {
			s.abandon()
		}
	}()
	if s.access, err = openAccess(cfg, log); err != nil {
		return nil, err
	}
	if s.lock, err = lockState(cfg.StateDir); err != nil {
		return nil, err
	}
	if err = s.listen(); err != nil {
		return nil, err
	}
	if s.host, err = host.New(hostConfig(cfg, log)); err != nil {
		return nil, err
	}
	s.acp = acp.NewMethods(s.host, log)
	if err = s.makeDoors(); err != nil {
		return nil, err
	}
	s.open()
	return s, nil
}

// abandon gives back what a start that failed had taken.
func (s *server) abandon() {
	for _, l := range []net.Listener{s.sshListener, s.httpListener, s.unixListener} {
		if l != nil {
			l.Close()
		}
	}
	if s.access != nil {
		s.access.close()
	}
	if s.lock != nil {
		s.lock.Close()
	}
}

func (s *server) listen() (err error) {
	if s.sshListener, err = listen("ssh.listen", s.cfg.SSH.Listen); err != nil {
		return err
	}
	if s.cfg.HTTP.Listen != "" {
		if s.httpListener, err = listen("http.listen", s.cfg.HTTP.Listen); err != nil {
			return err
		}
	}
	if s.cfg.HTTP.UnixSocket {
		if s.unixListener, err = ws.ListenUnix(s.socketPath()); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) socketPath() string { return filepath.Join(s.cfg.StateDir, socketName) }

func (s *server) makeDoors() (err error) {
	cfg := s.cfg
	requests := cfg.HTTP.RequestsPerSecond
	if requests == 0 {
		requests = -1 // the doors' word for no limit
	}
	web := ws.Config{
		Host:              s.host,
		Authority:         s.access.authority,
		Path:              cfg.HTTP.Path,
		AllowedOrigins:    cfg.HTTP.AllowedOrigins,
		AllowedHosts:      append(listenHost(cfg.HTTP.Listen), cfg.HTTP.AllowedHosts...),
		MaxFrameBytes:     int(cfg.HTTP.MaxFrameBytes),
		MaxConnections:    cfg.HTTP.MaxConnections,
		MaxSubscriptions:  cfg.HTTP.MaxSubscriptions,
		RequestsPerSecond: requests,
		Extend:            s.terminalsOf,
		SSH:               func(c net.Conn, p authz.Principal) { s.ssh.ServeConn(c, p) },
		Log:               s.log,
	}
	if cfg.HTTP.TLSCertFile != "" {
		cert, err := tls.LoadX509KeyPair(cfg.HTTP.TLSCertFile, cfg.HTTP.TLSKeyFile)
		if err != nil {
			return fmt.Errorf("cannot read the TLS certificate: %w", err)
		}
		web.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	}
	s.web = ws.New(web)
	keepalive := time.Duration(cfg.SSH.KeepaliveInterval)
	if keepalive == 0 {
		keepalive = -1 // likewise
	}
	s.ssh, err = sshd.New(sshd.Config{
		Host:      s.host,
		Authority: s.access.authority,
		HostKeys:  s.access.signers,
		Forward: func(c net.Conn, p authz.Principal) {
			if err := s.web.ServeConn(c, p); err != nil {
				s.log.Debug("forward ended", "principal", p.Name, "reason", err)
			}
		},
		AHP: rpc.Options{MaxSubscriptions: cfg.HTTP.MaxSubscriptions, RequestsPerSecond: requests, Extend: s.terminalsOf,
			Log: s.log},
		MaxMessageBytes:   int(cfg.HTTP.MaxFrameBytes),
		HandshakeTimeout:  time.Duration(cfg.SSH.HandshakeTimeout),
		MaxAuthTries:      cfg.SSH.MaxAuthTries,
		MaxConnections:    cfg.SSH.MaxConnections,
		MaxStartups:       sshd.Startups(cfg.SSH.MaxStartups),
		NoPenalties:       !cfg.SSH.Penalties,
		MaxSessions:       cfg.SSH.MaxSessionsPerConnection,
		KeepaliveInterval: keepalive,
		DetachPrefix:      byte(cfg.Terminal.DetachPrefix),
		NoPrefix:          cfg.Terminal.DetachPrefix == 0,
		Version:           version(),
		Log:               s.log,
	})
	return err
}

// terminalsOf answers ACP's terminal methods on an AHP connection.
func (s *server) terminalsOf(c *host.Conn) rpc.Extension { return s.acp.Terminals(c) }

// open lets people and agents in.
func (s *server) open() {
	s.run("ssh", func() error { return s.ssh.Serve(s.sshListener) })
	if s.httpListener != nil {
		s.run("http", func() error { return s.web.Serve(s.httpListener) })
	}
	if s.unixListener != nil {
		s.run("unix socket", func() error { return s.web.ServeUnix(s.unixListener) })
	}
}

// run keeps a door open; one that ends by itself ends the program.
func (s *server) run(name string, serve func() error) {
	s.doors.Add(1)
	go func() {
		defer s.doors.Done()
		if err := serve(); !s.stopping.Load() {
			s.failed <- fmt.Errorf("the %s door has failed: %w", name, err)
		}
	}()
}

// shutdown ends it all: no new connections; the terminals are hung up, and
// everybody is shown their end; then the connections are closed.
func (s *server) shutdown(ctx context.Context) error {
	s.stopping.Store(true)
	s.sshListener.Close()
	s.web.Stop()
	err := errors.Join(s.host.Shutdown(ctx), s.ssh.Shutdown(ctx), s.web.Shutdown(ctx))
	s.doors.Wait()
	return errors.Join(err, s.access.close(), s.lock.Close())
}

func (s *server) greeting() greeting {
	ssh := reachable(s.sshListener.Addr())
	g := greeting{
		ssh:         ssh,
		identity:    s.access.identity,
		knownHosts:  s.access.writeKnownHosts(s.cfg.StateDir, ssh),
		fingerprint: gossh.FingerprintSHA256(s.access.signers[0].PublicKey()),
	}
	if s.httpListener != nil {
		scheme := "ws"
		if s.cfg.HTTP.TLSCertFile != "" {
			scheme = "wss"
		}
		g.webSocket = scheme + "://" + reachable(s.httpListener.Addr()) + s.cfg.HTTP.Path
	}
	if s.unixListener != nil {
		g.socket = s.socketPath()
	}
	return g
}

// reachable returns an address by which this machine reaches a listener: one that
// listens everywhere is reached on loopback.
func reachable(addr net.Addr) string {
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
	}
	return addr.String()
}

// listenHost returns the name that an address to listen on has, if it has one.
func listenHost(listen string) []string {
	name, _, err := net.SplitHostPort(listen)
	if err != nil || name == "" || net.ParseIP(name) != nil {
		return nil
	}
	return []string{name}
}
