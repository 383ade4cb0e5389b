// Package config reads termhost's configuration file. Load returns a configuration that has been
// checked as a whole, or an error that names every mistake of the file with its line and, for a
// misspelt key, the key that was probably meant. Without a file the defaults hold;
// config.example.toml, at the top of the repository, explains every key.
package config

import (
	"time"

	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"termhost/ptypool/statefile"
)

// maxFileBytes bounds the configuration file, in bytes: room for a thousand principals, and small
// enough that `-c /dev/zero` fails at once.
const maxFileBytes = 256 << 10

// SocketName is the name of the host's unix socket in the state folder.
const SocketName = "ahp.sock"

// Config is everything the configuration file decides. The toml tags are the names that the file
// uses. A Config made by Load is valid, its paths are absolute, and nobody changes it.
type Config struct {
	StateDir    string      `toml:"state_dir"`
	MemoryLimit Size        `toml:"memory_limit"` // 0: as the cgroup says
	Audit       Audit       `toml:"audit"`
	SSH         SSH         `toml:"ssh"`
	HTTP        HTTP        `toml:"http"`
	Terminal    Terminal    `toml:"terminal"`
	Attach      Attach      `toml:"attach"`
	MCP         MCP         `toml:"mcp"`
	Fleet       Fleet       `toml:"fleet"`
	People      People      `toml:"people"`
	Notify      []Notify    `toml:"notify"`
	Principals  []Principal `toml:"principal"`
}

// Audit is the [audit] table: the place of the record of logins, refusals and deeds.
type Audit struct {
	File     string `toml:"file"` // a path, AuditStderr or AuditNone; "": audit.log in StateDir
	MaxBytes Size   `toml:"max_bytes"`
}

// The values of audit.file that are no paths.
const (
	AuditStderr = "stderr"
	AuditNone   = "none"
)

// SSH is the [ssh] table: the SSH server and who may log in to it.
type SSH struct {
	Listen                   string   `toml:"listen"` // host:port
	HostKeyFiles             []string `toml:"host_key_files"`
	HostCertificateFiles     []string `toml:"host_certificate_files"`
	AuthorizedKeysFiles      []string `toml:"authorized_keys_files"`
	TrustedUserCAFiles       []string `toml:"trusted_user_ca_files"`
	RevokedKeysFile          string   `toml:"revoked_keys_file"` // "": none
	HandshakeTimeout         Duration `toml:"handshake_timeout"`
	MaxAuthTries             int      `toml:"max_auth_tries"`
	MaxConnections           int      `toml:"max_connections"`
	MaxStartups              Startups `toml:"max_startups"`
	MaxSessionsPerConnection int      `toml:"max_sessions_per_connection"`
	Penalties                bool     `toml:"penalties"`
	KeepaliveInterval        Duration `toml:"keepalive_interval"` // 0: no keepalives
	AllowRootOffLoopback     bool     `toml:"allow_root_off_loopback"`
	Forwarding               string   `toml:"forwarding"` // ForwardingOff, Loopback or Any
	AgentForwarding          bool     `toml:"agent_forwarding"`
	SFTP                     bool     `toml:"sftp"`
	Exec                     string   `toml:"exec"` // ExecVerbs or ExecShell
}

// HTTP is the [http] table: the HTTP server, on TCP and on the unix socket in the state folder.
type HTTP struct {
	Listen                string   `toml:"listen"` // host:port; "": no TCP listener
	Path                  string   `toml:"path"`   // of the WebSocket
	UnixSocket            bool     `toml:"unix_socket"`
	AllowedOrigins        []string `toml:"allowed_origins"`
	AllowedHosts          []string `toml:"allowed_hosts"`
	TLSCertFile           string   `toml:"tls_cert_file"` // "": plain HTTP
	TLSKeyFile            string   `toml:"tls_key_file"`
	AllowPlainOffLoopback bool     `toml:"allow_plain_off_loopback"`
	MaxFrameBytes         Size     `toml:"max_frame_bytes"`
	MaxConnections        int      `toml:"max_connections"`
	MaxSubscriptions      int      `toml:"max_subscriptions"`   // per connection
	RequestsPerSecond     int      `toml:"requests_per_second"` // per connection; 0: no limit
}

