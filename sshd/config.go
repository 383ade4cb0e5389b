package sshd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/host"
	"termhost/ahp/mcp"
	"termhost/ahp/rpc"
	"termhost/authz"
	"termhost/authz/admit"
	"termhost/keys"
	"termhost/sshd/verbs"
)

// Config is what a Server is made from. Host, Authority and HostKeys are required; the zero value
// of every other field takes the default named there.
type Config struct {
	Host      *host.Host
	Authority *authz.Authority
	// HostKeys prove the host to its clients. Of several keys of one type the first is used in key
	// exchanges, and clients are told the others for later. The signer of a certificate is listed
	// in addition to that of its key.
	HostKeys []gossh.Signer

	// Forward serves, for the given principal, a connection to ahp:80 that came through an SSH
	// forward. It returns when the connection is over, and closes it. nil: forwards are refused.
	Forward func(net.Conn, authz.Principal)
	// Policy is what there is besides terminals; SetPolicy replaces it.
	Policy Policy
	// FileServer is the command line of a program that serves SFTP, such as package files; nil:
	// there is no subsystem sftp.
	FileServer []string
	// TestNotify sends a test to where a person is notified, and returns a line for each place that
	// says how it went, and whether all went well; nil: nobody is notified.
	TestNotify func(ctx context.Context, p authz.Principal) (
		lines []string, ok bool, err error)
	// FirstLogin reports whether somebody has not logged in before, and remembers it; nil:
	// everybody has. It is asked about people who can be told something then.
	FirstLogin func(p authz.Principal) bool
	// StateDir is the host's state folder: nobody below an admin may reach the sockets in it by a
	// forward, and none listens there. "": there is none.
	StateDir string
	// AHP bounds the peers of the subsystem "ahp".
	AHP rpc.Options
	// MCP serves the subsystem "mcp"; default: one of the Server's own.
	MCP *mcp.Server
	// MaxMessageBytes bounds a message of the subsystem "ahp"; default 1 MiB.
	MaxMessageBytes int

	// HandshakeTimeout is how long a peer has to prove who it is; default 20 s.
	HandshakeTimeout time.Duration
	// MaxAuthTries is how many keys a connection may try; default 6.
	MaxAuthTries int
	// MaxConnections bounds the connections; default 1000.
	MaxConnections int
	// MaxStartups bounds those that have not authenticated; default 10:30:100.
	MaxStartups admit.Startups
	// NoPenalties lets a source that has failed many times try again at once.
	NoPenalties bool
	// MaxSessions bounds the SSH sessions of one connection; default 10.
	MaxSessions int
	// KeepaliveInterval is how often a connection is asked for a sign of life; default 15 s. A
	// negative one turns it off.
	KeepaliveInterval time.Duration

	// DetachPrefix is the control character that begins a command while attached; default Ctrl-\
	// (0x1c).
	DetachPrefix byte
	// NoPrefix: nothing that is typed is a command.
	NoPrefix bool

	// Fleet returns the hosts that this one is in a fleet with, and Jump connects to the SSH server
	// of one of them. nil: there is no fleet.
	Fleet func() verbs.Fleet
	Jump  func(host string) (net.Conn, error)
	// NoFleet says why Fleet returns nil; nil: the host is in none.
	NoFleet func() error

	// GitHub is where `invite --github` fetches keys from; the zero GitHub is github.com.
	GitHub keys.GitHub
	// Version is termhost's own, for `help`.
	Version string
	// Log never gets keys that are typed, output or tokens; nil: discarded.
	Log *slog.Logger
	// Now is time.Now; Rand, a number in [0, n), is math/rand/v2.IntN.
	Now  func() time.Time
	Rand func(n int) int
}

// Defaults of Config.
const (
	defaultMaxMessageBytes  = 1 << 20
	defaultHandshakeTimeout = 20 * time.Second
	defaultMaxAuthTries     = 6
	defaultMaxConnections   = 1000
	defaultMaxSessions      = 10
	defaultKeepalive        = 15 * time.Second
	defaultPrefix           = 0x1c
)

// setDefaults fills in defaults. Its error names a field that is missing.
func (c *Config) setDefaults() error {
	switch {
	case c.Host == nil || c.Authority == nil:
		return errors.New("sshd: a host and an authority are required")
	case len(c.HostKeys) == 0:
		return errors.New("sshd: a host key is required")
	}
	for i, k := range c.HostKeys {
		strong, err := strongSigner(k)
		if err != nil {
			return fmt.Errorf("sshd: host key %d: %w", i+1, err)
		}
		c.HostKeys[i] = strong
	}
	setDefault(&c.MaxMessageBytes, defaultMaxMessageBytes)
	setDefault(&c.HandshakeTimeout, defaultHandshakeTimeout)
	setDefault(&c.MaxAuthTries, defaultMaxAuthTries)
	setDefault(&c.MaxConnections, defaultMaxConnections)
	setDefault(&c.MaxSessions, defaultMaxSessions)
	setDefault(&c.KeepaliveInterval, defaultKeepalive)
	setDefault(&c.MaxStartups, admit.Startups{Start: 10, Rate: 30, Full: 100})
	setDefault(&c.DetachPrefix, defaultPrefix)
	if c.NoPrefix {
		c.DetachPrefix = 0
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Rand == nil {
		c.Rand = rand.IntN
	}
	return nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
