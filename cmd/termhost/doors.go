//go:build linux && !laptop

package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"termhost/ahp/host"
	"termhost/ahp/mcp"
	"termhost/ahp/page"
	"termhost/ahp/rpc"
	"termhost/ahp/ws"
	"termhost/authz"
	"termhost/authz/admit"
	"termhost/cmd/termhost/config"
	"termhost/ptypool/statefile"
	"termhost/sshd"
)

// noLimit turns a limit of the doors off. In the configuration that is 0, which the doors take for
// their default.
const noLimit = -1

// hostConfig returns the host's part of the configuration that is in force.
func (s *server) hostConfig() host.Config {
	cfg := s.cfg
	hostname, _ := os.Hostname() // "": it has none
	return host.Config{
		StateDir:          cfg.StateDir,
		Version:           version(),
		Socket:            s.socketPath(),
		Hostname:          hostname,
		PageURL:           s.pageURL(),
		Shell:             cfg.Terminal.Shell,
		Login:             cfg.Terminal.LoginShell,
		Term:              cfg.Terminal.Term,
		Env:               cfg.Terminal.Env,
		ShellIntegration:  cfg.Terminal.ShellIntegration,
		MaxTerminals:      cfg.Terminal.MaxTerminals,
		MaxConnections:    cfg.SSH.MaxConnections,
		MaxWebSockets:     cfg.HTTP.MaxConnections,
		MaxExited:         cfg.Terminal.MaxExited,
		ExitedTTL:         time.Duration(cfg.Terminal.ExitedTTL),
		ScrollbackBytes:   int(cfg.Terminal.ScrollbackBytes),
		LogBytes:          int(cfg.Terminal.LogBytes),
		Persist:           cfg.Terminal.Persist,
		Record:            cfg.Terminal.Record,
		RecordBytes:       int64(cfg.Terminal.RecordBytes),
		RecordTotalBytes:  int64(cfg.Terminal.RecordTotalBytes),
		InputShared:       cfg.Terminal.Input == config.InputShared,
		ClientGrace:       time.Duration(cfg.Terminal.ClientGrace),
		KeyboardIdle:      time.Duration(cfg.Terminal.KeyboardIdle),
		AttentionAfter:    time.Duration(cfg.Terminal.AttentionAfter),
		QuietAfter:        time.Duration(cfg.Terminal.QuietAfter),
		GuardAgents:       cfg.Terminal.GuardAgents,
		AgentsTypeSecrets: cfg.Terminal.Secrets == config.SecretsAll,
		ClientOutputRate:  int(cfg.Terminal.ClientOutputRate),
		Authority:         s.access.Authority,
		Log:               s.log,
		Audit:             s.access.Audit.Logger,
	}
}

// socketPath returns the path of the unix socket; "": there is none.
func (s *server) socketPath() string {
	if !s.cfg.HTTP.UnixSocket {
		return ""
	}
	return s.cfg.SocketPath()
}

// pageURL returns the URL of the web page for a browser on this machine; "": there is no page.
func (s *server) pageURL() string {
	if s.httpListener == nil {
		return ""
	}
	scheme := "http"
	if s.cfg.HTTP.TLSCertFile != "" {
		scheme = "https"
	}
	return scheme + "://" + reachable(s.httpListener.Addr()) + "/"
}

// makeDoors makes the HTTP and the SSH server. Each passes connections to the other: an upgrade to
// SSH, and a connection forwarded over SSH to the HTTP server.
func (s *server) makeDoors() error {
	certificate, err := readCertificate(s.cfg.HTTP)
	if err != nil {
		return err
	}
	s.certificate.Store(certificate)
	s.mcp = mcp.New(mcp.Options{Version: version(), Log: s.log})
	s.mcp.SetWaits(s.cfg.MCP.CallWaits())
	s.mcpWeb = s.mcp.NewHTTP(mcp.HTTPOptions{})
	s.web = ws.New(s.webConfig())
	s.ssh, err = sshd.New(s.sshConfig())
	return err
}

// readCertificate reads the TLS certificate; nil: there is none.
func readCertificate(cfg config.HTTP) (*tls.Certificate, error) {
	if cfg.TLSCertFile == "" {
		return nil, nil
	}
	var cert tls.Certificate
	chain, err := statefile.Read(cfg.TLSCertFile)
	key, kerr := statefile.Read(cfg.TLSKeyFile)
	if err = errors.Join(err, kerr); err == nil {
		cert, err = tls.X509KeyPair(chain, key)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the TLS certificate: %w", err)
	}
	return &cert, nil
}

