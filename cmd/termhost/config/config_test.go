package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

const (
	aliceKey         = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJT5XnuuDBRGMGOqxDNVMqOd0jAzEyPWJ0ZbUQzYbQ0f alice@laptop"
	aliceFingerprint = "SHA256:tH6meH/dsLP+7Wqu0Ur88dhepB5L9nUgyHuXBKXqs3o"
	bobFingerprint   = "SHA256:uNiVztksCsDhcc0u9e8BrqkxxFjxJmMb9zQ9vVnXvZo"
	carolFingerprint = "SHA256:" + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
)

// ordinary is the environment of an ordinary user.
func ordinary() environment { return environment{home: "/home/alice", uid: 1000} }

// problemsOf returns the lines of the error for a file with this text; nil: there is no error.
func problemsOf(t *testing.T, text string, env environment) []string {
	t.Helper()
	_, err := parse("c.toml", []byte(text), env)
	if err == nil {
		return nil
	}
	var ce *Error
	if !errors.As(err, &ce) {
		t.Fatalf("error %v (%T), want a *Error", err, err)
	}
	return ce.lines
}

func TestNoFileGivesTheDefaults(t *testing.T) {
	t.Setenv("HOME", "/home/alice")
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("XDG_CONFIG_HOME", "")
	c, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	want := defaults()
	want.StateDir = "/home/alice/.local/state/termhost"
	want.SSH.AuthorizedKeysFiles = []string{"/home/alice/.ssh/authorized_keys"}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v\nwant %+v", c, want)
	}
}

func TestStateFolderFollowsXDG(t *testing.T) {
	t.Setenv("HOME", "/home/alice")
	for _, tt := range []struct{ xdg, text, want string }{
		{"/var/state", "", "/var/state/termhost"},
		{"relative", "", "/home/alice/.local/state/termhost"},
		{"/var/state", `state_dir = "~/mine"`, "/home/alice/mine"},
	} {
		t.Setenv("XDG_STATE_HOME", tt.xdg)
		path := filepath.Join(t.TempDir(), "c.toml")
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if c.StateDir != tt.want {
			t.Errorf("XDG_STATE_HOME=%q, file %q: state folder %q, want %q",
				tt.xdg, tt.text, c.StateDir, tt.want)
		}
	}
}

func TestFilesThatCannotBeReadAreNamed(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large.toml")
	if err := os.WriteFile(large, make([]byte, maxFileBytes+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none.toml"): "no configuration file at ",
		dir:                             "cannot read the configuration: ",
		large:                           "is larger than 256KiB",
	} {
		_, err := Load(path)
		if err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("error %v, want one with %q and the path %s", err, want, path)
		}
	}
}

