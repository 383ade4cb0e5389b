package config

import "time"

// defaults returns the configuration of a host that is started without a file, as
// config.example.toml shows it. Its paths begin with "~".
func defaults() Config {
	return Config{
		StateDir: "~/.local/state/termhost",
		Audit:    Audit{MaxBytes: 8 << 20},
		SSH: SSH{
			Listen:                   "127.0.0.1:2222",
			HostKeyFiles:             []string{},
			HostCertificateFiles:     []string{},
			AuthorizedKeysFiles:      []string{"~/.ssh/authorized_keys"},
			TrustedUserCAFiles:       []string{},
			HandshakeTimeout:         Duration(20 * time.Second),
			MaxAuthTries:             6,
			MaxConnections:           1000,
			MaxStartups:              Startups{Start: 10, Rate: 30, Full: 100},
			MaxSessionsPerConnection: 10,
			Penalties:                true,
			KeepaliveInterval:        Duration(15 * time.Second),
			Forwarding:               ForwardingLoopback,
			SFTP:                     true,
			Exec:                     ExecShell,
		},
		HTTP: HTTP{
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
		MCP: MCP{
			Wait: Duration(45 * time.Second),
			Waits: map[string]string{"claude-code": "4m", "codex-mcp-client": "4m",
				"gemini-cli-mcp-client": "4m"},
		},
		Fleet: Fleet{Labels: map[string]string{}, Servers: []string{}, Doors: map[string]string{}},
		Terminal: Terminal{
			Login:            LoginNew,
			LoginShell:       true,
			Term:             "xterm-256color",
			Env:              map[string]string{},
			MaxTerminals:     500,
			MaxExited:        64,
			ExitedTTL:        Duration(24 * time.Hour),
			ScrollbackBytes:  1 << 20,
			LogBytes:         4 << 20,
			Keep:             true,
			Persist:          true,
			Record:           RecordOff,
			RecordBytes:      64 << 20,
			RecordTotalBytes: 1 << 30,
			ShellIntegration: true,
			DetachPrefix:     ctrlBackslash,
			ClientGrace:      Duration(5 * time.Minute),
			KeyboardIdle:     Duration(10 * time.Minute),
			ClientOutputRate: 8 << 20,
			Input:            InputClaim,
			Secrets:          SecretsPeople,
			Attention:        true,
			AttentionAfter:   Duration(2 * time.Second),
			QuietAfter:       Duration(5 * time.Minute),
		},
		Attach:     Attach{Status: StatusOff},
		Principals: []Principal{},
	}
}
