// Package access says who may log in to a host: it reads the keys, tokens and principals that a
// configuration names into a keys.Ring and an authz.Authority, makes what is missing on a first
// run, and puts another configuration in force without a moment in which anybody may do more than
// one of the two allows.
package access

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

// Keys holds the host's own keys, and the keys and tokens of those who may log in. Configure and
// StaysOpen must not be called concurrently, and the fields are not to be changed meanwhile.
type Keys struct {
	Signers   []gossh.Signer // the host's own keys, as [HostKeys] has read them
	Ring      *keys.Ring
	Authority *authz.Authority
	Audit     *logs.Audit
	Logins    *keys.Logins
	Identity  string // file of the client key that was made on a first run; "": none was
	First     bool   // that run is this one

	log       *slog.Logger
	directory atomic.Pointer[authz.Directory] // in force

	home  string   // the home folder of the user who runs the host
	own   string   // the authorized_keys file in the state folder
	lines []string // the key lines of the configuration in force; used by setPrincipals only
}

// directoryOf returns the directory of a configuration's people.
func directoryOf(cfg config.Config) (*authz.Directory, error) {
	var entries []authz.Entry
	for _, p := range cfg.Principals {
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
	d, err := authz.NewDirectory(entries)
	if err != nil {
		return nil, err
	}
	return d.ForMe(cfg.People.Me), nil
}

// setPrincipals puts other principals in force, and ends connections that they do not allow. It
// must not be called concurrently.
func (a *Keys) setPrincipals(cfg config.Config) error {
	directory, err := directoryOf(cfg)
	if err != nil {
		return err
	}
	// A key that has a line but no entry is an admin's. So a line is removed before its entry, and
	// added after it.
	fresh := directory.Lines()
	gone := func(line string) bool { return !slices.Contains(fresh, line) }
	if err := a.Ring.SetLines(slices.DeleteFunc(slices.Clone(a.lines), gone)); err != nil {
		return err
	}
	a.Authority.SetDirectory(directory)
	a.directory.Store(directory)
	a.lines = fresh
	if err := a.Ring.SetLines(fresh); err != nil {
		return err
	}
	a.warnOfMe(cfg)
	return nil
}

// warnOfMe logs it if the configuration names nobody as the host's own user.
func (a *Keys) warnOfMe(cfg config.Config) {
	if why := a.Authority.Nameless(); cfg.People.Me != "" && why != "" {
		a.log.Warn("this machine's user has no name: " + why)
	}
}

// Open reads all keys, and opens the audit log. If nobody could log in on a first run, it makes a
// client key. The result must be closed.
func Open(cfg config.Config, log *slog.Logger) (*Keys, error) {
	first, err := isFirstRun(cfg)
	if err != nil {
		return nil, err
	}
	if err := keys.EnsureStateDir(cfg.StateDir); err != nil {
		return nil, err
	}
	a := &Keys{log: log}
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
		a.Identity, a.First = key.Path, first
	}
	directory, err := directoryOf(cfg)
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
	a.Ring, err = keys.Open(options)
	if err != nil {
		return nil, err
	}
	// This comes late because it writes to the state folder. If the start is refused, the folder
	// must stay empty, so that the next start is a first run, too.
	a.Signers, err = HostKeys(cfg)
	if err != nil {
		return nil, errors.Join(err, a.Ring.Close())
	}
	tokens, err := keys.OpenTokens(keys.TokenOptions{StateDir: cfg.StateDir, Rand: rand.Reader})
	if err != nil {
		return nil, errors.Join(err, a.Ring.Close())
	}
	invitations, err := keys.OpenInvitations(
		keys.TokenOptions{StateDir: cfg.StateDir, Rand: rand.Reader})
	if err != nil {
		return nil, errors.Join(err, a.Ring.Close())
	}
	links, err := keys.OpenLinks(keys.TokenOptions{StateDir: cfg.StateDir, Rand: rand.Reader})
	if err != nil {
		return nil, errors.Join(err, a.Ring.Close())
	}
	pageKey, err := keys.PageKey(cfg.StateDir, rand.Reader)
	if err != nil {
		return nil, errors.Join(err, a.Ring.Close())
	}
	a.Logins = keys.OpenLogins(cfg.StateDir, log)
	a.Audit = openAudit(cfg, log)
	a.Authority = authz.NewAuthority(authz.AuthorityOptions{
		Ring: a.Ring, Tokens: tokens, Invitations: invitations, Links: links,
		Directory: directory, PageKey: pageKey, Clock: time.Now, Log: log, Audit: a.Audit.Logger,
	})
	a.warnOfMe(cfg)
	if a.Ring.Empty() {
		log.Warn("nobody can log in: no key is authorised", "files", cfg.SSH.AuthorizedKeysFiles)
	}
	return a, nil
}

