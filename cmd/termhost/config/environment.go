package config

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"unicode"
)

// environment is what a configuration depends on besides its text.
type environment struct {
	home       string // what "~" means; absolute
	stateHome  string // $XDG_STATE_HOME, or "" when unset or relative
	configHome string // $XDG_CONFIG_HOME, likewise
	uid        int    // of the user who would run the host
}

// currentEnvironment describes this process. It fails when there is no home folder.
func currentEnvironment() (environment, error) {
	home, err := Home()
	if err != nil {
		return environment{}, err
	}
	env := environment{home: home, uid: os.Getuid()}
	// A relative path is to be ignored (XDG Base Directory Specification, "Environment variables").
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		env.stateHome = dir
	}
	if dir := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		env.configHome = dir
	}
	return env, nil
}

// defaults returns the configuration without a file.
func (env environment) defaults() Config {
	c := defaults()
	if env.stateHome != "" {
		c.StateDir = filepath.Join(env.stateHome, "termhost")
	}
	return c
}

// Home returns the user's home folder, which "~" in the configuration means: $HOME or, if that is
// no absolute path, the folder in the password database.
func Home() (string, error) {
	if home := os.Getenv("HOME"); filepath.IsAbs(home) {
		return home, nil
	}
	u, err := user.Current()
	if err != nil || !filepath.IsAbs(u.HomeDir) {
		return "", errors.New("cannot tell the home folder: set HOME to an absolute path")
	}
	return u.HomeDir, nil
}

// expandPaths makes every path absolute, with home for "~". Paths that begin with neither "/" nor
// "~/" are reported, because a daemon may be started in any working directory.
func (c *Config) expandPaths(home string, r *report) {
	one := func(key string, path *string) {
		switch {
		case *path == "":
		case *path == "~" || strings.HasPrefix(*path, "~/"):
			*path = filepath.Join(home, (*path)[1:])
		case strings.HasPrefix(*path, "~"):
			r.add(key, "%q: only ~/ is understood, not another user's home: write the path out",
				*path)
		case !filepath.IsAbs(*path):
			r.add(key, "%q is relative: begin it with / or ~/", *path)
		default:
			*path = filepath.Clean(*path)
		}
		switch {
		case strings.ContainsRune(*path, 0):
			r.add(key, "a path cannot contain a NUL character")
		case strings.ContainsFunc(*path, unicode.IsControl):
			r.add(key, "%q contains a control character", *path)
		case *path == "/":
			r.add(key, "%q cannot be meant: write the path out", *path)
		}
	}
	list := func(key string, paths []string) {
		for i := range paths {
			at := indexKey(key, i)
			if paths[i] == "" {
				r.add(at, "is empty: name a file or remove the entry")
			}
			one(at, &paths[i])
		}
	}
	one("fleet.credentials", &c.Fleet.Credentials)
	one("fleet.tls_ca_file", &c.Fleet.TLSCAFile)
	one("state_dir", &c.StateDir)
	if c.Audit.File != AuditStderr && c.Audit.File != AuditNone {
		one("audit.file", &c.Audit.File)
	}
	list("ssh.host_key_files", c.SSH.HostKeyFiles)
	list("ssh.host_certificate_files", c.SSH.HostCertificateFiles)
	list("ssh.authorized_keys_files", c.SSH.AuthorizedKeysFiles)
	list("ssh.trusted_user_ca_files", c.SSH.TrustedUserCAFiles)
	one("ssh.revoked_keys_file", &c.SSH.RevokedKeysFile)
	one("http.tls_cert_file", &c.HTTP.TLSCertFile)
	one("http.tls_key_file", &c.HTTP.TLSKeyFile)
	one("terminal.shell", &c.Terminal.Shell)
	for i := range c.Notify {
		one(indexKey("notify", i)+".secret_file", &c.Notify[i].SecretFile)
		one(indexKey("notify", i)+".token_file", &c.Notify[i].TokenFile)
	}
}
