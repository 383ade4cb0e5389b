package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"
)

// maxConfigBytes bounds the configuration file, in bytes: room for a thousand
// principals, and small enough that `-c /dev/zero` ends at once.
const maxConfigBytes = 256 << 10

// config is everything the configuration file decides. Its toml tags are the
// names the file uses; config.example.toml explains each of them. A config made
// by loadConfig is valid, its paths are absolute, and nobody changes it.
type config struct {
	StateDir   string            `toml:"state_dir"`
	SSH        sshConfig         `toml:"ssh"`
	HTTP       httpConfig        `toml:"http"`
	Terminal   terminalConfig    `toml:"terminal"`
	Principals []principalConfig `toml:"principal"`
}

// sshConfig is the [ssh] table: the SSH door and who gets through it.
type sshConfig struct {
	Listen                   string   `toml:"listen"` // host:port
	HostKeyFiles             []string `toml:"host_key_files"`
	HostCertificateFiles     []string `toml:"host_certificate_files"`
	AuthorizedKeysFiles      []string `toml:"authorized_keys_files"`
	TrustedUserCAFiles       []string `toml:"trusted_user_ca_files"`
	RevokedKeysFile          string   `toml:"revoked_keys_file"` // "": none
	HandshakeTimeout         duration `toml:"handshake_timeout"`
	MaxAuthTries             int      `toml:"max_auth_tries"`
	MaxConnections           int      `toml:"max_connections"`
	MaxStartups              startups `toml:"max_startups"`
	MaxSessionsPerConnection int      `toml:"max_sessions_per_connection"`
	Penalties                bool     `toml:"penalties"`
	KeepaliveInterval        duration `toml:"keepalive_interval"` // 0: no keepalives
	AllowRootOffLoopback     bool     `toml:"allow_root_off_loopback"`
}

// httpConfig is the [http] table: the WebSocket door, on TCP and on the unix
// socket in the state folder.
type httpConfig struct {
	Listen                string   `toml:"listen"` // host:port; "": no TCP listener
	Path                  string   `toml:"path"`
	UnixSocket            bool     `toml:"unix_socket"`
	AllowedOrigins        []string `toml:"allowed_origins"`
	AllowedHosts          []string `toml:"allowed_hosts"`
	TLSCertFile           string   `toml:"tls_cert_file"` // "": plain HTTP
	TLSKeyFile            string   `toml:"tls_key_file"`
	AllowPlainOffLoopback bool     `toml:"allow_plain_off_loopback"`
	MaxFrameBytes         byteSize `toml:"max_frame_bytes"`
	MaxConnections        int      `toml:"max_connections"`
	MaxSubscriptions      int      `toml:"max_subscriptions"`   // per connection
	RequestsPerSecond     int      `toml:"requests_per_second"` // per connection; 0: no limit
}

// terminalConfig is the [terminal] table: what runs in terminals and how much
// of it is kept.
type terminalConfig struct {
	Shell            string            `toml:"shell"` // "": the one in the password database
	Login            bool              `toml:"login"`
	Term             string            `toml:"term"`
	Env              map[string]string `toml:"env"`
	MaxTerminals     int               `toml:"max_terminals"`
	MaxExited        int               `toml:"max_exited"`
	ExitedTTL        duration          `toml:"exited_ttl"` // 0: no age limit
	ScrollbackBytes  byteSize          `toml:"scrollback_bytes"`
	LogBytes         byteSize          `toml:"log_bytes"`
	ShellIntegration bool              `toml:"shell_integration"`
	DetachPrefix     prefixKey         `toml:"detach_prefix"`
	ClientGrace      duration          `toml:"client_grace"`
	ClientOutputRate byteSize          `toml:"client_output_rate"` // a second; 0: no limit
	Input            string            `toml:"input"`              // inputClaim or inputShared
}

// principalConfig is one [[principal]] entry: a name and a role for keys.
type principalConfig struct {
	Name string         `toml:"name"`
	Role string         `toml:"role"` // one of roleNames
	Keys []principalKey `toml:"keys"`
}

// The values of terminal.input: who may type into a server-executed terminal.
const (
	inputClaim  = "claim"  // the holder of the claim only
	inputShared = "shared" // every operator and admin
)