// webConfig returns the HTTP server's part of the configuration.
func (s *server) webConfig() ws.Config {
	cfg := s.cfg.HTTP
	web := ws.Config{
		Host:              s.host,
		Authority:         s.access.Authority,
		Path:              cfg.Path,
		AllowedOrigins:    cfg.AllowedOrigins,
		AllowedHosts:      append(hostName(cfg.Listen), cfg.AllowedHosts...),
		MaxFrameBytes:     int(cfg.MaxFrameBytes),
		MaxConnections:    cfg.MaxConnections,
		MaxSubscriptions:  cfg.MaxSubscriptions,
		RequestsPerSecond: s.requestsPerSecond(),
		Extend:            s.extend,
		Fleet:             &s.doorway,
		SSH: func(c net.Conn, p authz.Principal, within string) {
			s.ssh.ServeConn(c, p, within) // it is made later
		},
		Routes: append(page.Routes(page.Config{
			Authority: s.access.Authority, AHPPath: cfg.Path, Log: s.log,
			Room: func(g authz.Grant, p ws.Peer) error { return s.web.Room(g, p) },
		}), s.mcpRoute()),
		Refuse:      page.Refuse,
		NoPenalties: !s.cfg.SSH.Penalties,
		Log:         s.log,
	}
	if cfg.TLSCertFile != "" {
		web.TLS = &tls.Config{
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
				return s.certificate.Load(), nil
			},
			MinVersion: tls.VersionTLS12,
		}
	}
	return web
}

// mcpRoute returns the HTTP server's row for MCP.
func (s *server) mcpRoute() ws.Route {
	return ws.Route{
		Path:    "/mcp",
		Methods: []string{http.MethodPost, http.MethodGet, http.MethodDelete},
		Long:    true,
		Handle: func(w http.ResponseWriter, r *http.Request, p ws.Peer) error {
			source := p.Source()
			source.Door = host.DoorMCP
			s.mcpWeb.Serve(w, r, mcp.HTTPPeer{
				Peer: mcp.Peer{Host: s.host, Principal: p.Principal, Source: source,
					Proof: p.Proof()},
				Follow: p.Follow,
			})
			return nil
		},
	}
}

// sshConfig returns the SSH server's part of the configuration.
func (s *server) sshConfig() sshd.Config {
	cfg := s.cfg.SSH
	keepalive := time.Duration(cfg.KeepaliveInterval)
	if keepalive == 0 {
		keepalive = noLimit
	}
	return sshd.Config{
		Host:      s.host,
		Authority: s.access.Authority,
		HostKeys:  s.access.Signers,
		Forward: func(c net.Conn, p authz.Principal) {
			if err := s.web.ServeConn(c, p); err != nil {
				s.log.Debug("forward ended", "principal", p.Name, "reason", err)
			}
		},
		Policy:     policyOf(&s.cfg),
		Fleet:      s.fleetVerbs,
		NoFleet:    s.noFleet,
		Jump:       s.jump,
		StateDir:   s.cfg.StateDir,
		FileServer: fileServer(),
		AHP: rpc.Options{
			MaxSubscriptions:  s.cfg.HTTP.MaxSubscriptions,
			RequestsPerSecond: s.requestsPerSecond(),
			Extend:            s.extend,
			Fleet:             &s.doorway,
			Log:               s.log,
		},
		MCP:               s.mcp,
		TestNotify:        s.testNotify,
		FirstLogin:        func(p authz.Principal) bool { return s.access.Logins.First(p.ID) },
		MaxMessageBytes:   int(s.cfg.HTTP.MaxFrameBytes),
		HandshakeTimeout:  time.Duration(cfg.HandshakeTimeout),
		MaxAuthTries:      cfg.MaxAuthTries,
		MaxConnections:    cfg.MaxConnections,
		MaxStartups:       admit.Startups(cfg.MaxStartups),
		NoPenalties:       !cfg.Penalties,
		MaxSessions:       cfg.MaxSessionsPerConnection,
		KeepaliveInterval: keepalive,
		DetachPrefix:      byte(s.cfg.Terminal.DetachPrefix),
		NoPrefix:          s.cfg.Terminal.DetachPrefix == 0,
		Version:           version(),
		Log:               s.log,
	}
}

// fileServer returns the command line of the server for the SSH subsystem sftp; nil: the path of
// this program is unknown.
func fileServer() []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{self, sftpServerName}
}

// policyOf returns which parts of an ordinary SSH server the configuration turns on.
func policyOf(cfg *config.Config) sshd.Policy {
	forwarding := map[string]sshd.Forwarding{
		config.ForwardingLoopback: sshd.ForwardLoopback,
		config.ForwardingAny:      sshd.ForwardAnywhere,
	}
	return sshd.Policy{
		Forwarding:      forwarding[cfg.SSH.Forwarding],
		AgentForwarding: cfg.SSH.AgentForwarding,
		SFTP:            cfg.SSH.SFTP,
		Shell:           cfg.SSH.Exec == config.ExecShell,
		LoginLast:       cfg.Terminal.Login == config.LoginLast,
		Quiet:           !cfg.Terminal.Attention,
		Status:          cfg.Attach.Status == config.StatusLine,
	}
}

// requestsPerSecond returns how many messages a second one AHP connection may send.
func (s *server) requestsPerSecond() int {
	if n := s.cfg.HTTP.RequestsPerSecond; n != 0 {
		return n
	}
	return noLimit
}

// extend returns the methods that a connection has beyond AHP: ACP's terminal methods.
func (s *server) extend(c *host.Conn) rpc.Extension { return s.acp.Terminals(c) }
