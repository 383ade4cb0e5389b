package ws

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

// forward returns a connection that comes through an SSH port forward of p's.
func (w *world) forward(p authz.Principal) net.Conn {
	w.t.Helper()
	near, far := net.Pipe()
	var serving sync.WaitGroup
	serving.Go(func() { check(w.t, w.server.ServeConn(near, p)) })
	w.t.Cleanup(func() {
		far.Close()
		serving.Wait()
	})
	return far
}

func TestAForwardedPeerIsItsKeyAndNoAdmin(t *testing.T) {
	w := newWorld(t, func(c *Config) {
		c.AllowedOrigins = []string{goodPage, "vscode-file://vscode-app"}
		c.AllowedHosts = []string{"host.example.com"}
	})
	admin := w.grant.Principal
	for _, c := range []struct {
		name    string
		status  int
		request string
	}{
		{"a loopback name", 101, handshake("/ahp", "localhost:7722")},
		{"an allowed page", 101, handshake("/ahp", "127.0.0.1:7722", "Origin: "+goodPage)},
		{"a window of VS Code, as the README has it", 101,
			handshake("/ahp", "127.0.0.1:7733", "Origin: vscode-file://vscode-app")},
		{"an evil page", 403, handshake("/ahp", "localhost:7722", "Origin: https://evil.example")},
		{"a page of the forwarded port", 403,
			handshake("/ahp", "localhost:7722", "Origin: http://localhost:7722")},
		{"a sandboxed page", 403, handshake("/ahp", "localhost:7722", "Origin: null")},
		{"a rebound name", 403, handshake("/ahp", "evil.example")},
		{"a name that is allowed on TCP", 403, handshake("/ahp", "host.example.com")},
		{"a bad token", 401, handshake("/ahp", "localhost", "Authorization: Bearer nonsense")},
	} {
		far := w.forward(admin)
		if status, body := exchange(t, far, c.request); status != c.status {
			t.Errorf("%s: %d %q, want %d", c.name, status, body, c.status)
		}
		far.Close()
	}
	// An operator's terminal stays an operator's, though the key is an admin's.
	s := w.dial(w.token(authz.Operator, "agent"))
	s.initialize("agent")
	s.create("agent", "his", "read x")
	d := websocket.Dialer{
		NetDial: func(string, string) (net.Conn, error) { return w.forward(admin), nil }}
	c, _, err := d.Dial("ws://localhost/ahp", nil)
	if err != nil {
		t.Fatal(err)
	}
	f := &socket{c, t}
	f.initialize("forwarded")
	f.claims("his", "forwarded")
	f.until("only an admin may seize it")
	hosttest.Eventually(t, "the others are gone", func() bool {
		return w.host.Stats().Connections[host.DoorForward] == 1
	})
	c.Close()

	// A token of an admin is an operator's through this door, and stays one.
	c, _, err = d.Dial("ws://localhost/ahp", bearer(w.token(authz.Admin, "high")))
	if err != nil {
		t.Fatal(err)
	}
	f = &socket{c, t}
	f.initialize("lowered")
	f.claims("his", "lowered")
	f.until("only an admin may seize it")
	c.Close()
}

func TestAKeyThatMayNotForwardDoesNot(t *testing.T) {
	w := newWorld(t)
	p := w.grant.Principal
	p.NoForward = true
	near, far := net.Pipe()
	if err := w.server.ServeConn(near, p); err == nil {
		t.Error("it did")
	}
	far.SetReadDeadline(time.Now().Add(patience))
	if _, err := far.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the connection is still there: %v", err)
	}
}