// defaultConfig returns the configuration of a host started without a file, as
// config.example.toml shows it: paths still begin with "~".
func defaultConfig() config {
	return config{
		StateDir: "~/.local/state/termhost",
		SSH: sshConfig{
			Listen:                   "127.0.0.1:2222",
			HostKeyFiles:             []string{},
			HostCertificateFiles:     []string{},
			AuthorizedKeysFiles:      []string{"~/.ssh/authorized_keys"},
			TrustedUserCAFiles:       []string{},
			HandshakeTimeout:         duration(20 * time.Second),
			MaxAuthTries:             6,
			MaxConnections:           1000,
			MaxStartups:              startups{Start: 10, Rate: 30, Full: 100},
			MaxSessionsPerConnection: 10,
			Penalties:                true,
			KeepaliveInterval:        duration(15 * time.Second),
		},
		HTTP: httpConfig{
			Listen:            "127.0.0.1:7722",
			Path:              "/ahp",
			UnixSocket:        true,
			AllowedOrigins:    []string{},
			AllowedHosts:      []string{},
			MaxFrameBytes:     1 << 20,
			MaxConnections:    1000,
			MaxSubscriptions:  1000,
			RequestsPerSecond: 1000,
		},
		Terminal: terminalConfig{
			Login:            true,
			Term:             "xterm-256color",
			Env:              map[string]string{},
			MaxTerminals:     500,
			MaxExited:        64,
			ExitedTTL:        duration(24 * time.Hour),
			ScrollbackBytes:  1 << 20,
			LogBytes:         4 << 20,
			ShellIntegration: true,
			DetachPrefix:     ctrlBackslash,
			ClientGrace:      duration(5 * time.Minute),
			ClientOutputRate: 8 << 20,
			Input:            inputClaim,
		},
		Principals: []principalConfig{},
	}
}

// loadConfig reads and checks the file at path; "" stands for no file, only the
// defaults. An error that the file's author can mend is a *configError, which
// lists every problem of the file; others say why the file cannot be read.
func loadConfig(path string) (config, error) {
	env, err := currentEnvironment()
	if err != nil {
		return config{}, err
	}
	if path == "" {
		return parseConfig("built-in configuration", nil, env)
	}
	text, err := readConfig(path)
	if err != nil {
		return config{}, err
	}
	return parseConfig(path, text, env)
}

// readConfig returns the contents of the file at path, at most maxConfigBytes.
func readConfig(path string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no configuration file at %s: leave out -c to use the defaults", path)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the configuration: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxConfigBytes+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the configuration: %w", err)
	}
	if len(text) > maxConfigBytes {
		return nil, fmt.Errorf("%s is larger than %v: not a configuration file", path, byteSize(maxConfigBytes))
	}
	return text, nil
}

// environment is what a configuration means beyond its text: whose "~", where
// state goes by default, and who would run the host.
type environment struct {
	home      string // absolute
	stateHome string // $XDG_STATE_HOME, or "" when unset or relative
	uid       int
}

// currentEnvironment describes this process. It fails when neither $HOME nor
// the password database names a home folder.
func currentEnvironment() (environment, error) {
	env := environment{home: os.Getenv("HOME"), uid: os.Getuid()}
	if !filepath.IsAbs(env.home) {
		u, err := user.Current()
		if err != nil || !filepath.IsAbs(u.HomeDir) {
			return environment{}, errors.New("cannot tell the home folder: set HOME to an absolute path")
		}
		env.home = u.HomeDir
	}
	// A relative XDG_STATE_HOME is to be ignored (XDG Base Directory
	// Specification, "Environment variables").
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		env.stateHome = dir
	}
	return env, nil
}

// parseConfig applies the TOML text to the defaults and checks the whole. name
// is the file's name in messages. The error is a *configError.
func parseConfig(name string, text []byte, env environment) (config, error) {
	c := defaultConfig()
	if env.stateHome != "" {
		c.StateDir = filepath.Join(env.stateHome, "termhost")
	}
	r := report{name: name}
	if decodeConfig(text, &c, &r) {
		c.expandPaths(env.home, &r)
		c.check(env.uid, &r)
	}
	if err := r.err(); err != nil {
		return config{}, err
	}
	return c, nil
}

// expandPaths makes every path absolute: "~/" is home. It reports those that
// begin with neither "/" nor "~/", because a daemon's working folder is chance.
func (c *config) expandPaths(home string, r *report) {
	one := func(key string, path *string) {
		switch {
		case *path == "":
		case *path == "~" || strings.HasPrefix(*path, "~/"):
			*path = filepath.Join(home, (*path)[1:])
		case strings.HasPrefix(*path, "~"):
			r.add(key, "%q: only ~/ is understood, not another user's home: write the path out", *path)
		case !filepath.IsAbs(*path):
			r.add(key, "%q is relative: begin it with / or ~/", *path)
		default:
			*path = filepath.Clean(*path)
		}
		if strings.ContainsRune(*path, 0) {
			r.add(key, "a path cannot contain a NUL character")
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
	one("state_dir", &c.StateDir)
	list("ssh.host_key_files", c.SSH.HostKeyFiles)
	list("ssh.host_certificate_files", c.SSH.HostCertificateFiles)
	list("ssh.authorized_keys_files", c.SSH.AuthorizedKeysFiles)
	list("ssh.trusted_user_ca_files", c.SSH.TrustedUserCAFiles)
	one("ssh.revoked_keys_file", &c.SSH.RevokedKeysFile)
	one("http.tls_cert_file", &c.HTTP.TLSCertFile)
	one("http.tls_key_file", &c.HTTP.TLSKeyFile)
	one("terminal.shell", &c.Terminal.Shell)
}
