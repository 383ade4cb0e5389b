// Package hosttest is for tests only: it has what the tests of several packages need around a
// host, such as the host itself, principals, connections and the check for leaked goroutines.
package hosttest

import (
	"context"
	"errors"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"testing"

	"termhost/ahp/history"
	"termhost/ahp/host"
	"termhost/ahp/hosttest/slowtest"
	"termhost/ahp/hosttest/testhome"
	"termhost/ahp/rpc"
	"termhost/ahp/transport"
	"termhost/authz"
)

// Patience is how long a test waits for what must come, unless it calls [slowtest.Hurry].
const Patience = slowtest.Patience

// Program is another program that the test binary can be: it is run in place of the tests where the
// environment variable is set.
type Program struct {
	Variable string
	Run      func(value string)
}

// Main runs a package's tests and then fails if goroutines are left, unless this process is to be
// one of the programs.
func Main(m *testing.M, programs ...Program) {
	for _, p := range programs {
		if value := os.Getenv(p.Variable); value != "" {
			p.Run(value)
			return
		}
	}
	slowtest.Overlap()
	handleSignals()
	testhome.Main(slowtest.Reporting(m))
}

// handleSignals has the runtime start what handles signals. Otherwise the first host that is made
// starts it if a signal is ignored, as below nohup, and in a synctest bubble that is fatal.
func handleSignals() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGWINCH)
	signal.Stop(c)
}

// Principal returns the principal of a person's key.
func Principal(name string, role authz.Role) authz.Principal {
	id := "SHA256:" + name
	return authz.Principal{ID: id, Name: name, Role: role, Fingerprint: id}
}

// New returns a host with /bin/sh as its shell and the given changes to its configuration. It is
// shut down when the test ends, if not before.
func New(t testing.TB, changes ...func(*host.Config)) *host.Host {
	t.Helper()
	cfg := host.Config{Shell: "/bin/sh", StateDir: t.TempDir(), Version: "test", MaxExited: 64,
		Persist: true, Root: t.TempDir()}
	for _, change := range changes {
		change(&cfg)
	}
	cfg.Env = Owned(t, cfg.Env)
	h, err := host.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), Patience)
		defer cancel()
		if err := h.Shutdown(ctx); err != nil {
			t.Errorf("the host's shutdown: %v", err)
		}
	})
	return h
}

// Conn returns a connection of a principal, as by SSH. It is closed when the test ends, if not
// before.
func Conn(t testing.TB, h *host.Host, p authz.Principal) *host.Conn {
	t.Helper()
	c, err := h.Connect(p, host.DoorSSH)
	Check(t, err)
	t.Cleanup(c.Close)
	return c
}

// Create makes a terminal for a principal, whose SSH session ends then.
func Create(h *host.Host, p authz.Principal, o host.CreateOptions) (*host.Terminal, error) {
	made, err := once(h, p, host.DoorSSH, func(c *host.Conn) (host.Created, error) {
		return c.Create(o)
	})
	return made.Terminal, err
}

// Dispose disposes of a terminal for a principal, whose SSH session ends then.
func Dispose(h *host.Host, p authz.Principal, t *host.Terminal) error {
	_, err := once(h, p, host.DoorSSH, func(c *host.Conn) (struct{}, error) {
		return struct{}{}, c.Dispose(t)
	})
	return err
}

// As calls a verb for a principal, which has no SSH session for it.
func As[T any](
	h *host.Host, p authz.Principal, verb func(*host.Conn) (T, error),
) (result T, err error) {
	return once(h, p, host.DoorUnix, verb)
}

// List returns the terminals as a principal sees them.
func List(h *host.Host, p authz.Principal) ([]host.Info, error) {
	return As(h, p, (*host.Conn).List)
}

// Find returns the terminal with the NAME or the URI name, for a principal.
func Find(h *host.Host, p authz.Principal, name string) (*host.Terminal, error) {
	return As(h, p, func(c *host.Conn) (*host.Terminal, error) { return c.Find(name) })
}

// Retained returns a terminal's state, and all that is retained of its log, for a principal.
func Retained(h *host.Host, p authz.Principal, t *host.Terminal) (history.Excerpt, error) {
	return As(h, p, func(c *host.Conn) (history.Excerpt, error) {
		return c.Excerpt(c.Work(c.Context()), t, history.ExcerptOf{})
	})
}

// Peek returns what a terminal's screen shows, for a principal.
func Peek(h *host.Host, p authz.Principal, t *host.Terminal, ansi bool) ([]byte, error) {
	return As(h, p, func(c *host.Conn) ([]byte, error) { return c.Peek(t, ansi) })
}

// once calls a verb on a connection of a principal, which it closes then.
func once[T any](
	h *host.Host, p authz.Principal, door string, verb func(*host.Conn) (T, error),
) (result T, err error) {
	c, err := h.Connect(p, door)
	if err != nil {
		return result, err
	}
	defer c.Close()
	return verb(c)
}

// maxMessage bounds a message that a test sends to a host, in bytes.
const maxMessage = 1 << 20

// Dial returns the client's end of an AHP connection of a principal to a host, over lines and a
// pipe in memory. Its Close returns when the host has ended its side. It is closed when the test
// ends, if not before.
func Dial(t testing.TB, h *host.Host, p authz.Principal, o rpc.Options) (net.Conn, error) {
	c, err := h.Connect(p, host.DoorSubsystem)
	if err != nil {
		return nil, err
	}
	near, far := net.Pipe()
	conn := &servedConn{Conn: near, far: far}
	conn.served.Go(func() { Serve(c, far, o) })
	t.Cleanup(func() { conn.Close() })
	return conn, nil
}

// servedConn is the client's end of a pipe that a host serves.
type servedConn struct {
	net.Conn
	far    net.Conn // the host's end
	served sync.WaitGroup
}

// Close closes the pipe and waits for the host. The host's end is closed first, which breaks the
// connection: at the mere end of its input a host first answers all requests.
func (c *servedConn) Close() error {
	err := errors.Join(c.far.Close(), c.Conn.Close())
	c.served.Wait()
	return err
}

// Serve serves AHP to a connection, over lines, and returns when it has ended.
func Serve(c *host.Conn, nc net.Conn, o rpc.Options) {
	defer c.Close()
	defer nc.Close()
	lines := transport.NewLines(nc, nc, maxMessage, func(string) error { return nc.Close() })
	_ = rpc.Serve(lines, c, o) // always an error: the connection's end
}
