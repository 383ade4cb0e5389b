package sshd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/authz"
	"termhost/sshd/verbs"
)

func TestAServerNeedsWhatItCannotDoWithout(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]Config{
		"nothing":     {},
		"no host key": {Host: &host.Host{}, Authority: &authz.Authority{}},
	} {
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestShutdownTellsWhy(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	p := r.open(r.dial("alice"), 80, 24, "new -n work")
	p.typeIn("echo up-$((1+1))\r")
	p.sees("up-2")
	p.typeIn("\x1c?")
	p.sees("Any key closes")
	idle := r.dial("alice")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := r.server.Shutdown(ctx); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	p.sees("[the host is shutting down; work goes on running]")
	if got := p.status(); got != verbs.StatusLost {
		t.Errorf("status %d", got)
	}
	if left := p.shows(80, 24); bytes.Contains(left, []byte("Any key closes")) {
		t.Errorf("what lay over the screen stays: %q", left)
	}
	if err := idle.Wait(); err == nil {
		t.Error("the idle connection is still there")
	}
	// Another program may have the port by now, without this host's key.
	if c, err := gossh.Dial("tcp", r.addr, r.clientConfig("alice")); err == nil {
		c.Close()
		t.Error("it still listens")
	}
	if err := r.server.Serve(&brokenListener{}); !errors.Is(err, ErrServerClosed) {
		t.Errorf("Serve after Shutdown: %v", err)
	}
}

func TestShutdownDoesNotWaitForAPeerThatTakesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	nc, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	stopped := &stoppedConn{Conn: nc, stop: make(chan struct{}), end: make(chan struct{})}
	conn, chans, reqs, err := gossh.NewClientConn(stopped, r.addr, r.clientConfig("alice"))
	if err != nil {
		t.Fatal(err)
	}
	c := gossh.NewClient(conn, chans, reqs)
	defer c.Close()
	defer close(stopped.end)
	ch, _ := rawSession(t, c)
	request(t, ch, "pty-req", ptyMsg{Term: "xterm", Cols: 80, Rows: 24})
	request(t, ch, "exec", stringMsg{"new -- yes"})
	close(stopped.stop)
	hosttest.Eventually(t, "the output piles up", func() bool { return r.host.Stats().Terminals == 1 })
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	slowtest.Hurry(t)
	ended := make(chan error, 1)
	go func() { ended <- r.server.Shutdown(ctx) }()
	_ = slowtest.Receive(t, "the server shuts down", ended)
}

// stoppedConn reads nothing once stop is closed.
type stoppedConn struct {
	net.Conn
	stop, end chan struct{}
}

func (c *stoppedConn) Read(p []byte) (int, error) {
	select {
	case <-c.stop:
		<-c.end
	default:
	}
	return c.Conn.Read(p)
}

// brokenListener fails to accept: some times for want of descriptors, then for good.
type brokenListener struct {
	temporary int
	accepts   atomic.Int32
}

var errBroken = errors.New("broken")

func (l *brokenListener) Accept() (net.Conn, error) {
	if int(l.accepts.Add(1)) <= l.temporary {
		return nil, &net.OpError{Op: "accept", Err: fmt.Errorf("accept4: %w", syscall.EMFILE)}
	}
	return nil, errBroken
}

func (l *brokenListener) Close() error   { return nil }
func (l *brokenListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func TestOutOfDescriptorsIsWaitedFor(t *testing.T) {
	r := newRig(t, rigOptions{})
	l := &brokenListener{temporary: 4}
	begun := time.Now()
	if err := r.server.Serve(l); !errors.Is(err, errBroken) {
		t.Errorf("Serve returned %v", err)
	}
	if took := time.Since(begun); took < 75*time.Millisecond { // 5+10+20+40
		t.Errorf("it spins: %v", took)
	}
	if got := r.ssh("alice", "", "whoami"); !strings.Contains(got.stdout, "alice") {
		t.Errorf("the other listener: %+v", got)
	}
}

func TestAConnectionIsCountedUntilItEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{door: func(c *Config) { c.MaxConnections = 2 }})
	first := r.dial("alice")
	r.dial("alice")
	if n := r.server.gate.Pending(); n > 0 {
		t.Errorf("%d who have logged in count as startups", n)
	}
	if _, err := r.tryDial("alice"); err == nil {
		t.Fatal("the third was let in")
	}
	first.Close()
	hosttest.Eventually(t, "there is room again", func() bool {
		c, err := r.tryDial("alice")
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}
