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
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/authz"
	"termhost/cmd/termhost/config"
	"termhost/cmd/termhost/logs"
	"termhost/keys"
)

// access holds the host's own keys, and the keys and tokens of those who may log in.
type access struct {
	log       *slog.Logger
	signers   []gossh.Signer
	ring      *keys.Ring
	authority *authz.Authority
	audit     *logs.Audit
	identity  string // file of the client key that was made on a first run; "": none was
	first     bool   // that run is this one

	directory atomic.Pointer[authz.Directory] // in force

	home  string   // the home folder of the user who runs the host
	own   string   // the authorized_keys file in the state folder
	lines []string // the key lines of the configuration in force; used by setPrincipals only
}

// directoryOf returns the directory of the configuration's principals.
func directoryOf(principals []config.Principal) (*authz.Directory, error) {
	var entries []authz.Entry
	for _, p := range principals {
		role, err := authz.ParseRole(p.Role)
		if err != nil {
			return nil, err
		}
		e := authz.Entry{Name: p.Name, Role: role,
			Limits: authz.Limits{Connections: p.MaxConnections, Terminals: p.MaxTerminals}}
		for _, uid := range p.UIDs {
			e.UIDs = append(e.UIDs, uint32(uid))
		}
		for _, k := range p.Keys {
			e.Keys = append(e.Keys, cmp.Or(k.Line, k.Fingerprint))
		}
		entries = append(entries, e)
	}
	return authz.NewDirectory(entries)
}

// setPrincipals puts other principals in force, and ends connections that they do not allow. It
// must not be called concurrently.
func (a *access) setPrincipals(principals []config.Principal) error {
	directory, err := directoryOf(principals)
	if err != nil {
		return err
	}
	// A key that a line authorises but no entry names would be an admin's. So lines are removed
	// before their entries, and added after them.
	fresh := directory.Lines()
	gone := func(line string) bool { return !slices.Contains(fresh, line) }
	if err := a.ring.SetLines(slices.DeleteFunc(slices.Clone(a.lines), gone)); err != nil {
		return err
	}
	a.authority.SetDirectory(directory)
	a.directory.Store(directory)
	a.lines = fresh
	return a.ring.SetLines(fresh)
}

// openAccess reads all keys. If nobody could log in on a first run, it makes a client key.
func openAccess(cfg config.Config, log *slog.Logger) (*access, error) {
	first, err := isFirstRun(cfg)
	if err != nil {
		return nil, err
	}
	if err := keys.EnsureStateDir(cfg.StateDir); err != nil {
		return nil, err
	}
	a := &access{log: log}
	login := "owner"
	if u, err := user.Current(); err == nil {
		login = u.Username
	}
	a.own = keys.AuthorizedKeysFile(cfg.StateDir)
	if first || exists(a.own) {
		key, err := keys.EnsureClientKey(cfg.StateDir, login, rand.Reader)
		if err != nil {
			return nil, err
		}
		a.identity, a.first = key.Path, first
	}
	directory, err := directoryOf(cfg.Principals)
	if err != nil {
		return nil, err
	}
	a.lines = directory.Lines()
	a.directory.Store(directory)
	home, err := config.Home()
	if err != nil {
		return nil, err
	}
	a.home = home
	options := a.files(cfg.SSH)
	options.Lines, options.LoginUser = directory.Lines(), login
	options.Home, options.StateDir, options.Log = home, cfg.StateDir, log
	options.Leads = a.isAdmin
	a.ring, err = keys.Open(options)
	if err != nil {
		return nil, err
	}
	// This comes late because it writes to the state folder, which must stay empty if the start
	// is refused: the next one is a first run still.
	a.signers, err = hostKeys(cfg)
	if err != nil {
		return nil, errors.Join(err, a.ring.Close())
	}
	tokens, err := keys.OpenTokens(keys.TokenOptions{StateDir: cfg.StateDir, Rand: rand.Reader})
	if err != nil {
		return nil, errors.Join(err, a.ring.Close())
	}
	invitations, err := keys.OpenInvitations(
		keys.TokenOptions{StateDir: cfg.StateDir, Rand: rand.Reader})
	if err != nil {
		return nil, errors.Join(err, a.ring.Close())
	}
	pageKey, err := keys.PageKey(cfg.StateDir, rand.Reader)
	if err != nil {
		return nil, errors.Join(err, a.ring.Close())
	}
	a.audit = openAudit(cfg, log)
	a.authority = authz.NewAuthority(authz.AuthorityOptions{
		Ring: a.ring, Tokens: tokens, Invitations: invitations, Directory: directory,
		PageKey: pageKey, Clock: time.Now, Log: log, Audit: a.audit.Logger,
	})
	if a.ring.Empty() {
		log.Warn("nobody can log in: no key is authorised", "files", cfg.SSH.AuthorizedKeysFiles)
	}
	return a, nil
}

