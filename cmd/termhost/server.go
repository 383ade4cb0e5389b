//go:build linux && !laptop

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/acp"
	"termhost/ahp/host"
	"termhost/ahp/journal"
	"termhost/ahp/mcp"
	"termhost/ahp/rpc/relay"
	"termhost/ahp/ws"
	"termhost/cmd/termhost/access"
	"termhost/cmd/termhost/config"
	"termhost/cmd/termhost/hostlock"
	"termhost/cmd/termhost/notify"
	"termhost/ptypool/keeper"
	"termhost/sshd"
)

// server is a running host with its doors.
type server struct {
	cfg    config.Config // in force; configure changes it
	log    *slog.Logger
	lock   *os.File
	access *access.Keys
	keeper *keeper.Link // nil: this process is the parent of the programs in terminals
	host   *host.Host
	acp    *acp.Methods
	ssh    *sshd.Server
	web    *ws.Server
	mcp    *mcp.Server
	mcpWeb *mcp.HTTP

	notifier *notify.Notifier
	unnotify func() // ends what wakes it

	certificate atomic.Pointer[tls.Certificate] // of the HTTP door; nil: none

	sshListener  net.Listener
	httpListener net.Listener // nil: none
	unixListener net.Listener // nil: none

	fleet      atomic.Pointer[fleetMember] // nil: none
	fleetFile  os.FileInfo                 // what followFleet has seen last
	fleetOut   atomic.Pointer[fleetOut]    // nil: the host is in its fleet, or has none
	fleetDoors atomic.Pointer[map[string]string]
	doorway    relay.Doorway // to the other hosts, for AHP

	watching     sync.WaitGroup // for watchKeeper's goroutine
	stopWatching func()         // ends it; nil: there is none

	stopping atomic.Bool
	failed   chan error // gets the error of a door that has ended by itself
	doors    sync.WaitGroup
}

// startServer starts a host and opens its doors. If it fails, nothing is left behind.
func startServer(cfg config.Config, log *slog.Logger) (_ *server, err error) {
	s := &server{cfg: cfg, log: log, failed: make(chan error, 3)}
	defer func() {
		if err != nil {
			s.abandon()
		}
	}()
	if s.access, err = access.Open(cfg, log); err != nil {
		return nil, err
	}
	if s.lock, err = hostlock.Lock(cfg.StateDir, log); err != nil {
		return nil, err
	}
	if err = journal.CheckFormats(cfg.StateDir); err != nil {
		return nil, err
	}
	if err = s.listen(); err != nil {
		return nil, err
	}
	if cfg.Terminal.Keep {
		if err = s.keepTerminals(); err != nil {
			return nil, err
		}
	}
	hosting := s.hostConfig()
	if s.keeper != nil {
		hosting.Keeper = s.keeper
	}
	if s.host, err = host.New(hosting); err != nil {
		return nil, err
	}
	s.acp = acp.NewMethods(s.host, log)
	s.startNotifier()
	if err = s.makeDoors(); err != nil {
		return nil, err
	}
	s.watchKeeper()
	s.fleetDoors.Store(&s.cfg.Fleet.Doors)
	s.open()
	s.followFleet()
	return s, nil
}

// abandon releases what a failed start has taken.
func (s *server) abandon() {
	s.endNotifier()
	for _, l := range []net.Listener{s.sshListener, s.httpListener, s.unixListener} {
		if l != nil {
			l.Close()
		}
	}
	if s.keeper != nil {
		if left, err := s.keeper.List(); err == nil && len(left) == 0 {
			_ = s.endKeeper() // the user is told why the start failed, which matters more
		}
	}
	if s.access != nil {
		s.access.Close()
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
		if s.unixListener, err = ws.ListenUnix(s.cfg.SocketPath()); err != nil {
			return err
		}
	}
	return nil
}

// open starts to accept connections.
func (s *server) open() {
	s.run("ssh", func() error { return s.ssh.Serve(s.sshListener) })
	if s.httpListener != nil {
		s.run("http", func() error { return s.web.Serve(s.httpListener) })
	}
	if s.unixListener != nil {
		s.run("unix socket", func() error { return s.web.ServeUnix(s.unixListener) })
	}
}

// run keeps a door open in the background. A door that ends by itself ends the program.
func (s *server) run(name string, serve func() error) {
	s.doors.Add(1)
	go func() {
		defer s.doors.Done()
		if err := serve(); !s.stopping.Load() {
			s.failed <- fmt.Errorf("the %s door has failed: %w", name, err)
		}
	}()
}

// shutdown ends everything. It accepts no more connections, hangs up the terminals, which everybody
// who is attached still sees, and then closes the connections.
func (s *server) shutdown(ctx context.Context) error {
	s.closeDoors()
	err := s.host.Shutdown(ctx)
	return errors.Join(err, s.closeConnections(ctx), s.endKeeper(), s.access.Close(),
		s.lock.Close())
}

// leave ends the host, and leaves the terminals to the keeper, which takes over when this process
// has ended.
func (s *server) leave(ctx context.Context, out io.Writer) error {
	s.closeDoors()
	n, err := s.host.Leave(ctx)
	if n > 0 {
		s.log.Info("the keeper has the terminals", slog.Int("terminals", n))
		fmt.Fprintf(out, "%s on with the keeper; the next `termhost serve` has %s, and "+
			"`termhost stop` ends %[2]s\n", count(n, "terminal goes", "terminals go"),
			choose(n, "it", "them"))
	} else {
		err = errors.Join(err, s.endKeeper())
	}
	return errors.Join(err, s.closeConnections(ctx), s.access.Close(), s.lock.Close())
}

// closeDoors accepts no more connections.
func (s *server) closeDoors() {
	s.stopping.Store(true)
	s.endNotifier()
	if s.stopWatching != nil { // the keeper may end now
		s.stopWatching()
		s.watching.Wait()
	}
	s.sshListener.Close()
	s.web.Stop()
}

func (s *server) closeConnections(ctx context.Context) error {
	s.mcpWeb.Close()
	err := errors.Join(s.ssh.Shutdown(ctx), s.web.Shutdown(ctx))
	s.leaveFleet()
	s.doors.Wait()
	return err
}

// greeting returns what to tell the user about the running host.
func (s *server) greeting() greeting {
	ssh := reachable(s.sshListener.Addr())
	g := greeting{
		ssh:         ssh,
		identity:    s.access.Identity,
		first:       s.access.First,
		knownHosts:  s.access.WriteKnownHosts(s.cfg.StateDir, ssh),
		fingerprint: gossh.FingerprintSHA256(s.access.Signers[0].PublicKey()),
		page:        s.pageURL(),
		nameless:    s.access.Authority.Nameless(),
	}
	if at, ok := strings.CutPrefix(g.page, "http"); ok {
		g.webSocket = "ws" + strings.TrimSuffix(at, "/") + s.cfg.HTTP.Path
	}
	if s.unixListener != nil {
		g.socket = s.cfg.SocketPath()
	}
	return g
}