// MCP is the [mcp] table: the tools for clients of the Model Context Protocol.
type MCP struct {
	Wait  Duration          `toml:"wait"`
	Waits map[string]string `toml:"waits"` // a Duration, by the name of a client
}

// Fleet is the [fleet] table: this host among others. What `termhost fleet init` or `join` has made
// in the state folder puts it into a fleet; without that nothing here counts.
type Fleet struct {
	Name        string            `toml:"name"` // of this host; "": as it has joined
	Labels      map[string]string `toml:"labels"`
	Servers     []string          `toml:"servers"`     // of a NATS cluster; none: the fleet's own
	Credentials string            `toml:"credentials"` // a file for that cluster; "": none
	TLSCAFile   string            `toml:"tls_ca_file"` // who signs theirs; "": the system's
	Doors       map[string]string `toml:"doors"`       // a role, by the name of a host
}

// CallWaits returns the longest waits of a call, by the names of clients; "": of all others.
func (m *MCP) CallWaits() map[string]time.Duration {
	waits := map[string]time.Duration{"": time.Duration(m.Wait)}
	for name, text := range m.Waits {
		var wait Duration
		if wait.UnmarshalText([]byte(text)) == nil { // it has been checked
			waits[name] = time.Duration(wait)
		}
	}
	return waits
}

// Terminal is the [terminal] table: what runs in terminals and how much of it is kept.
type Terminal struct {
	Shell            string            `toml:"shell"` // "": the one in the password database
	Login            string            `toml:"login"` // LoginNew or LoginLast
	LoginShell       bool              `toml:"login_shell"`
	Term             string            `toml:"term"`
	Env              map[string]string `toml:"env"`
	MaxTerminals     int               `toml:"max_terminals"`
	MaxExited        int               `toml:"max_exited"`
	ExitedTTL        Duration          `toml:"exited_ttl"` // 0: no age limit
	ScrollbackBytes  Size              `toml:"scrollback_bytes"`
	LogBytes         Size              `toml:"log_bytes"`
	Keep             bool              `toml:"keep"`
	Persist          bool              `toml:"persist"`
	Record           string            `toml:"record"`             // RecordOff or another
	RecordBytes      Size              `toml:"record_bytes"`       // a file
	RecordTotalBytes Size              `toml:"record_total_bytes"` // in all
	ShellIntegration bool              `toml:"shell_integration"`
	DetachPrefix     PrefixKey         `toml:"detach_prefix"`
	ClientGrace      Duration          `toml:"client_grace"`
	ClientOutputRate Size              `toml:"client_output_rate"` // a second; 0: no limit
	Input            string            `toml:"input"`              // InputClaim or InputShared
	KeyboardIdle     Duration          `toml:"keyboard_idle"`      // 0: never handed back
	GuardAgents      bool              `toml:"guard_agents"`
	Secrets          string            `toml:"secrets"` // SecretsPeople or SecretsAll
	Attention        bool              `toml:"attention"`
	AttentionAfter   Duration          `toml:"attention_after"`
	QuietAfter       Duration          `toml:"quiet_after"` // 0: nothing is marked
}

// Attach is the [attach] table: how terminals are shown.
type Attach struct {
	Status string `toml:"status"` // StatusOff or StatusLine
}

// People is the [people] table: identities.
type People struct {
	Me string `toml:"me"` // the person that the host's own user is; "": the only one there is
}

// Principal is one [[principal]] entry: a name and a role for keys and users of this machine.
type Principal struct {
	Name string `toml:"name"`
	Role string `toml:"role"` // as authz.Role's String method writes it
	UIDs []int  `toml:"uids"` // users of this machine, on the unix socket
	Keys []Key  `toml:"keys"`
	// 0: what everybody of the role may have.
	MaxConnections int `toml:"max_connections"`
	MaxTerminals   int `toml:"max_terminals"`
}