// isAdmin reports whether a key is an admin's.
func (a *access) isAdmin(id keys.Identity) bool {
	p, err := a.directory.Load().KeyPrincipal(id)
	return err == nil && p.Role == authz.Admin
}

// files returns the files that say who may log in.
func (a *access) files(cfg config.SSH) keys.Options {
	return keys.Options{
		AuthorizedKeysFiles: append([]string{a.own}, cfg.AuthorizedKeysFiles...),
		TrustedUserCAFiles:  cfg.TrustedUserCAFiles,
		RevokedKeysFile:     cfg.RevokedKeysFile,
	}
}

// hostKeys reads the host's own keys.
func hostKeys(cfg config.Config) ([]gossh.Signer, error) {
	return keys.HostKeys(keys.HostKeyOptions{StateDir: cfg.StateDir,
		Files: cfg.SSH.HostKeyFiles, CertificateFiles: cfg.SSH.HostCertificateFiles,
		Rand: rand.Reader})
}

// configure puts other files and principals in force, and ends connections that they do not allow.
// After an error nothing has changed. It must not be called concurrently.
func (a *access) configure(old, next config.Config) error {
	before, after := a.files(old.SSH), a.files(next.SSH)
	switch samePeople := reflect.DeepEqual(old.Principals, next.Principals); {
	case !reflect.DeepEqual(before, after):
	case samePeople:
		return nil
	default:
		return a.setPrincipals(next.Principals)
	}
	// A key of a file that no principal names would be an admin's. So files are removed before
	// the principals change, and added after that.
	both := before
	both.AuthorizedKeysFiles = common(before.AuthorizedKeysFiles, after.AuthorizedKeysFiles)
	both.TrustedUserCAFiles = common(before.TrustedUserCAFiles, after.TrustedUserCAFiles)
	err := a.ring.SetFiles(both)
	if err == nil {
		err = a.setPrincipals(next.Principals)
	}
	if err == nil {
		err = a.ring.SetFiles(after)
	}
	if err == nil {
		return nil
	}
	// Should what was in force not be accepted any more, fewer keys are in force, not more.
	return errors.Join(err, a.setPrincipals(old.Principals), a.ring.SetFiles(before))
}

// errNobody refuses a configuration. Who wants that ends the host.
var errNobody = errors.New("with it nobody could log in any more: it names no key, and its" +
	" authorized_keys files have none; to have that, stop the host")

// staysOpen returns errNobody if somebody may log in now and nobody could with another
// configuration. One that names the same keys changes nothing about that, even if their files are
// empty now: what they had may be in force still. A file that configure would refuse is not
// staysOpen's business.
func (a *access) staysOpen(old, next config.Config) error {
	same := reflect.DeepEqual(a.files(old.SSH), a.files(next.SSH)) &&
		reflect.DeepEqual(old.Principals, next.Principals)
	if same || a.ring.Empty() {
		return nil
	}
	directory, err := directoryOf(next.Principals)
	if err != nil {
		return err
	}
	options := a.files(next.SSH)
	options.Lines, options.Home, options.StateDir = directory.Lines(), a.home, next.StateDir
	ring, err := keys.Open(options)
	if err != nil {
		return nil
	}
	defer ring.Close()
	if ring.Empty() {
		return errNobody
	}
	return nil
}

// common returns what is in both lists.
func common(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return !slices.Contains(b, s) })
}

func (a *access) close() error {
	return errors.Join(a.authority.Close(), a.ring.Close(), a.audit.Close())
}

// isFirstRun reports whether nothing is set up yet: there is no state, nobody is authorised, and
// only this machine can connect.
func isFirstRun(cfg config.Config) (bool, error) {
	if !config.IsLoopback(cfg.SSH.Listen) || len(cfg.Principals) > 0 ||
		len(cfg.SSH.TrustedUserCAFiles) > 0 {
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
	// The keeper may have been started first: systemd does so.
	used := func(e fs.DirEntry) bool { return e.Name() != keeperName }
	return !slices.ContainsFunc(entries, used), nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// writeKnownHosts writes a known_hosts file for the address to the state folder. It returns the
// file's path, or "" if there is none for that address or it cannot be written, which is logged.
func (a *access) writeKnownHosts(stateDir, addr string) string {
	path := filepath.Join(stateDir, "known_hosts")
	var public []gossh.PublicKey
	for _, s := range a.signers {
		if _, isCert := s.PublicKey().(*gossh.Certificate); !isCert {
			public = append(public, s.PublicKey())
		}
	}
	err := keys.WriteKnownHosts(path, addr, public)
	if err != nil && !errors.Is(err, keys.ErrNoHost) {
		a.log.Warn("ssh cannot be told the host's key", "err", err)
	}
	if err != nil {
		return ""
	}
	return path
}