// isAdmin reports whether a key is an admin's.
func (a *Keys) isAdmin(id keys.Identity) bool {
	p, err := a.directory.Load().KeyPrincipal(id)
	return err == nil && p.Role == authz.Admin
}

// Files returns the paths of the files of a configuration that say who may log in.
func (a *Keys) Files(cfg config.SSH) []string {
	options := a.files(cfg)
	return options.Paths()
}

// files returns the files that say who may log in.
func (a *Keys) files(cfg config.SSH) keys.Options {
	return keys.Options{
		AuthorizedKeysFiles: append([]string{a.own}, cfg.AuthorizedKeysFiles...),
		TrustedUserCAFiles:  cfg.TrustedUserCAFiles,
		RevokedKeysFile:     cfg.RevokedKeysFile,
	}
}

// HostKeys reads the host's own keys.
func HostKeys(cfg config.Config) ([]gossh.Signer, error) {
	return keys.HostKeys(keys.HostKeyOptions{StateDir: cfg.StateDir,
		Files: cfg.SSH.HostKeyFiles, CertificateFiles: cfg.SSH.HostCertificateFiles,
		Rand: rand.Reader})
}

// Configure puts other files and principals in force, and ends connections that they do not allow.
// After an error nothing has changed.
func (a *Keys) Configure(old, next config.Config) error {
	before, after := a.files(old.SSH), a.files(next.SSH)
	switch same := samePeople(old, next); {
	case !reflect.DeepEqual(before, after):
	case same:
		return nil
	default:
		return a.setPrincipals(next)
	}
	// A key of a file that no principal names is an admin's. So files are removed before the
	// principals change, and added after that.
	both := before
	both.AuthorizedKeysFiles = common(before.AuthorizedKeysFiles, after.AuthorizedKeysFiles)
	both.TrustedUserCAFiles = common(before.TrustedUserCAFiles, after.TrustedUserCAFiles)
	err := a.Ring.SetFiles(both)
	if err == nil {
		err = a.setPrincipals(next)
	}
	if err == nil {
		err = a.Ring.SetFiles(after)
	}
	if err == nil {
		return nil
	}
	// If the old configuration is refused now as well, fewer keys are in force, not more.
	return errors.Join(err, a.setPrincipals(old), a.Ring.SetFiles(before))
}

// samePeople reports whether two configurations name the same people.
func samePeople(a, b config.Config) bool {
	return reflect.DeepEqual(a.Principals, b.Principals) && a.People == b.People
}

// errNobody refuses a configuration.
var errNobody = errors.New("with it nobody could log in any more: it names no key, and its" +
	" authorized_keys files have none; to have that, stop the host")

// StaysOpen returns an error if somebody may log in now and nobody could with another
// configuration. One that names the same keys is accepted even if their files are empty now: the
// keys that the files had may still be in force. A file that Configure would refuse is not
// StaysOpen's business.
func (a *Keys) StaysOpen(old, next config.Config) error {
	same := reflect.DeepEqual(a.files(old.SSH), a.files(next.SSH)) && samePeople(old, next)
	if same || a.Ring.Empty() {
		return nil
	}
	directory, err := directoryOf(next)
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

// Close closes the files, and stops watching them.
func (a *Keys) Close() error {
	return errors.Join(a.Authority.Close(), a.Ring.Close(), a.Audit.Close())
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
	used := func(e fs.DirEntry) bool { return e.Name() != filepath.Base(cfg.KeeperFolder()) }
	return !slices.ContainsFunc(entries, used), nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// knownHostsFile is the path of the file in the state folder that tells ssh the host's keys.
func knownHostsFile(stateDir string) string { return filepath.Join(stateDir, "known_hosts") }

// Login returns how ssh logs in to the host that has used a state folder last: its address, the
// file of the key that was made on a first run ("": none was), and the known_hosts file. The error
// wraps [fs.ErrNotExist] if no host has.
func Login(stateDir string) (addr, identity, knownHosts string, err error) {
	knownHosts = knownHostsFile(stateDir)
	addr, err = keys.KnownAddress(knownHosts)
	return addr, keys.FirstKey(stateDir), knownHosts, err
}

// WriteKnownHosts writes a known_hosts file for the address to the state folder. It returns the
// file's path, or "" if there is none for that address or it cannot be written, which is logged.
func (a *Keys) WriteKnownHosts(stateDir, addr string) string {
	path := knownHostsFile(stateDir)
	var public []gossh.PublicKey
	for _, s := range a.Signers {
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