// The values of ssh.forwarding: where the forwards of ssh's -L, -D and -R may lead and listen.
const (
	ForwardingOff      = "off"
	ForwardingLoopback = "loopback" // this machine's loopback addresses and unix sockets
	ForwardingAny      = "any"
)

// The values of ssh.exec: how ssh's commands are run.
const (
	ExecVerbs = "verbs" // one of termhost's verbs
	ExecShell = "shell" // one of them, or else for the shell, as with sshd
)

// The values of terminal.login: the terminal at a login that names none.
const (
	LoginNew  = "new"  // a new terminal
	LoginLast = "last" // the one that was used last
)

// The values of attach.status: what is below a terminal that is shown.
const (
	StatusOff  = "off"  // nothing: the terminal has the whole window
	StatusLine = "line" // a row about it
)

// The values of terminal.input: who may type into a terminal whose program the host runs.
const (
	InputClaim  = "claim"  // only the client that holds the terminal's claim
	InputShared = "shared" // every operator and admin
)

// The values of terminal.secrets: who may type where a program asks for a secret.
const (
	SecretsPeople = "people" // nobody that counts as an agent
	SecretsAll    = "all"    // whoever may type
)

// The values of terminal.record: which new terminals are recorded.
const (
	RecordOff    = "off"
	RecordAgents = "agents" // those that agents make
	RecordAll    = "all"
)

// SocketPath returns where the host's unix socket is, if there is one.
func (c *Config) SocketPath() string { return filepath.Join(c.StateDir, SocketName) }

// KeeperFolder returns the folder of the keeper's socket, lock and log.
func (c *Config) KeeperFolder() string { return filepath.Join(c.StateDir, "keeper") }

// Load reads and checks the file at path; "" means the one that [Find] finds or, without one, the
// defaults. An error that the file's author can mend is an *Error, which lists every mistake of the
// file; any other error says why the file cannot be read.
func Load(path string) (Config, error) {
	c, _, err := load(path)
	return c, err
}

// load is Load; it also returns the file's text.
func load(path string) (c Config, text []byte, err error) {
	env, err := currentEnvironment()
	if err != nil {
		return Config{}, nil, err
	}
	name := "built-in configuration"
	if path = env.found(path); path != "" {
		name = path
		if text, err = read(path); err != nil {
			return Config{}, nil, err
		}
	}
	c, err = parse(name, text, env)
	return c, text, err
}

// OfRunning returns the configuration of a host that runs with the file at path ("" as for [Load]),
// for those who want to reach it. The host may run with the file as it was, so only mistakes that
// leave the state folder open are errors, which are as Load's; another key that is mistaken may
// have its default.
func OfRunning(path string) (Config, error) {
	env, err := currentEnvironment()
	if err != nil {
		return Config{}, err
	}
	var text []byte
	if path = env.found(path); path != "" {
		if text, err = read(path); err != nil {
			return Config{}, err
		}
	}
	c := env.defaults()
	r := report{name: path}
	if decoded := decode(text, &c, &r); decoded {
		c.expandPaths(env.home, &r)
		if !r.reported["state_dir"] {
			return c, nil
		}
	}
	return Config{}, r.err()
}

// read returns the contents of the file at path, at most maxFileBytes.
func read(path string) ([]byte, error) {
	f, err := statefile.Open(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no configuration file at %s: leave out -c to use the defaults",
			path)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the configuration: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the configuration: %w", err)
	}
	if len(text) > maxFileBytes {
		return nil, fmt.Errorf("%s is larger than %v: not a configuration file",
			path, Size(maxFileBytes))
	}
	return text, nil
}

// parse applies the TOML text to the defaults and checks the result. name is the file's name in
// messages. The error is an *Error.
func parse(name string, text []byte, env environment) (Config, error) {
	c := env.defaults()
	r := report{name: name}
	if decode(text, &c, &r) {
		c.expandPaths(env.home, &r)
		c.check(env.uid, &r)
	}
	if err := r.err(); err != nil {
		return Config{}, err
	}
	return c, nil
}