func TestEveryKeyCanBeSet(t *testing.T) {
	text := `
state_dir = "/s/"
audit.file = "~/audit"
audit.max_bytes = "1MiB"
[ssh]
listen = "[::1]:22"
host_key_files = ["/k/host"]
host_certificate_files = ["~/host-cert.pub"]
authorized_keys_files = ["~", "/k/keys"]
trusted_user_ca_files = ["/k/ca"]
revoked_keys_file = "/k/revoked"
handshake_timeout = "1m30s"
max_auth_tries = 3
max_connections = 5
max_startups = "1:2:3"
max_sessions_per_connection = 4
penalties = false
keepalive_interval = "0s"
allow_root_off_loopback = true
forwarding = "off"
agent_forwarding = true
sftp = false
exec = "verbs"
[http]
listen = "none"
path = "/"
unix_socket = false
allowed_origins = ["https://ide.example.com", "http://localhost:3000", "vscode-file://vscode-app"]
allowed_hosts = ["host.example.com", "10.0.0.1:7722", "[::1]", "[::1]:80"]
tls_cert_file = "/k/cert"
tls_key_file = "/k/key"
allow_plain_off_loopback = true
max_frame_bytes = "64KiB"
max_connections = 6
max_subscriptions = 7
requests_per_second = 0
[terminal]
shell = "/bin/zsh"
login = false
term = "tmux-256color"
env = { EDITOR = "vim", _X1 = "" }
max_terminals = 8
max_exited = 0
exited_ttl = "0s"
scrollback_bytes = "2MiB"
log_bytes = "131072B"
keep = false
persist = false
record = "all"
record_bytes = "256KiB"
record_total_bytes = "2MiB"
shell_integration = false
detach_prefix = "none"
client_grace = "0s"
client_output_rate = "0B"
input = "shared"
secrets = "all"
keyboard_idle = "0s"
attention = false
attention_after = "0s"
quiet_after = "0s"
[attach]
status = "line"
[mcp]
wait = "10s"
waits = { "my client" = "2m" }
[fleet]
name = "box2"
labels = { gpu = "a100" }
servers = ["tls://nats:4222"]
credentials = "~/creds"
tls_ca_file = "/k/ca"
doors = { box1 = "admin" }
[[principal]]
name = "alice"
role = "observer"
uids = [1000, 0]
keys = ["no-pty ` + aliceKey + `", "` + bobFingerprint + `"]
max_connections = 3
max_terminals = 4
[[principal]]
name = "carol"
role = "admin"
keys = ["` + carolFingerprint + `"]
`
	want := Config{
		StateDir: "/s",
		Audit:    Audit{File: "/home/alice/audit", MaxBytes: 1 << 20},
		SSH: SSH{
			Listen:                   "[::1]:22",
			HostKeyFiles:             []string{"/k/host"},
			HostCertificateFiles:     []string{"/home/alice/host-cert.pub"},
			AuthorizedKeysFiles:      []string{"/home/alice", "/k/keys"},
			TrustedUserCAFiles:       []string{"/k/ca"},
			RevokedKeysFile:          "/k/revoked",
			HandshakeTimeout:         Duration(90e9),
			MaxAuthTries:             3,
			MaxConnections:           5,
			MaxStartups:              Startups{1, 2, 3},
			MaxSessionsPerConnection: 4,
			AllowRootOffLoopback:     true,
			Forwarding:               ForwardingOff,
			AgentForwarding:          true,
			Exec:                     ExecVerbs,
		},
		HTTP: HTTP{
			Path: "/",
			AllowedOrigins: []string{"https://ide.example.com", "http://localhost:3000",
				"vscode-file://vscode-app"},
			AllowedHosts:          []string{"host.example.com", "10.0.0.1:7722", "[::1]", "[::1]:80"},
			TLSCertFile:           "/k/cert",
			TLSKeyFile:            "/k/key",
			AllowPlainOffLoopback: true,
			MaxFrameBytes:         64 << 10,
			MaxConnections:        6,
			MaxSubscriptions:      7,
		},
		Terminal: Terminal{
			Shell:           "/bin/zsh",
			Login:           LoginNew, // false is that of login_shell
			Term:            "tmux-256color",
			Env:             map[string]string{"EDITOR": "vim", "_X1": ""},
			MaxTerminals:    8,
			ScrollbackBytes: 2 << 20,
			LogBytes:        128 << 10,
			Record:          RecordAll, RecordBytes: 256 << 10, RecordTotalBytes: 2 << 20,
			Input:   InputShared,
			Secrets: SecretsAll,
		},
		Attach: Attach{Status: StatusLine},
		MCP:    MCP{Wait: Duration(10 * time.Second), Waits: map[string]string{"my client": "2m"}},
		Fleet: Fleet{Name: "box2", Labels: map[string]string{"gpu": "a100"},
			Servers:     []string{"tls://nats:4222"},
			Credentials: "/home/alice/creds", TLSCAFile: "/k/ca",
			Doors: map[string]string{"box1": "admin"}},
		Principals: []Principal{
			{"alice", "observer", []int{1000, 0}, []Key{
				{aliceFingerprint, "no-pty " + aliceKey},
				{Fingerprint: bobFingerprint},
			}, 3, 4},
			{"carol", "admin", nil, []Key{{Fingerprint: carolFingerprint}}, 0, 0},
		},
	}
	got, err := parse("c.toml", []byte(text), ordinary())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestARunningHostIsFoundWithAFileThatHasMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"state_dir = \"/srv/th\"\nnonsense = 1\n[ssh]\nlisten = 7": "/srv/th/ahp.sock",
		"state_dir = 7": "",
		"state_dir = ":  "",
	} {
		file := filepath.Join(t.TempDir(), "c.toml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := OfRunning(file)
		if err == nil && got.SocketPath() != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got.SocketPath(), err)
		}
	}
}
