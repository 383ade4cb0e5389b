package main

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/authz"
	"termhost/keys"
)

// access is who may come in: the host's own keys, the people's and the tokens.
type access struct {
	signers   []gossh.Signer
	ring      *keys.Ring
	authority *authz.Authority
	identity  string // the client key made on a first run; ""

	lines []string // the key lines of the configuration in force; see setPrincipals
}

// directoryOf returns the directory of the configuration's principals.
func directoryOf(principals []principalConfig) (*authz.Directory, error) {
	var entries []authz.Entry
	for _, p := range principals {
		role, err := authz.ParseRole(p.Role)
		if err != nil {
			return nil, err
		}
		e := authz.Entry{Name: p.Name, Role: role}
		for _, k := range p.Keys {
			e.Keys = append(e.Keys, cmp.Or(k.Line, k.Fingerprint))
		}
		entries = append(entries, e)
	}
	return authz.NewDirectory(entries)
}

// setPrincipals puts other principals in force. What they may no longer do, they
// are disconnected from. It is called by one goroutine.
func (a *access) setPrincipals(principals []principalConfig) error {
	directory, err := directoryOf(principals)
	if err != nil {
		return err
	}
	// A key that a line lets in and no entry names would be an admin: the lines
	// that go, go before the entries do, and new ones come after them.
	fresh := directory.Lines()
	stay := slices.DeleteFunc(slices.Clone(a.lines), func(line string) bool { return !slices.Contains(fresh, line) })
	if err := a.ring.SetLines(stay); err != nil {
		return err
	}
	a.authority.SetDirectory(directory)
	a.lines = fresh
	return a.ring.SetLines(fresh)
}

// openAccess reads all keys. On a first run without any it makes a client key.
func openAccess(cfg config, log *slog.Logger) (*access, error) {
	first, err := isFirstRun(cfg)
	if err != nil {
		return nil, err
	}
	if err := keys.EnsureStateDir(cfg.StateDir); err != nil {
		return nil, err
	}
	a := &access{}
	login := "owner"
	if u, err := user.Current(); err == nil {
		login = u.Username
	}
	own := keys.AuthorizedKeysFile(cfg.StateDir)
	if first || exists(own) {
		key, err := keys.EnsureClientKey(cfg.StateDir, login, rand.Reader)
		if err != nil {
			return nil, err
		}
		a.identity = key.Path
	}
	directory, err := directoryOf(cfg.Principals)
	if err != nil {
		return nil, err
	}
	a.lines = directory.Lines()
	env, err := currentEnvironment()
	if err != nil {
		return nil, err
	}
	a.ring, err = keys.Open(keys.Options{
		AuthorizedKeysFiles: append([]string{own}, cfg.SSH.AuthorizedKeysFiles...),
		TrustedUserCAFiles:  cfg.SSH.TrustedUserCAFiles,
		RevokedKeysFile:     cfg.SSH.RevokedKeysFile,
		Lines:               directory.Lines(),
		LoginUser:           login,
		Home:                env.home,
		StateDir:            cfg.StateDir,
		Log:                 log,
	})
	if err != nil {
		return nil, err
	}
	// Last, because it fills the state folder: a start that was refused before is
	// a first one still.
	a.signers, err = keys.HostKeys(keys.HostKeyOptions{StateDir: cfg.StateDir, Files: cfg.SSH.HostKeyFiles,
		CertificateFiles: cfg.SSH.HostCertificateFiles, Rand: rand.Reader})
	if err != nil {
		return nil, errors.Join(err, a.ring.Close())
	}
	tokens, err := keys.OpenTokens(keys.TokenOptions{StateDir: cfg.StateDir, Rand: rand.Reader})
	if err != nil {
		return nil, errors.Join(err, a.ring.Close())
	}
	a.authority = authz.NewAuthority(authz.AuthorityOptions{Ring: a.ring, Tokens: tokens, Directory: directory, Clock: time.Now, Log: log})
	if a.ring.Empty() {
		log.Warn("nobody can log in: no key is authorised", "files", cfg.SSH.AuthorizedKeysFiles)
	}
	return a, nil
}

func (a *access) close() error { return errors.Join(a.authority.Close(), a.ring.Close()) }

// isFirstRun reports whether nothing is set up yet: no state, nobody's keys, and
// only this machine can connect.
func isFirstRun(cfg config) (bool, error) {
	if !isLoopback(cfg.SSH.Listen) || len(cfg.Principals) > 0 || len(cfg.SSH.TrustedUserCAFiles) > 0 {
		return false, nil
	}
	for _, f := range cfg.SSH.AuthorizedKeysFiles {
		if exists(f) {
			return false, nil
		}
	}
	entries, err := os.ReadDir(cfg.StateDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("cannot read the state folder: %w", err)
	}
	return len(entries) == 0, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// writeKnownHosts leaves a known_hosts file for the address in the state folder
// and returns its path; "" if the address names no host.
func (a *access) writeKnownHosts(stateDir, addr string) string {
	path := filepath.Join(stateDir, "known_hosts")
	var public []gossh.PublicKey
	for _, s := range a.signers {
		if _, isCert := s.PublicKey().(*gossh.Certificate); !isCert {
			public = append(public, s.PublicKey())
		}
	}
	if err := keys.WriteKnownHosts(path, addr, public); err != nil {
		return ""
	}
	return path
}
