//go:build linux && !laptop

package main

import (
	"fmt"
	"maps"
	"strings"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/cmd/termhost/access"
	"termhost/cmd/termhost/config"
	"termhost/cmd/termhost/service"
	"termhost/keys"
)

// configInterval is how often the configuration file is checked for changes, like the key files.
const configInterval = time.Second

// reload reads the configuration file and puts its changes in force. It logs which keys have
// changed, and which have to wait for a restart. A file with mistakes changes nothing. One that is
// refused because of the files that it names is read again when one of these changes.
func (s *server) reload(f *config.File) {
	if f.Path() != "" {
		keys.AtRest(f.Path())
	}
	f.Changed()
	loaded, err := config.LoadAgain(f.Path(), s.cfg)
	if err != nil {
		// A *config.Error has a line for each mistake.
		for line := range strings.SplitSeq(err.Error(), "\n") {
			s.log.Error("the configuration stays as it was", "mistake", line)
		}
		return
	}
	next, taken, waiting := config.Reload(s.cfg, loaded)
	files := s.access.Files(next.SSH)
	keys.AtRest(files...)
	f.Await(files...)
	if err := s.configure(next); err != nil {
		s.log.Error("the configuration stays as it was", "err", err)
		return
	}
	f.Await()
	if len(taken) > 0 {
		s.log.Info("the configuration has changed", "keys", taken)
	}
	if len(waiting) > 0 {
		s.log.Warn("the configuration has changed; restart to put these keys in force",
			"keys", waiting)
	}
}

// reloadAll does what SIGHUP asks for: it also reads the keys and certificates again.
func (s *server) reloadAll(f *config.File) {
	s.log.Info("reading configuration, keys and certificates again", "file", f.Path())
	s.access.Ring.ReloadAtRest()
	if err := s.access.Audit.Reopen(); err != nil {
		s.log.Error("the audit log stays where it was", "err", err)
	}
	s.reload(f)
}

// configure puts a configuration in force whose listeners and state folder are the same. After an
// error nothing has changed. It must not be called concurrently.
func (s *server) configure(next config.Config) error {
	if err := s.access.StaysOpen(s.cfg, next); err != nil {
		return err
	}
	signers, err := access.HostKeys(next)
	if err != nil {
		return err
	}
	certificate, err := readCertificate(next.HTTP)
	if err != nil {
		return err
	}
	old, oldSigners := s.cfg, s.access.Signers
	s.cfg, s.access.Signers = next, signers
	if err = s.ssh.Configure(s.sshConfig()); err == nil {
		err = s.access.Configure(old, next)
	}
	if err != nil {
		s.cfg, s.access.Signers = old, oldSigners
		if undo := s.ssh.Configure(s.sshConfig()); undo != nil {
			return fmt.Errorf("%w; and then: %w", err, undo)
		}
		return err
	}
	doors := s.cfg.Fleet.Doors
	s.fleetDoors.Store(&doors)
	if !maps.Equal(old.Fleet.Doors, doors) {
		s.checkDoors()
	}
	s.access.Authority.Recheck()
	s.certificate.Store(certificate)
	s.host.Configure(s.hostConfig())
	s.web.Configure(s.webConfig())
	s.mcp.SetWaits(s.cfg.MCP.CallWaits())
	s.notifier.SetTargets(s.targets())
	service.SetMemoryLimit(int64(next.MemoryLimit), s.log)
	if !sameKeys(oldSigners, signers) {
		s.access.WriteKnownHosts(next.StateDir, reachable(s.sshListener.Addr()))
		s.log.Info("the host keys have changed",
			"key", gossh.FingerprintSHA256(signers[0].PublicKey()))
	}
	return nil
}

// sameKeys reports whether two lists of signers have the same keys and certificates.
func sameKeys(a, b []gossh.Signer) bool {
	same := len(a) == len(b)
	for i := 0; same && i < len(a); i++ {
		same = string(a[i].PublicKey().Marshal()) == string(b[i].PublicKey().Marshal())
	}
	return same
}
